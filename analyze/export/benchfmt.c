/* The Go benchmark format (golang.org/design/14313-benchmark-format; units: golang.org/x/perf,
 * benchfmt and benchunit). */
#include "analyze/export/export.h"

#include "analyze/export/values.h"
#include "analyze/write/csv.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>

static const struct unit {
    const char *name;
    size_t offset;
    bool up_is_better;
} units[] = {
    {"ns/op", offsetof(struct values, durations.mean_ns), false},
    {"B/s", offsetof(struct values, bytes_per_s), true},
    {"obj/s", offsetof(struct values, objects_per_s), true},
    {"p50-ns", offsetof(struct values, durations.p50_ns), false},
    {"p90-ns", offsetof(struct values, durations.p90_ns), false},
    {"p99-ns", offsetof(struct values, durations.p99_ns), false},
    {"max-ns", offsetof(struct values, durations.slowest_ns), false},
    {"ttfb-p50-ns", offsetof(struct values, ttfb.p50_ns), false},
    {"errors/op", offsetof(struct values, error_frac), false},
};

void benchfmt_begin(FILE *f)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        fprintf(f, "Unit %s better=%s\n", units[i].name,
                units[i].up_is_better ? "higher" : "lower");
}

void benchfmt_write(const struct analysis *a, FILE *f)
{
    for (size_t k = 0; k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];
        const struct values v = values_of(op);

        if (op->n_requests == 0)
            continue;
        /* The name of a benchmark must not begin with a small letter. */
        bool is_small = islower((unsigned char)*op->op) || *op->op == '_';
        fputs(is_small ? "Benchmark_" : "Benchmark", f);
        values_put_name(f, op->op);
        fprintf(f, " %" PRId64, op->n_requests);
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            double value = values_at(&v, units[i].offset);
            if (isfinite(value))
                fprintf(f, " %s %s", csv_out_number(value).s, units[i].name);
        }
        putc('\n', f);
    }
}
