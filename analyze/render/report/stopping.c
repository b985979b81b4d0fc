#include "analyze/render/report/run.h"

#include "analyze/render/report/figures.h"
#include "analyze/write/json.h"
#include "analyze/write/sheet.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <math.h>

/* ---- Text ---- */

static struct units_text speed(const struct stopping_op *op, double bytes_per_s,
                               double objects_per_s)
{
    return op->by_objects ? units_object_rate(objects_per_s) : units_byte_rate(bytes_per_s);
}

/* Answers for an operation, or a mixed run as a whole, in a sentence. */
static void put_answer(struct sheet *s, const struct stopping_op *op)
{
    const struct autoterm_window *w = &op->stop.window;
    const char *name = *op->op != '\0' ? op->op : "All operations together";
    int64_t least_ns = autoterm_least_ns(op->dur_ns);
    char rated[160] = "";

    if (!op->stop.stopped && op->whole.present && op->whole.duration_ns <= least_ns) {
        sheet_line(s, TEXT_HEADING,
                   "%s could not have stopped early: %s within %g %% need a run of more than %s, "
                   "and all threads were active for %s.",
                   name, units_duration(op->dur_ns).s, op->pct, units_duration(least_ns).s,
                   units_duration(op->whole.duration_ns).s);
        return;
    }
    if (!op->stop.stopped) {
        sheet_line(s, TEXT_HEADING, "%s would not have stopped: never were %s within %g %%.", name,
                   units_duration(op->dur_ns).s, op->pct);
        return;
    }
    if (!isnan(op->off_frac))
        snprintf(rated, sizeof rated, ", %s %% from the whole run's %s",
                 units_change(100 * op->off_frac).s,
                 speed(op, op->whole.bytes_per_s, op->whole.objects_per_s).s);
    sheet_line(s, TEXT_HEADING, "%s would have stopped %" PRId64 "s after its first request: %s%s.",
               name, op->stop.at_s, speed(op, w->bytes_per_s, w->objects_per_s).s, rated);
    sheet_item(s, TEXT_PLAIN,
               "Stable from %s to %s UTC: 7 equal parts, each of %s, within %g %%. The speed is "
               "that of the last one.",
               figures_clock(w->start_ns).s, figures_clock(w->end_ns).s,
               units_duration(w->segment_ns).s, op->pct);
    if (op->drift.reported)
        sheet_line(s, TEXT_WARNING,
                   "Warning: up to then the speed drifted by %s %% (p=%.2g): the rule takes a "
                   "steady drift for stable.",
                   units_change(100 * op->drift.change_frac).s, op->drift.p);
}

/* Requests that fail move nothing, however fast they are: the rule does not see them. */
static void put_errors(struct sheet *s, const struct stopping_op *op)
{
    if (op->n_errors > 0)
        sheet_line(s, TEXT_WARNING, "Warning: %s%s of %s requests failed (%s).",
                   op->stop.stopped ? "up to then " : "", units_count((int64_t)op->n_errors).s,
                   units_count((int64_t)op->n_requests).s,
                   units_pct(100 * (double)op->n_errors / (double)op->n_requests).s);
}

bool stopping_report_text(const struct stopping *s, bool colour, FILE *f, struct err *e)
{
    struct sheet sheet = {0};

    /* What prepared the benchmark or cleaned up after it comes last. */
    for (size_t k = 0; k < 2 * s->n_ops; k++) {
        const struct stopping_op *op = &s->ops[k % s->n_ops];

        if (op->is_beside != (k >= s->n_ops))
            continue;
        put_answer(&sheet, op);
        put_errors(&sheet, op);
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
    JSON_MEMBERS(w, op, n_requests, n_errors, dur_ns, pct);
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
