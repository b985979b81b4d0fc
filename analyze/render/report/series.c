#include "analyze/render/report/series.h"

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

#define MAX_CELLS 32
#define MAX_ROWS  10000000 /* without --force */

enum cell_kind { CELL_INT, CELL_REAL, CELL_TEXT, CELL_TIME, CELL_BOOL };

/* One named value of a row. */
struct cell {
    const char *name;
    enum cell_kind kind;
    int64_t i;        /* CELL_INT, CELL_TIME, CELL_BOOL */
    double real;      /* CELL_REAL; NaN: none */
    const char *text; /* CELL_TEXT */
};

struct row {
    struct cell cell[MAX_CELLS];
    size_t n;
};

/* What all rows of one series share. */
struct series {
    const char *op, *host, *client;
    int64_t objects_per_op;
};

struct table_out {
    FILE *f;
    enum report_csv_format format;
    bool full_series, has_clients, safe;
    int64_t run_start_ns;
};

static void add(struct row *row, struct cell cell)
{
    row->cell[row->n++] = cell;
}

static void add_int(struct row *row, const char *name, int64_t value)
{
    add(row, (struct cell){.name = name, .kind = CELL_INT, .i = value});
}

static void add_real(struct row *row, const char *name, double value)
{
    add(row, (struct cell){.name = name, .kind = CELL_REAL, .real = value});
}

static void add_text(struct row *row, const char *name, const char *value)
{
    add(row, (struct cell){.name = name, .kind = CELL_TEXT, .text = value});
}

static void add_time(struct row *row, const char *name, int64_t ns)
{
    add(row, (struct cell){.name = name, .kind = CELL_TIME, .i = ns});
}

static void fill_row(struct row *row, const struct table_out *t, const struct series *s,
                     int64_t index, const struct series_row *r)
{
    double seconds = (double)r->duration_ns / 1e9;
    /* Percentiles in a series without counts are those of longer times. */
    double ms = r->lacks_counts ? NAN : 1e6;
    row->n = 0;
    add_int(row, "index", index);
    add_text(row, "op", s->op);
    add_text(row, "host", s->host);
    add_real(row, "duration_s", seconds);
    add_int(row, "objects_per_op", s->objects_per_op);
    add_int(row, "bytes", r->bytes);
    if (r->lacks_parts) {
        add_real(row, "full_ops", NAN);
        add_real(row, "partial_ops", NAN);
    } else {
        add_int(row, "full_ops", r->full_ops);
        add_int(row, "partial_ops", r->partial_ops);
    }
    if (r->lacks_counts) {
        add_real(row, "ops_started", NAN);
        add_real(row, "ops_ended", NAN);
    } else {
        add_int(row, "ops_started", r->ops_started);
        add_int(row, "ops_ended", r->ops_ended);
    }
    add_int(row, "errors", r->errors);
    add_real(row, "mb_per_sec", (double)r->bytes / (1 << 20) / seconds);
    add_real(row, "ops_ended_per_sec", r->lacks_counts ? NAN : (double)r->ops_ended / seconds);
    add_real(row, "objs_per_sec", r->objects / seconds);
    add_time(row, "start_time", r->start_ns);
    add_time(row, "end_time", r->start_ns + r->duration_ns);
    add_real(row, "reqs_ended_avg_ms", r->ops_avg_ns / 1e6);
    add_real(row, "p50_ms", r->p50_ns / ms);
    add_real(row, "p90_ms", r->p90_ns / ms);
    add_real(row, "p99_ms", r->p99_ns / ms);
    add_real(row, "max_ms", r->max_ns / 1e6);
    add_real(row, "ttfb_p50_ms", r->ttfb_p50_ns / 1e6);
    add_real(row, "in_flight", r->in_flight);
    if (t->full_series) {
        add(row, (struct cell){.name = "in_range", .kind = CELL_BOOL, .i = r->in_range});
        add_real(row, "t_s", (double)(r->start_ns - t->run_start_ns) / 1e9);
    }
    if (t->has_clients)
        add_text(row, "client_id", s->client != NULL ? s->client : "");
}

