#include "analyze/render/report/run.h"

#include "analyze/analysis/run/analysis.h"
#include "analyze/write/csv.h"
#include "analyze/write/json.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define MAX_ROWS 10000000 /* without --force */

/* What all rows of one series share. */
struct series {
    const char *op, *host, *client;
    int64_t objects_per_op;
};

struct table_out {
    FILE *f;
    bool is_json, is_header; /* the values are JSON; the names of the columns are written instead */
    struct csv_out_style style;
    bool full_series, has_clients;
    int64_t run_start_ns;
    size_t n_cells;          /* of the row so far */
    bool is_array, has_rows; /* rows stand in an array; it has some */
    struct json_out json;
};

/* Begins a cell that is not of JSON. False: it is one of the header, and done. */
static bool begin_cell(struct table_out *t, const char *name)
{
    if (t->n_cells++ > 0)
        fputc(t->style.delimiter, t->f);
    if (t->is_header)
        fputs(name, t->f);
    return !t->is_header;
}

/* Each of these writes one value of a row. */

static void put_int(struct table_out *t, const char *name, int64_t value)
{
    if (t->is_json)
        json_put_integer(&t->json, name, value);
    else if (begin_cell(t, name))
        fprintf(t->f, "%" PRId64, value);
}

static void put_real(struct table_out *t, const char *name, double value)
{
    if (t->is_json)
        json_put_real(&t->json, name, value);
    else if (begin_cell(t, name))
        csv_out_real(t->f, value);
}

static void put_int_if(struct table_out *t, const char *name, bool is_known, int64_t value)
{
    if (is_known)
        put_int(t, name, value);
    else
        put_real(t, name, NAN);
}

static void put_text(struct table_out *t, const char *name, const char *value)
{
    if (t->is_json)
        json_put_text(&t->json, name, value);
    else if (begin_cell(t, name))
        csv_out_text(t->f, value, t->style);
}

static void put_time(struct table_out *t, const char *name, int64_t ns)
{
    if (t->is_json)
        json_put_time(&t->json, name, ns);
    else if (begin_cell(t, name))
        fputs(rfc3339_format(ns).s, t->f);
}

static void put_bool(struct table_out *t, const char *name, bool value)
{
    if (t->is_json)
        json_put_bool(&t->json, name, value);
    else
        put_int(t, name, value);
}

static void put_columns(struct table_out *t, const struct series *s, int64_t index,
                        const struct series_row *r)
{
    double seconds = (double)r->duration_ns / 1e9;
    /* Percentiles in a series without counts are those of longer times. */
    double ms = r->lacks_counts ? NAN : 1e6;

    put_int(t, "index", index);
    put_text(t, "op", s->op);
    put_text(t, "host", s->host);
    put_real(t, "duration_s", seconds);
    put_int(t, "objects_per_op", s->objects_per_op);
    put_int(t, "bytes", r->bytes);
    put_int_if(t, "full_ops", !r->lacks_parts, r->full_ops);
    put_int_if(t, "partial_ops", !r->lacks_parts, r->partial_ops);
    put_int_if(t, "ops_started", !r->lacks_counts, r->ops_started);
    put_int_if(t, "ops_ended", !r->lacks_counts, r->ops_ended);
    put_int(t, "errors", r->errors);
    put_real(t, "mb_per_sec", (double)r->bytes / MIB / seconds);
    put_real(t, "ops_ended_per_sec", r->lacks_counts ? NAN : (double)r->ops_ended / seconds);
    put_real(t, "objs_per_sec", r->objects / seconds);
    put_time(t, "start_time", r->start_ns);
    put_time(t, "end_time", r->start_ns + r->duration_ns);
    put_real(t, "reqs_ended_avg_ms", r->ops_avg_ns / 1e6);
    put_real(t, "p50_ms", r->p50_ns / ms);
    put_real(t, "p90_ms", r->p90_ns / ms);
    put_real(t, "p99_ms", r->p99_ns / ms);
    put_real(t, "max_ms", r->max_ns / 1e6);
    put_real(t, "ttfb_p50_ms", r->ttfb_p50_ns / 1e6);
    put_real(t, "in_flight", r->in_flight);
    put_real(t, "bytes_per_s", (double)r->bytes / seconds); /* mb_per_sec is of MiB */
    if (t->full_series) {
        put_bool(t, "in_range", r->in_range);
        put_real(t, "t_s", (double)(r->start_ns - t->run_start_ns) / 1e9);
    }
    if (t->has_clients)
        put_text(t, "client_id", s->client != NULL ? s->client : "");
}

