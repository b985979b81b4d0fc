#include "analyze/summary/estimate/by_second.h"

#include "analyze/summary/estimate/confidence.h"
#include "libcommon/mem.h"

#include <math.h>
#include <stdlib.h>

static const char *const no_series = "there is no throughput by second: the run took too few";
static const char *const no_counts = "requests by second are not in the file";

bool by_second_init(struct by_second *s, size_t n, struct err *e)
{
    *s = (struct by_second){.n = n};
    return mem_cleared(&s->bytes, n, e) && mem_cleared(&s->objects, n, e) &&
           mem_cleared(&s->errors, n, e) && mem_cleared(&s->requests, n, e);
}

void by_second_fini(struct by_second *s)
{
    free(s->bytes);
    free(s->objects);
    free(s->errors);
    free(s->requests);
}

static bool fill_errors(struct stats_ci *ci, const struct operation *op, const struct by_second *s,
                        struct err *e)
{
    double frac = (double)op->n_errors / (double)op->n_requests;

    if (s->n == 0 || s->lacks_requests)
        *ci = (struct stats_ci){.why = s->n == 0 ? no_series : no_counts};
    else
        return stats_error_rate(frac, s->errors, s->requests, s->n, ci, e);
    ci->value = frac;
    return true;
}

bool by_second_statistics(struct operation *op, struct by_second *s, struct err *e)
{
    const struct throughput *t = &op->judged;

    if (!mem_cleared(&op->statistics, 1, e))
        return false;
    struct statistics *to = op->statistics;
    to->n_requests = op->n_requests - op->n_errors;
    to->n_failed = op->n_errors;
    if (s->n == 0) {
        to->objects = (struct statistics_rate){.why = no_series, .mean.why = no_series};
    } else if (!t->present) {
        to->objects.why = t->known.why;
    } else {
        to->objects.present = true;
        to->bytes.present = op->n_bytes > 0;
        stats_take_failures(s->objects, s->errors, s->requests, s->n);
        stats_take_failures(s->bytes, s->errors, s->requests, s->n);
        if (!stats_mean(t->objects_per_s, s->objects, s->n, op->n_requests, &to->objects.mean, e) ||
            (to->bytes.present &&
             !stats_mean(t->bytes_per_s, s->bytes, s->n, op->n_requests, &to->bytes.mean, e)))
            return false;
    }
    return fill_errors(&to->error_rate, op, s, e);
}
