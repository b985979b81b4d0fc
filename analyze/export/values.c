#include "analyze/export/values.h"

#include "libcommon/mem.h"
#include "libcommon/visible.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct values values_of(const struct operation *op)
{
    const struct throughput *x = &op->throughput;
    const struct times *d = &op->requests.all.dur, *f = &op->requests.all.ttfb;
    struct values v;

    for (size_t i = 0; i < sizeof v; i += sizeof(double))
        *(double *)((char *)&v + i) = NAN;
    v.n_requests = (double)op->n_requests;
    v.n_errors = (double)op->n_errors;
    v.n_objects = (double)op->n_objects;
    v.n_bytes = (double)op->n_bytes;
    v.error_frac = (double)op->n_errors / (double)op->n_requests;
    if (x->present)
        v.objects_per_s = x->objects_per_s;
    if (x->present && x->n_bytes > 0)
        v.bytes_per_s = x->bytes_per_s;
    if (op->requests.present && d->present) {
        v.n_timed = (double)d->n;
        v.mean_ns = d->mean_ns;
        v.p50_ns = (double)d->p50_ns;
        v.p90_ns = (double)d->p90_ns;
        v.p99_ns = (double)d->p99_ns;
        v.slowest_ns = (double)d->slowest_ns;
        v.sum_s = d->mean_ns * (double)d->n / 1e9;
    }
    if (op->requests.present && f->present) {
        v.ttfb_n = (double)f->n;
        v.ttfb_p50_ns = (double)f->p50_ns;
        v.ttfb_p90_ns = (double)f->p90_ns;
        v.ttfb_p99_ns = (double)f->p99_ns;
        v.ttfb_sum_s = f->mean_ns * (double)f->n / 1e9;
    }
    return v;
}

struct values_name values_name(const char *op)
{
    struct values_name name;
    size_t n = 0;

    for (; *op != '\0' && n + 1 < sizeof name.s; op++)
        name.s[n++] = isalnum((unsigned char)*op) || strchr("_.-", *op) != NULL ? *op : '_';
    name.s[n] = '\0';
    return name;
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