/* Writes a line: a row or, if the format has one, the header. */
static void put_row(struct table_out *t, const struct series *s, int64_t index,
                    const struct series_row *r)
{
    t->n_cells = 0;
    if (t->is_json) {
        if (t->is_array)
            fputs(t->has_rows ? ",\n" : "[", t->f);
        t->has_rows = true;
        t->json.is_empty = true;
        json_out_object(&t->json, NULL);
    }
    put_columns(t, s, index, r);
    if (t->is_json)
        json_out_end(&t->json);
    if (!t->is_array)
        fputc('\n', t->f);
}

/* Writes the series of operation `op` and host `host`, both indexes as for analysis_series, without
 * rows of which nothing is known. */
static bool put_series(struct table_out *t, const struct analysis *a, int op, int host,
                       const struct series *s, struct err *e)
{
    struct series_row *rows = NULL;
    size_t n = 0;
    int64_t index = 0;
    bool ok = analysis_series(a, op, host, &rows, &n, e);

    for (size_t i = 0; ok && i < n; i++)
        if (!isnan(rows[i].objects))
            put_row(t, s, index++, &rows[i]);
    free(rows);
    return ok && (!t->json.failed || mem_none(e));
}

static bool put_hosts(struct table_out *t, const struct analysis *a, int op, struct series *s,
                      const char *only_host, const struct host_result *hosts, size_t n_hosts,
                      struct err *e)
{
    s->host = only_host ? only_host : "";
    if (!put_series(t, a, op, -1, s, e))
        return false;
    for (size_t i = 0; i < n_hosts; i++) {
        s->host = hosts[i].host;
        if (!put_series(t, a, op, (int)i, s, e))
            return false;
    }
    return true;
}

enum report_csv_format report_csv_format(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot && strcasecmp(dot, ".csv") == 0)
        return REPORT_CSV_COMMAS;
    if (dot && strcasecmp(dot, ".json") == 0)
        return REPORT_CSV_JSON;
    if (dot && (strcasecmp(dot, ".ndjson") == 0 || strcasecmp(dot, ".jsonl") == 0))
        return REPORT_CSV_JSON_LINES;
    return REPORT_CSV_TABS;
}

bool report_csv(const struct analysis *a, enum report_csv_format format, bool with_total, bool safe,
                FILE *f, struct err *e)
{
    bool is_json = format == REPORT_CSV_JSON || format == REPORT_CSV_JSON_LINES;
    struct table_out t = {.f = f,
                          .is_json = is_json,
                          .is_header = !is_json,
                          .is_array = format == REPORT_CSV_JSON,
                          .style = {format == REPORT_CSV_COMMAS ? ',' : '\t', safe},
                          .full_series = a->options.full_series,
                          .has_clients = a->total.n_series_clients > 0,
                          .run_start_ns = a->run_start_ns,
                          .json = {.f = f, .is_compact = true}};

    if (t.is_header)
        put_row(&t, &(struct series){0}, 0, &(struct series_row){0});
    t.is_header = false;
    for (size_t i = 0; i < a->n_operations; i++) {
        const struct operation *op = &a->operations[i];
        struct series s = {.op = op->op, .objects_per_op = op->objects_per_op};

        if (!put_hosts(&t, a, (int)i, &s, op->only_host, op->hosts, op->n_host_results, e))
            return false;
    }
    bool ok = true;
    if (with_total && a->total.present) {
        struct series s = {.op = "", .objects_per_op = 0};
        ok = put_hosts(&t, a, -1, &s, a->total.only_host, a->total.hosts, a->total.n_hosts, e);
    }
    for (size_t i = 0; ok && i < a->total.n_series_hosts + a->total.n_series_clients; i++) {
        bool is_host = i < a->total.n_series_hosts;
        const char *name = a->total.series_of[i];
        const struct series s = {"", is_host ? name : "", is_host ? "" : name, 0};

        ok = put_series(&t, a, -1, (int)i, &s, e);
    }
    if (t.is_array)
        fputs(t.has_rows ? "]\n" : "[]\n", f);
    return ok;
}

bool report_csv_fits(const struct analysis *a, bool with_total, struct err *e)
{
    uint64_t n_rows = 0;
    size_t n;

    for (size_t i = 0; i < a->n_operations; i++) {
        if (!analysis_series_length(a, (int)i, &n, e))
            return false;
        n_rows += (uint64_t)n * (1 + a->operations[i].n_host_results);
    }
    if (with_total && a->total.present) {
        if (!analysis_series_length(a, -1, &n, e))
            return false;
        n_rows += (uint64_t)n * (1 + a->total.n_hosts);
    }
    return n_rows <= MAX_ROWS ||
           err_set(e,
                   "the time series would have %s lines, one for each segment of each host: choose "
                   "a longer --dur or one --host, or say --force",
                   units_count((int64_t)n_rows).s);
}
