/* OpenMetrics 1.0 (the specification of Prometheus). */
#include "analyze/export/export.h"

#include "analyze/export/values.h"
#include "analyze/write/csv.h"
#include "libcommon/int64.h"

#include <math.h>

/* A sample of a family: the suffix of its name, its quantile, and the offset of its value from the
 * family's. */
struct sample {
    const char *suffix, *quantile;
    size_t offset;
    double scale;
};
#define SECONDS_PER_NS 1e-9

static const struct sample counter[] = {{"_total", NULL, 0, 1}, {0}};
static const struct sample gauge[] = {{"", NULL, 0, 1}, {0}};
static const struct sample summary[] = {
    {"", "0.5", offsetof(struct value_times, p50_ns), SECONDS_PER_NS},
    {"", "0.9", offsetof(struct value_times, p90_ns), SECONDS_PER_NS},
    {"", "0.99", offsetof(struct value_times, p99_ns), SECONDS_PER_NS},
    {"", "1.0", offsetof(struct value_times, slowest_ns), SECONDS_PER_NS},
    {"_count", NULL, offsetof(struct value_times, n), 1},
    {"_sum", NULL, offsetof(struct value_times, sum_s), 1},
    {0},
};

static const struct family {
    const char *name, *unit, *help, *type;
    const struct sample *samples;
    size_t offset;
} families[] = {
    {"s3_requests", "", "Requests that ended, failed ones too.", "counter", counter,
     offsetof(struct values, n_requests)},
    {"s3_request_errors", "", "Requests that failed.", "counter", counter,
     offsetof(struct values, n_errors)},
    {"s3_objects", "", "Objects of the successful requests.", "counter", counter,
     offsetof(struct values, n_objects)},
    {"s3_payload_bytes", "bytes", "Bytes of the successful requests' bodies.", "counter", counter,
     offsetof(struct values, n_bytes)},
    {"s3_throughput_bytes_per_second", "", "Mean throughput over the active range.", "gauge", gauge,
     offsetof(struct values, bytes_per_s)},
    {"s3_throughput_objects_per_second", "", "Mean throughput over the active range.", "gauge",
     gauge, offsetof(struct values, objects_per_s)},
    {"s3_request_duration_seconds", "seconds",
     "Durations of the successful requests in the active range.", "summary", summary,
     offsetof(struct values, durations)},
    {"s3_request_ttfb_seconds", "seconds", "Times to the first byte of the same requests.",
     "summary", summary, offsetof(struct values, ttfb)},
};

static bool put_sample(FILE *f, const struct family *m, const struct sample *s, const char *op,
                       double value, int64_t end_ns, struct err *e)
{
    fprintf(f, "%s%s{op=\"", m->name, s->suffix);
    if (!values_put_text(f, op, "\\\"", e))
        return false;
    if (s->quantile != NULL)
        fprintf(f, "\",quantile=\"%s", s->quantile);
    fprintf(f, "\"} %s %s\n", csv_out_number(value * s->scale).s,
            csv_out_number((double)(end_ns / 1000000) / 1e3).s);
    return true;
}

/* Writes a family: all of its samples must be together. */
static bool put_family(FILE *f, const struct analysis *a, const struct family *m, int64_t end_ns,
                       struct err *e)
{
    fprintf(f, "# TYPE %s %s\n", m->name, m->type);
    if (*m->unit != '\0')
        fprintf(f, "# UNIT %s %s\n", m->name, m->unit);
    fprintf(f, "# HELP %s %s\n", m->name, m->help);
    for (size_t k = 0; k < a->n_operations; k++) {
        const struct values v = values_of(&a->operations[k]);

        for (const struct sample *s = m->samples; s->suffix != NULL; s++) {
            double value = values_at(&v, m->offset + s->offset);
            if (isfinite(value) && !put_sample(f, m, s, a->operations[k].op, value, end_ns, e))
                return false;
        }
    }
    return true;
}

bool openmetrics_write(const struct analysis *a, FILE *f, struct err *e)
{
    int64_t end_ns = 0;

    for (size_t k = 0; k < a->n_operations; k++)
        end_ns = int64_max(end_ns, a->operations[k].end_ns);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!put_family(f, a, &families[i], end_ns, e))
            return false;
    fputs("# EOF\n", f);
    return true;
}
