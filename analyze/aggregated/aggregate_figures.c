/* Figures of an aggregate that follow from it by a formula. */
#include "analyze/aggregated/aggregate.h"

#include "analyze/data/errnorm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

size_t aggregate_message(const struct aggfile_entry *x, size_t i, char *out)
{
    const struct slice message = {x->first_errors[i], strlen(x->first_errors[i])}, no_key = {"", 0};

    return errnorm_message(message, no_key, out);
}

int64_t aggregate_second_ns(const struct aggregate_part *part, size_t i)
{
    return (part->x->seconds[i].label_s + part->window.shift_s) * NS_PER_S;
}

bool aggregate_common(const struct aggregate *a, struct aggregate_common *common)
{
    *common = (struct aggregate_common){0};
    for (size_t i = 0; i < a->n_sum; i++) {
        const struct aggregate_sum_second *s = &a->sum[i];
        if (s->n_clients != a->clients.n)
            continue;
        if (common->n_seconds++ == 0)
            common->start_s = s->start_s;
        common->bytes_per_s += s->bytes_per_s;
        common->objects_per_s += s->objects_per_s;
    }
    if (common->n_seconds == 0)
        return false;
    common->bytes_per_s /= (double)common->n_seconds;
    common->objects_per_s /= (double)common->n_seconds;
    return true;
}

int64_t aggregate_size_floor(const struct aggfile_entry *size)
{
    return INT64_C(1) << (atoi(size->name) - 1);
}

static double rate(int64_t n, const struct aggregate_part *part)
{
    return part->duration_ns > 0 ? (double)n / ((double)part->duration_ns / 1e9) : NAN;
}

double aggregate_bytes_per_s(const struct aggregate_part *part)
{
    return rate(part->x->n_bytes, part);
}

double aggregate_objects_per_s(const struct aggregate_part *part)
{
    return rate(part->x->n_objects, part);
}

double aggregate_requests_per_s(const struct aggregate_part *part)
{
    return rate(part->x->n_requests, part);
}
