#include "analyze/export/values.h"

#include "libcommon/mem.h"
#include "libcommon/visible.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct value_times times_of(bool present, const struct times *t)
{
    if (!present)
        return (struct value_times){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    return (struct value_times){
        .n = (double)t->n,
        .mean_ns = t->mean_ns,
        .p50_ns = (double)t->p50_ns,
        .p90_ns = (double)t->p90_ns,
        .p99_ns = (double)t->p99_ns,
        .slowest_ns = (double)t->slowest_ns,
        .sum_s = t->mean_ns * (double)t->n / 1e9,
    };
}

struct values values_of(const struct operation *op)
{
    const struct throughput *x = &op->judged;
    const struct times *d = &op->requests.all.dur, *f = &op->requests.all.ttfb;

    struct values v = {
        .n_requests = (double)operation_n_all(op),
        .n_errors = (double)operation_n_failed(op),
        .n_objects = (double)op->n_objects,
        .n_bytes = (double)op->n_bytes,
        .error_frac = (double)operation_n_failed(op) / (double)operation_n_all(op),
        .bytes_per_s = x->present && x->n_bytes > 0 ? x->bytes_per_s : NAN,
        .objects_per_s = x->present ? x->objects_per_s : NAN,
        .durations = times_of(op->requests.present && d->present, d),
        .ttfb = times_of(op->requests.present && f->present, f),
    };
    v.ttfb.slowest_ns = NAN;
    return v;
}

void values_put_name(FILE *f, const char *op)
{
    for (; *op != '\0'; op++)
        if (isalnum((unsigned char)*op) || strchr("_.-", *op) != NULL)
            putc(*op, f);
        else
            fprintf(f, "%%%02X", (unsigned char)*op);
}

bool values_put_text(FILE *f, const char *text, const char *special, struct err *e)
{
    char *safe = visible_copy(text, NULL);

    if (safe == NULL)
        return mem_none(e);
    for (const char *at = safe; *at != '\0'; at++)
        fprintf(f, "%s%c", strchr(special, *at) != NULL ? "\\" : "", *at);
    free(safe);
    return true;
}
