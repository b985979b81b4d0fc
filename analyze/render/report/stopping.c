#include "analyze/render/report/stopping.h"

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
    const struct autoterm_window *w = &op->stop.window;

    int64_t least_ns = autoterm_least_ns(op->dur_ns);
    if (!op->stop.stopped && op->whole.present && op->whole.duration_ns <= least_ns) {
        sheet_item(s, TEXT_PLAIN,
                   "It could not have stopped: %s within %g %% need a run of more than %s, and all "
                   "threads were active for %s.",
                   units_duration(op->dur_ns).s, op->pct, units_duration(least_ns).s,
                   units_duration(op->whole.duration_ns).s);
        return;
    }
    if (!op->stop.stopped) {
        sheet_item(s, TEXT_PLAIN, "It would not have stopped (%s within %g %%).",
                   units_duration(op->dur_ns).s, op->pct);
        return;
    }
    struct rfc3339_text from = rfc3339_format(w->start_ns), to = rfc3339_format(w->end_ns);
    sheet_item(s, TEXT_PLAIN,
               "It would have stopped %" PRId64 "s after the first request: %s within %g %%.",
               op->stop.at_s, units_duration(op->dur_ns).s, op->pct);
    sheet_item(s, TEXT_PLAIN, "Window: %.12s to %.12s UTC, 7 x %s; %s in its last.", from.s + 11,
               to.s + 11, units_duration(w->segment_ns).s,
               speed(op, w->bytes_per_s, w->objects_per_s).s);
    if (!isnan(op->off_frac))
        sheet_item(s, TEXT_PLAIN, "The whole run: %s. The estimate was off by %s %%.",
                   speed(op, op->whole.bytes_per_s, op->whole.objects_per_s).s,
                   units_change(100 * op->off_frac, 2).s);
    if (op->drift.reported)
        sheet_line(s, TEXT_WARNING,
                   "Warning: up to then the speed drifted by %+.1f %% (p=%.2g): the rule takes a "
                   "steady drift for stable.",
                   100 * op->drift.change_frac, op->drift.p);
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
    }
    return sheet_end(&sheet, &(struct sheet_form){.colour = colour}, f, e);
}

/* ---- JSON ---- */

static void put_stop(struct json_out *w, const struct stopping_op *op)
{
    const struct autoterm_window *x = &op->stop.window;
    if (!json_out_open(w, "stop", op->stop.stopped))
        return;
    JSON_PUT(w, "at_s", op->stop.at_s);
    json_put_time(w, "window_start", x->start_ns);
    json_put_time(w, "window_end", x->end_ns);
    JSON_MEMBERS(w, x, segment_ns, bytes_per_s, objects_per_s);
    JSON_PUT(w, "off_frac", op->off_frac);
    json_out_end(w);
}

static void put_op(struct json_out *w, const struct stopping_op *op)
{
    JSON_PUT(w, "op", op->op);
    JSON_PUT(w, "stopped", op->stop.stopped);
    put_stop(w, op);
    JSON_MEMBERS(w, op, dur_ns, pct);
    if (json_out_open(w, "whole_run", op->whole.present)) {
        JSON_MEMBERS(w, &op->whole, bytes_per_s, objects_per_s);
        json_out_end(w);
    }
    if (json_out_open(w, "drift", op->drift.ok)) {
        JSON_MEMBERS(w, &op->drift, reported, change_frac, p);
        json_out_end(w);
    }
}

bool stopping_report_json(const struct stopping *s, FILE *f, struct err *e)
{
    struct json_out w;
    json_out_begin(&w, f, "s3analyze/autoterm/1");
    JSON_OBJECTS(&w, "operations", k, s->n_ops)
        put_op(&w, &s->ops[k]);
    return json_out_finish(&w, e);
}
