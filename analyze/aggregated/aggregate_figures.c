/* Figures of an aggregate that follow from it by a formula. */
#include "analyze/aggregated/aggregate.h"
#include "libcommon/units.h"

#include <stdlib.h>

int64_t aggregate_second_ns(const struct aggregate_part *part, size_t i)
{
    return (part->x->seconds[i].label_s + part->window.shift_s) * NS_PER_S;
}

struct together aggregate_together(const struct aggregate *a, int64_t *start_s)
{
    struct together t = {.present = a->is_merged && a->n_sum > 0};

    for (size_t i = 0; i < a->n_sum; i++) {
        const struct aggregate_sum_second *s = &a->sum[i];
        if (s->n_clients != a->clients.n)
            continue;
        if (t.n_seconds++ == 0)
            *start_s = s->start_s;
        t.bytes_per_s += s->bytes_per_s;
        t.objects_per_s += s->objects_per_s;
    }
    if (t.n_seconds > 0) {
        t.bytes_per_s /= (double)t.n_seconds;
        t.objects_per_s /= (double)t.n_seconds;
    }
    return t;
}

int64_t aggregate_size_floor(const struct aggfile_entry *size)
{
    return INT64_C(1) << (atoi(size->name) - 1);
}
