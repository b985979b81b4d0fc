/* OpenMetrics 1.0 (the specification of Prometheus). */
#include "analyze/export/export.h"

#include "analyze/export/values.h"
#include "analyze/write/csv.h"
#include "libcommon/int64.h"

#include <math.h>

enum kind { COUNTER, GAUGE, SUMMARY };
static const char *const kind_names[] = {"counter", "gauge", "summary"};

/* A sample: a suffix of the family's name, a quantile, and where its value is. */
struct sample {
    const char *suffix, *quantile;
    size_t offset;
    double scale;
};
#define SECONDS_PER_NS 1e-9

static const struct family {
    const char *name, *unit, *help;
    enum kind kind;
    struct sample samples[6];
} families[] = {
    {"s3_requests",
     "",
     "Requests that ended, failed ones too.",
     COUNTER,
     {{"_total", NULL, offsetof(struct values, n_requests), 1}}},
    {"s3_request_errors",
     "",
     "Requests that failed.",
     COUNTER,
     {{"_total", NULL, offsetof(struct values, n_errors), 1}}},
    {"s3_objects",
     "",
     "Objects of the successful requests.",
     COUNTER,
     {{"_total", NULL, offsetof(struct values, n_objects), 1}}},
    {"s3_payload_bytes",
     "bytes",
     "Bytes of the successful requests' bodies.",
     COUNTER,
     {{"_total", NULL, offsetof(struct values, n_bytes), 1}}},
    {"s3_throughput_bytes_per_second",
     "",
     "Mean throughput over the active range.",
     GAUGE,
     {{"", NULL, offsetof(struct values, bytes_per_s), 1}}},
    {"s3_throughput_objects_per_second",
     "",
     "Mean throughput over the active range.",
     GAUGE,
     {{"", NULL, offsetof(struct values, objects_per_s), 1}}},
    {"s3_request_duration_seconds",
     "seconds",
     "Durations of the successful requests in the active range.",
     SUMMARY,
     {{"", "0.5", offsetof(struct values, p50_ns), SECONDS_PER_NS},
      {"", "0.9", offsetof(struct values, p90_ns), SECONDS_PER_NS},
      {"", "0.99", offsetof(struct values, p99_ns), SECONDS_PER_NS},
      {"", "1.0", offsetof(struct values, slowest_ns), SECONDS_PER_NS},
      {"_count", NULL, offsetof(struct values, n_timed), 1},
      {"_sum", NULL, offsetof(struct values, sum_s), 1}}},
    {"s3_request_ttfb_seconds",
     "seconds",
     "Times to the first byte of the same requests.",
     SUMMARY,
     {{"", "0.5", offsetof(struct values, ttfb_p50_ns), SECONDS_PER_NS},
      {"", "0.9", offsetof(struct values, ttfb_p90_ns), SECONDS_PER_NS},
      {"", "0.99", offsetof(struct values, ttfb_p99_ns), SECONDS_PER_NS},
      {"_count", NULL, offsetof(struct values, ttfb_n), 1},
      {"_sum", NULL, offsetof(struct values, ttfb_sum_s), 1}}},
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

/* All samples of a family stand together. */
static bool put_family(FILE *f, const struct analysis *a, const struct family *m, int64_t end_ns,
                       struct err *e)
{
    fprintf(f, "# TYPE %s %s\n", m->name, kind_names[m->kind]);
    if (*m->unit != '\0')
        fprintf(f, "# UNIT %s %s\n", m->name, m->unit);
    fprintf(f, "# HELP %s %s\n", m->name, m->help);
    for (size_t k = 0; k < a->n_operations; k++) {
        const struct values v = values_of(&a->operations[k]);

        for (size_t i = 0; i < sizeof m->samples / sizeof *m->samples; i++) {
            const struct sample *s = &m->samples[i];
            if (s->suffix != NULL && isfinite(values_at(&v, s->offset)) &&
                !put_sample(f, m, s, a->operations[k].op, values_at(&v, s->offset), end_ns, e))
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
