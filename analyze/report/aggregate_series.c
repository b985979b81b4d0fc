#include "analyze/report/aggregate_series.h"

#include "analyze/write/csv.h"
#include "analyze/write/json.h"
#include "libcommon/rfc3339.h"

#include <inttypes.h>

#define NS_PER_S INT64_C(1000000000)

struct series_out {
    FILE *f;
    enum report_csv_format format;
    struct csv_out_style style;
    bool failed;
};

/* "" stands for all of them together. */
struct series_of {
    const char *op, *host, *client;
};

static void put_line(struct series_out *out, const struct series_of *names, size_t i,
                     int64_t start_ns, const struct aggfile_second *s)
{
    char delimiter = out->style.delimiter;
    FILE *f = out->f;

    fprintf(f, "%zu%c", i, delimiter);
    csv_out_text(f, names->op, out->style);
    fputc(delimiter, f);
    csv_out_text(f, names->host, out->style);
    fputc(delimiter, f);
    csv_out_text(f, names->client, out->style);
    fprintf(f, "%c1%c", delimiter, delimiter);
    csv_out_real(f, s->bytes_per_s);
    fprintf(f, "%c%" PRId64 "%c", delimiter, s->n_errors, delimiter);
    csv_out_real(f, s->bytes_per_s / (1 << 20));
    fputc(delimiter, f);
    csv_out_real(f, s->objects_per_s);
    fprintf(f, "%c%s", delimiter, rfc3339_format(start_ns).s);
    fprintf(f, "%c%s\n", delimiter, rfc3339_format(start_ns + NS_PER_S).s);
}

static void put_json(struct series_out *out, const struct series_of *names, size_t i,
                     int64_t start_ns, const struct aggfile_second *s)
{
    json_t *o = json_object();
    int failed = json_object_set_new(o, "index", json_integer((json_int_t)i)) |
                 json_object_set_new(o, "op", json_out_text(names->op)) |
                 json_object_set_new(o, "host", json_out_text(names->host)) |
                 json_object_set_new(o, "client_id", json_out_text(names->client)) |
                 json_object_set_new(o, "duration_s", json_integer(1)) |
                 json_object_set_new(o, "bytes", json_out_real(s->bytes_per_s)) |
                 json_object_set_new(o, "errors", json_integer(s->n_errors)) |
                 json_object_set_new(o, "mb_per_sec", json_out_real(s->bytes_per_s / (1 << 20))) |
                 json_object_set_new(o, "objs_per_sec", json_out_real(s->objects_per_s)) |
                 json_object_set_new(o, "start_time", json_out_time(start_ns)) |
                 json_object_set_new(o, "end_time", json_out_time(start_ns + NS_PER_S));

    out->failed |= failed != 0;
    if (failed == 0) {
        /* A failed write is left to whoever closes the file. */
        json_dumpf(o, out->f, JSON_COMPACT | JSON_REAL_PRECISION(17));
        fputc('\n', out->f);
    }
    json_decref(o);
}

static void put_part(struct series_out *out, const struct aggregate_part *part,
                     const struct series_of *names)
{
    for (size_t i = 0; i < part->x->n_seconds; i++)
        (out->format == REPORT_CSV_JSON_LINES ? put_json : put_line)(
            out, names, i, aggregate_second_ns(part, i), &part->x->seconds[i]);
}

bool aggregate_series(const struct aggregate *a, enum report_csv_format format, bool safe, FILE *f,
                      struct err *e)
{
    static const char *const columns[] = {"index",        "op",         "host",    "client_id",
                                          "duration_s",   "bytes",      "errors",  "mb_per_sec",
                                          "objs_per_sec", "start_time", "end_time"};
    const struct csv_out_style style = {format == REPORT_CSV_COMMAS ? ',' : '\t', safe};
    struct series_out out = {f, format, style, false};

    if (format != REPORT_CSV_JSON_LINES)
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            fprintf(f, "%s%c", columns[i],
                    i + 1 == sizeof columns / sizeof *columns ? '\n' : style.delimiter);
    for (size_t i = 0; i < a->ops.n; i++)
        put_part(&out, &a->ops.v[i], &(struct series_of){a->ops.v[i].x->name, "", ""});
    for (size_t i = 0; i < a->hosts.n; i++)
        put_part(&out, &a->hosts.v[i], &(struct series_of){"", a->hosts.v[i].x->name, ""});
    for (size_t i = 0; i < a->clients.n; i++)
        put_part(&out, &a->clients.v[i], &(struct series_of){"", "", a->clients.v[i].x->name});
    return !out.failed || err_set(e, "out of memory");
}
