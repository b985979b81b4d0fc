#include "analyze/report/stopping.h"

#include "analyze/write/json.h"
#include "analyze/write/sheet.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <math.h>

/* ---- Text ---- */

static struct units_text speed(const struct stopping_op *op, double bytes_per_s,
                               double objects_per_s)
{
    return op->by_objects ? units_object_rate(objects_per_s) : units_byte_rate(bytes_per_s);
}

static void put_case(struct sheet *s, const struct stopping_op *op)
{
    const struct stopping_case *c = &op->chosen;
    const struct autoterm_window *w = &c->stop.window;

    int64_t least_ns = autoterm_least_ns(c->dur_ns);
    if (!c->stop.stopped && op->whole.present && op->whole.duration_ns <= least_ns) {
        sheet_item(s, TEXT_PLAIN,
                   "It could not have stopped: %s within %g %% need a run of more than %s, and all "
                   "threads were active for %s.",
                   units_duration(c->dur_ns).s, c->pct, units_duration(least_ns).s,
                   units_duration(op->whole.duration_ns).s);
        return;
    }
    if (!c->stop.stopped) {
        sheet_item(s, TEXT_PLAIN, "It would not have stopped (%s within %g %%).",
                   units_duration(c->dur_ns).s, c->pct);
        return;
    }
    struct rfc3339_text from = rfc3339_format(w->start_ns), to = rfc3339_format(w->end_ns);
    sheet_item(s, TEXT_PLAIN,
               "It would have stopped %" PRId64 "s after the first request: %s within %g %%.",
               c->stop.at_s, units_duration(c->dur_ns).s, c->pct);
    sheet_item(s, TEXT_PLAIN, "Window: %.12s to %.12s UTC, 7 x %s; %s in its last.", from.s + 11,
               to.s + 11, units_duration(w->segment_ns).s,
               speed(op, w->bytes_per_s, w->objects_per_s).s);
    if (!isnan(c->off_frac))
        sheet_item(s, TEXT_PLAIN, "The whole run: %s. The estimate was off by %s %%.",
                   speed(op, op->whole.bytes_per_s, op->whole.objects_per_s).s,
                   units_change(100 * c->off_frac, 2).s);
    if (op->drift.reported)
        sheet_line(s, TEXT_WARNING,
                   "Warning: up to then the speed drifted by %+.1f %% (p=%.2g): the rule takes a "
                   "steady drift for stable.",
                   100 * op->drift.change_frac, op->drift.p);
}

static void put_sweep(struct sheet *s, const struct stopping *of, const struct stopping_op *op)
{
    size_t n_stopped = 0;

    for (size_t i = 0; i < of->n_sweep_dur * of->n_sweep_pct; i++)
        n_stopped += op->sweep[i].stop.stopped;
    if (n_stopped == 0) {
        sheet_item(s, TEXT_PLAIN,
                   "With none of the settings from %s within %g %% to %s within %g %%.",
                   units_duration(of->sweep_dur_ns[0]).s, of->sweep_pct[0],
                   units_duration(of->sweep_dur_ns[of->n_sweep_dur - 1]).s,
                   of->sweep_pct[of->n_sweep_pct - 1]);
        return;
    }
    sheet_table(s, "lrrrrrr", "Stop, and how far off the estimate was");
    SHEET_HEADINGS(s, "within");
    for (size_t i = 0; i < of->n_sweep_pct; i++)
        sheet_cell(s, "%g" UNITS_CELL_PCT, of->sweep_pct[i]);
    for (size_t d = 0; d < of->n_sweep_dur; d++) {
        SHEET_ROW(s, TEXT_PLAIN, units_duration(of->sweep_dur_ns[d]).s);
        for (size_t i = 0; i < of->n_sweep_pct; i++) {
            const struct stopping_case *c = &op->sweep[d * of->n_sweep_pct + i];
            if (!c->stop.stopped)
                sheet_cell(s, "-");
            else if (isnan(c->off_frac))
                sheet_cell(s, "%" PRId64 "s", c->stop.at_s);
            else
                sheet_cell(s, "%" PRId64 "s (%s" UNITS_CELL_PCT ")", c->stop.at_s,
                           units_change(100 * c->off_frac, 1).s);
        }
    }
}

bool stopping_report_text(const struct stopping *s, bool colour, FILE *f, struct err *e)
{
    struct sheet sheet = {0};

    for (size_t k = 0; k < s->n_ops; k++) {
        const struct stopping_op *op = &s->ops[k];
        sheet_gap(&sheet);
        if (*op->op != '\0')
            sheet_line(&sheet, TEXT_HEADING, "Operation: %s", op->op);
        else
            sheet_line(&sheet, TEXT_HEADING, "All operations together");
        put_case(&sheet, op);
        if (op->sweep != NULL)
            put_sweep(&sheet, s, op);
    }
    return sheet_end(&sheet, &(struct sheet_form){.colour = colour}, f, e);
}

/* ---- JSON ---- */

static void put_stop(struct json_out *w, const struct stopping_case *c)
{
    const struct autoterm_window *x = &c->stop.window;
    if (!json_out_open(w, "stop", c->stop.stopped))
        return;
    JSON_PUT(w, "at_s", c->stop.at_s);
    json_put_time(w, "window_start", x->start_ns);
    json_put_time(w, "window_end", x->end_ns);
    JSON_MEMBERS(w, x, segment_ns, bytes_per_s, objects_per_s);
    JSON_PUT(w, "off_frac", c->off_frac);
    json_out_end(w);
}

static void put_op(struct json_out *w, const struct stopping *s, const struct stopping_op *op)
{
    JSON_PUT(w, "op", op->op);
    JSON_PUT(w, "stopped", op->chosen.stop.stopped);
    put_stop(w, &op->chosen);
    JSON_MEMBERS(w, &op->chosen, dur_ns, pct);
    if (json_out_open(w, "whole_run", op->whole.present)) {
        JSON_MEMBERS(w, &op->whole, bytes_per_s, objects_per_s);
        json_out_end(w);
    }
    if (json_out_open(w, "drift", op->drift.ok)) {
        JSON_MEMBERS(w, &op->drift, reported, change_frac, p);
        json_out_end(w);
    }
    JSON_OBJECTS(w, "sweep", i, op->sweep != NULL ? s->n_sweep_dur * s->n_sweep_pct : 0) {
        JSON_MEMBERS(w, &op->sweep[i], dur_ns, pct);
        put_stop(w, &op->sweep[i]);
    }
}

bool stopping_report_json(const struct stopping *s, FILE *f, struct err *e)
{
    struct json_out w;
    json_out_begin(&w, f, "s3analyze/autoterm/1");
    JSON_OBJECTS(&w, "operations", k, s->n_ops)
        put_op(&w, s, &s->ops[k]);
    return json_out_finish(&w, e);
}
