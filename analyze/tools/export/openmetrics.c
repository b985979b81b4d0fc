/* OpenMetrics 1.0 (the specification of Prometheus). */
#include "analyze/tools/compare/metric.h"
#include "analyze/tools/export/export.h"
#include "analyze/write/csv.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/visible.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* First the counts of an operation (counts), then what metrics are of. */
#define N_COUNTS 4
static const struct family {
    const char *name, *unit, *help, *type;
    enum metric_group group;
} families[] = {
    {"s3_requests", "", "Requests that ended, failed ones too.", "counter", METRIC_N_GROUPS},
    {"s3_request_errors", "", "Requests that failed.", "counter", METRIC_N_GROUPS},
    {"s3_objects", "", "Objects of the successful requests.", "counter", METRIC_N_GROUPS},
    {"s3_payload_bytes", "bytes", "Bytes of the successful requests' bodies.", "counter",
     METRIC_N_GROUPS},
    {"s3_throughput_bytes_per_second", "", "Mean throughput over the active range.", "gauge",
     METRIC_BYTES},
    {"s3_throughput_objects_per_second", "", "Mean throughput over the active range.", "gauge",
     METRIC_OBJECTS},
    {"s3_request_duration_seconds", "seconds",
     "Durations of the successful requests in the active range.", "summary", METRIC_DURATION},
    {"s3_request_ttfb_seconds", "seconds", "Times to the first byte of the same requests.",
     "summary", METRIC_OF_TTFB},
};

bool openmetrics_put_text(FILE *f, const char *text, const char *special, struct err *e)
{
    char *safe = visible_copy(text, NULL);

    if (safe == NULL)
        return mem_none(e);
    for (const char *at = safe; *at != '\0'; at++)
        fprintf(f, "%s%c", strchr(special, *at) != NULL ? "\\" : "", *at);
    free(safe);
    return true;
}

/* What the samples of a family share. */
struct samples {
    FILE *f;
    const struct family *family;
    const struct operation *op;
    int64_t end_ns;
};

/* Writes a sample with the suffix of its name and its quantile ("": none); nothing if it is not
 * known. */
static bool put_sample(const struct samples *s, const char *suffix, const char *quantile,
                       double value, struct err *e)
{
    if (!isfinite(value))
        return true;
    fprintf(s->f, "%s%s{op=\"", s->family->name, suffix);
    if (!openmetrics_put_text(s->f, s->op->op, "\\\"", e))
        return false;
    if (*quantile != '\0')
        fprintf(s->f, "\",quantile=\"%s", quantile);
    fprintf(s->f, "\"} %s %s\n", csv_out_number(value).s,
            csv_out_number((double)(s->end_ns / 1000000) / 1e3).s);
    return true;
}

static bool put_samples(const struct samples *s, struct err *e)
{
    const struct operation *op = s->op;
    const enum metric_group group = s->family->group;
    const struct times *t =
        group == METRIC_OF_TTFB ? &op->requests.all.ttfb : &op->requests.all.dur;
    const int64_t counts[N_COUNTS] = {operation_n_all(op), operation_n_failed(op), op->n_objects,
                                      op->n_bytes};
    bool is_time = group == METRIC_DURATION || group == METRIC_OF_TTFB, ok = true;

    if (group == METRIC_N_GROUPS)
        return put_sample(s, "_total", "", (double)counts[s->family - families], e);
    for (size_t i = 0; i < n_metrics; i++)
        if (metrics[i].group == group && metrics[i].sample != NULL)
            ok = ok && put_sample(s, "", metrics[i].sample,
                                  metric_judged(&metrics[i], op, false) * (is_time ? 1e-9 : 1), e);
    return ok && (!is_time || !t->present ||
                  (put_sample(s, "_count", "", (double)t->n, e) &&
                   put_sample(s, "_sum", "", t->mean_ns * (double)t->n / 1e9, e)));
}

bool openmetrics_write(const struct analysis *a, FILE *f, struct err *e)
{
    int64_t end_ns = 0;

    for (size_t k = 0; k < a->n_operations; k++)
        end_ns = int64_max(end_ns, a->operations[k].end_ns);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const struct family *m = &families[i];

        fprintf(f, "# TYPE %s %s\n", m->name, m->type);
        if (*m->unit != '\0')
            fprintf(f, "# UNIT %s %s\n", m->name, m->unit);
        fprintf(f, "# HELP %s %s\n", m->name, m->help);
        /* All samples of a family must be together. */
        for (size_t k = 0; k < a->n_operations; k++)
            if (!put_samples(&(struct samples){f, m, &a->operations[k], end_ns}, e))
                return false;
    }
    fputs("# EOF\n", f);
    return true;
}
