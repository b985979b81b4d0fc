/* The Go benchmark format (golang.org/design/14313-benchmark-format; units: golang.org/x/perf,
 * benchfmt and benchunit). */
#include "analyze/tools/export/export.h"

#include "analyze/tools/compare/metric.h"
#include "analyze/write/csv.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void benchfmt_begin(FILE *f)
{
    for (size_t i = 0; i < n_metrics; i++)
        if (metrics[i].go != NULL)
            fprintf(f, "Unit %s better=%s\n", metrics[i].go,
                    metrics[i].up_is_better ? "higher" : "lower");
}

void benchfmt_put_name(FILE *f, const char *op)
{
    for (; *op != '\0'; op++)
        if (isalnum((unsigned char)*op) || strchr("_.-", *op) != NULL)
            putc(*op, f);
        else
            fprintf(f, "%%%02X", (unsigned char)*op);
}

void benchfmt_write(const struct analysis *a, FILE *f)
{
    for (size_t k = 0; k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];

        if (op->n_requests == 0)
            continue;
        /* The name of a benchmark must not begin with a small letter. */
        bool is_small = islower((unsigned char)*op->op) || *op->op == '_';
        fputs(is_small ? "Benchmark_" : "Benchmark", f);
        benchfmt_put_name(f, op->op);
        fprintf(f, " %" PRId64, op->n_requests);
        for (size_t i = 0; i < n_metrics; i++) {
            double value = metrics[i].go != NULL ? metric_judged(&metrics[i], op, false) : NAN;

            if (isfinite(value))
                fprintf(f, " %s %s", csv_out_number(value).s, metrics[i].go);
        }
        putc('\n', f);
    }
}
