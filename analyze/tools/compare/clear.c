/* The rates of an operation without the faults of its run. */
#include "analyze/tools/compare/run_internal.h"

#include "libcommon/int64.h"

#include <stdlib.h>
#include <string.h>

bool run_is_fault(const struct finding *f)
{
    return f->severity == FINDING_PROBLEM;
}

/* Returns the part of s that a fault takes. A "rise" means that throughput was too low before
 * it. */
static struct span fault_span(const struct finding *f, struct span s)
{
    bool rose = !f->has_end && strcmp(f->kind->name, "rise") == 0;

    if (rose)
        s.end_ns = int64_min(s.end_ns, f->start_ns);
    else if (f->has_start)
        s.start_ns = int64_max(s.start_ns, f->start_ns);
    if (f->has_end)
        s.end_ns = int64_min(s.end_ns, f->end_ns);
    return s;
}

/* Whether a finding is a fault of the operation that begins or ends within the range, from s->start
 * to s->end. A periodic pause is none, as it spans nearly a whole run. */
static bool find_span(const struct finding *f, const char *op, const struct span *range,
                      struct span *s)
{
    *s = fault_span(f, *range);
    return run_is_fault(f) && f->period_ns == 0 && (f->op == NULL || strcmp(f->op, op) == 0) &&
           s->start_ns < s->end_ns && s->end_ns - s->start_ns < range->end_ns - range->start_ns;
}

/* Moves the segments that a fault does not touch to the front; returns how many there are. */
static size_t leave_out(struct series_row *rows, size_t n, const struct span *fault)
{
    size_t n_left = 0;

    for (size_t i = 0; i < n; i++) {
        rows[n_left] = rows[i];
        n_left += fault->end_ns <= rows[i].start_ns ||
                  fault->start_ns >= rows[i].start_ns + rows[i].duration_ns;
    }
    return n_left;
}

/* Returns the operation as it would be with these segments alone. */
static struct operation only(const struct series_row *rows, size_t n, int64_t length_ns)
{
    struct operation x = {.judged.present = true};
    double seconds = (double)n * (double)length_ns / 1e9;

    for (size_t i = 0; i < n; i++) {
        x.n_requests += rows[i].ops_ended + rows[i].errors;
        x.n_errors += rows[i].errors;
        x.judged.n_bytes += rows[i].bytes;
        x.judged.objects_per_s += rows[i].objects / seconds;
    }
    x.judged.bytes_per_s = (double)x.judged.n_bytes / seconds;
    return x;
}

bool run_fill_clear(struct run_op *op, const struct analysis *a, size_t k, struct err *e)
{
    const struct statistics *s = op->report.statistics;
    const struct span range = {true, s->start_ns, s->start_ns + s->duration_ns};
    struct statistics clear = {0};
    struct series_row *rows = NULL;
    struct slice_grid grid;
    struct span fault;
    size_t n = 0, n_left = 0;
    bool ok = true;

    slice_grid_init(&grid, s->start_ns, s->segment_ns, s->n_segments);
    for (size_t i = 0; ok && i < a->findings.n; i++) {
        if (!find_span(&a->findings.v[i], op->op, &range, &fault))
            continue;
        if (rows == NULL) {
            ok = analysis_series_on(a, (int)k, -1, &grid, &rows, &n, e);
            n_left = n;
        }
        n_left = leave_out(rows, n_left, &fault);
    }
    if (ok && n_left > 0 && n_left >= n / 4) {
        const struct operation left = only(rows, n_left, s->segment_ns);

        ok = statistics_of_series(&clear, &left, rows, n_left, e);
    }
    op->clear[RUN_THROUGHPUT] = (struct run_value){clear.bytes.present, clear.bytes.mean, true, 0};
    op->clear[RUN_OBJECTS] = (struct run_value){clear.objects.present, clear.objects.mean, true, 0};
    free(rows);
    return ok;
}