static void put_cell(FILE *f, const struct cell *c, struct csv_out_style style)
{
    switch (c->kind) {
    case CELL_INT:
    case CELL_BOOL:
        fprintf(f, "%" PRId64, c->i);
        break;
    case CELL_REAL:
        csv_out_real(f, c->real);
        break;
    case CELL_TEXT:
        csv_out_text(f, c->text, style);
        break;
    case CELL_TIME:
        fputs(rfc3339_format(c->i).s, f);
        break;
    }
}

static json_t *cell_json(const struct cell *c)
{
    switch (c->kind) {
    case CELL_INT:
        return json_integer(c->i);
    case CELL_BOOL:
        return json_boolean(c->i);
    case CELL_REAL:
        return json_out_real(c->real);
    case CELL_TEXT:
        return json_out_text(c->text);
    case CELL_TIME:
        break;
    }
    return json_out_time(c->i);
}

static int put_raw(const char *text, size_t n, void *f)
{
    json_out_raw(f, text, n);
    return 0;
}

static bool put_json(FILE *f, const struct row *row, struct err *e)
{
    json_t *o = json_object();
    bool ok = o;

    for (size_t i = 0; i < row->n; i++)
        ok = json_object_set_new(o, row->cell[i].name, cell_json(&row->cell[i])) == 0 && ok;
    if (ok) {
        /* Whoever closes the file notices a failed write. */
        json_dump_callback(o, put_raw, f, JSON_COMPACT | JSON_REAL_PRECISION(17));
        fputc('\n', f);
    }
    json_decref(o);
    return ok ? true : mem_none(e);
}

/* Writes values or names, with delimiters. */
static void put_line(const struct table_out *t, const struct row *row, bool names)
{
    const struct csv_out_style style = {t->format == REPORT_CSV_COMMAS ? ',' : '\t', t->safe};
    for (size_t i = 0; i < row->n; i++) {
        if (i > 0)
            fputc(style.delimiter, t->f);
        if (names)
            fputs(row->cell[i].name, t->f);
        else
            put_cell(t->f, &row->cell[i], style);
    }
    fputc('\n', t->f);
}

static bool put_row(const struct table_out *t, const struct row *row, struct err *e)
{
    if (t->format == REPORT_CSV_JSON_LINES)
        return put_json(t->f, row, e);
    put_line(t, row, false);
    return true;
}

/* Writes the series of operation `op` and host `host`, both indexes as for analysis_series, without
 * rows of which nothing is known. */
static bool put_series(struct table_out *t, const struct analysis *a, int op, int host,
                       const struct series *s, struct err *e)
{
    struct series_row *rows = NULL;
    size_t n = 0;
    int64_t index = 0;
    struct row row;
    bool ok = analysis_series(a, op, host, &rows, &n, e);

    for (size_t i = 0; ok && i < n; i++) {
        if (isnan(rows[i].objects))
            continue;
        fill_row(&row, t, s, index++, &rows[i]);
        ok = put_row(t, &row, e);
    }
    free(rows);
    return ok;
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
    if (dot && (strcasecmp(dot, ".json") == 0 || strcasecmp(dot, ".jsonl") == 0))
        return REPORT_CSV_JSON_LINES;
    return REPORT_CSV_TABS;
}

bool report_csv(const struct analysis *a, enum report_csv_format format, bool with_total, bool safe,
                FILE *f, struct err *e)
{
    struct table_out t = {.f = f,
                          .format = format,
                          .safe = safe,
                          .full_series = a->options.full_series,
                          .has_clients = a->total.n_series_clients > 0,
                          .run_start_ns = a->run_start_ns};
    if (format != REPORT_CSV_JSON_LINES) {
        const struct series_row none = {.duration_ns = 1};
        const struct series nothing = {.op = "", .host = ""};
        struct row header;

        fill_row(&header, &t, &nothing, 0, &none);
        put_line(&t, &header, true);
    }
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
