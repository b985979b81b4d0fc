#include "analyze/aggregated/aggregate_internal.h"

#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <string.h>

/* Returns how many clients the run should have had, from "--warp-client=HOST,HOST"; 0: not given.
 */
static size_t n_asked(const char *command)
{
    const char *list = strstr(command, "--warp-client=");
    if (list == NULL)
        return 0;
    list = strchr(list, '=') + 1;
    size_t n = 1;
    for (; *list != '\0' && *list != ' '; list++)
        n += *list == ',';
    return n;
}

static bool warn_file(struct aggregate *a, struct err *e)
{
    const struct aggregate_window *w = &a->total.window;
    size_t asked = n_asked(a->file.command);

    if (w->present && w->shift_s != 0 && w->shift_is_sure &&
        !notes_add(&a->warnings, e, "label-shift", NULL,
                   "the recorder labels each second %d s too early; all times here are corrected",
                   w->shift_s))
        return false;
    if (w->present && !w->shift_is_sure &&
        !notes_add(&a->warnings, e, "label-shift-unsure", NULL,
                   "the times of the seconds are uncertain: their labels end neither where known "
                   "recorders end them nor where they should"))
        return false;
    if (asked > a->n_clients &&
        !notes_add(&a->warnings, e, "clients-missing", NULL,
                   "%zu clients were to take part, the file has %zu: the others are lost", asked,
                   a->n_clients))
        return false;
    if (w->present &&
        !notes_add(
            &a->warnings, e, "by-second", NULL,
            "throughput is known by the second: stalls and swings shorter than 2 s and single "
            "requests that hang cannot be seen, nor which host or client was slower"))
        return false;
    int64_t start_s;
    const struct together t = aggregate_together(a, &start_s);
    return !t.present || (size_t)t.n_seconds == a->n_sum ||
           notes_add(
               &a->warnings, e, "clients-apart", NULL,
               "the clients did not run at the same time: of %zu seconds all clients have %" PRId64,
               a->n_sum, t.n_seconds);
}

static bool warn_op(struct aggregate *a, const struct aggregate_part *part, struct err *e)
{
    const struct aggfile_entry *x = part->x;
    const struct aggregate_window *w = &part->window;

    if (part->role == ROLE_PREPARATION)
        return notes_add(
            &a->warnings, e, "preparation", x->name,
            "it ended before the other operations began: the preparation of the run, not "
            "the benchmark");
    if (!w->present &&
        !notes_add(&a->warnings, e, "no-series", x->name,
                   "there is no throughput by second: it took no more than 4 clock seconds"))
        return false;
    if (w->present && w->misses_early &&
        !notes_add(&a->warnings, e, "early-missing", x->name,
                   "requests that started before %.8s UTC are not in the figures by second",
                   rfc3339_format(w->early_s * NS_PER_S).s + 11))
        return false;
    if (w->present && !w->is_complete &&
        !notes_add(&a->warnings, e, "seconds-lost", x->name,
                   a->is_merged ? "%.0f bytes and %.2f objects of its seconds were lost when the "
                                  "clients were merged"
                                : "%.0f bytes and %.2f objects of its seconds are missing",
                   w->lost_bytes, w->lost_objects))
        return false;
    if (x->n_errors > 0 && !notes_add(&a->warnings, e, "errors-counted", x->name,
                                      "bytes, objects and throughput include %" PRId64
                                      " failed requests, as if they had delivered",
                                      x->n_errors))
        return false;
    if (part->latency.kind == AGGREGATE_MULTI && !part->latency.is_complete &&
        !notes_add(
            &a->warnings, e, "sizes-counted-twice", x->name,
            "its classes of sizes hold requests twice or lack some: no figure of durations can "
            "be given"))
        return false;
    return true;
}

bool aggregate_warn(struct aggregate *a, struct err *e)
{
    if (!warn_file(a, e))
        return false;
    for (size_t i = 0; i < a->ops.n; i++)
        if (!warn_op(a, &a->ops.v[i], e))
            return false;
    return true;
}
