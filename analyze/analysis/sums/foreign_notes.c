/* Says what is wrong in the totals of another recorder. */
#include "analyze/analysis/sums/foreign_internal.h"

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

static bool note_file(struct notes *to, const struct foreign *f, struct err *e)
{
    const struct foreign_part *all = f->all.foreign;
    bool has_seconds = f->all.all.n_seconds > 0;
    size_t asked = n_asked(f->command), n_seconds = 0;

    if (has_seconds && all->labels.shift_s != 0 && all->labels.shift_is_sure &&
        !notes_add(to, e, "label-shift", NULL,
                   "the recorder labels each second %d s too early; all times here are corrected",
                   all->labels.shift_s))
        return false;
    if (has_seconds && !all->labels.shift_is_sure &&
        !notes_add(to, e, "label-shift-unsure", NULL,
                   "the times of the seconds are uncertain: their labels end neither where known "
                   "recorders end them nor where they should"))
        return false;
    if (asked > f->n_ran &&
        !notes_add(to, e, "clients-missing", NULL,
                   "%zu clients were to take part, the file has %zu: the others are lost", asked,
                   f->n_ran))
        return false;
    if (has_seconds &&
        !notes_add(
            to, e, "by-second", NULL,
            "throughput is known by the second: stalls and swings shorter than 2 s and single "
            "requests that hang cannot be seen, nor which host or client was slower"))
        return false;
    for (size_t i = 0; i < f->together.n_seconds; i++)
        n_seconds += f->together.seconds[i].n_started > 0;
    const struct together t = foreign_together(f);
    return (size_t)t.n_seconds == n_seconds ||
           notes_add(
               to, e, "clients-apart", NULL,
               "the clients did not run at the same time: of %zu seconds all clients have %" PRId64,
               n_seconds, t.n_seconds);
}

static bool note_op(struct notes *to, const struct foreign *f, const struct operation *op,
                    const struct sums_op *of, struct err *e)
{
    const struct foreign_part *x = of->foreign;
    bool has_seconds = of->all.n_seconds > 0;

    if (op->role == ROLE_PREPARATION)
        return notes_add(
            to, e, "preparation", op->op,
            "it ended before the other operations began: the preparation of the run, not "
            "the benchmark");
    if (!has_seconds &&
        !notes_add(to, e, "no-series", op->op,
                   "there is no throughput by second: it took no more than 4 clock seconds"))
        return false;
    if (has_seconds && x->labels.misses_early &&
        !notes_add(to, e, "early-missing", op->op,
                   "requests that started before %.8s UTC are not in the figures by second",
                   rfc3339_format(x->labels.early_s * NS_PER_S).s + 11))
        return false;
    if (has_seconds && !x->is_complete &&
        !notes_add(to, e, "seconds-lost", op->op,
                   f->is_merged ? "%.0f bytes and %.2f objects of its seconds were lost when the "
                                  "clients were merged"
                                : "%.0f bytes and %.2f objects of its seconds are missing",
                   x->lost_bytes, x->lost_objects))
        return false;
    if (op->n_errors > 0 && !notes_add(to, e, "errors-counted", op->op,
                                       "bytes, objects and throughput include %" PRId64
                                       " failed requests, as if they had delivered",
                                       op->n_errors))
        return false;
    const struct requests *q = &op->requests;
    return !q->present || q->single_size || known_all(&q->all.dur.known, 1u << FIGURE_MEAN) ||
           notes_add(
               to, e, "sizes-counted-twice", op->op,
               "its classes of sizes hold requests twice or lack some: no figure of durations can "
               "be given");
}

bool foreign_notes(struct notes *to, const struct foreign *f, const struct analysis *a,
                   const struct sums_op *const *ops, struct err *e)
{
    bool ok = note_file(to, f, e);
    for (size_t k = 0; ok && k < a->n_operations; k++)
        ok = note_op(to, f, &a->operations[k], ops[k], e);
    return ok;
}
