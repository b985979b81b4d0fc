/* Writes the line protocol of InfluxDB. Measurements, tags and fields are those that warp
 * sends (github.com/minio/warp, cli/influx.go). For each host of an operation, and for all
 * hosts together, "warp" has running totals and "warp_run_summary" the sums. warp sends a point
 * for each request; this code writes one for each second in which requests ended. */
#include "analyze/tools/export/export.h"

#include "analyze/data/group.h"
#include "analyze/write/csv.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <stdlib.h>

/* Times in ns. */
struct spread {
    int64_t n, least, most;
    __int128 sum;
};

/* Sums of requests. */
struct tally {
    int64_t requests, errors;
    int64_t objects, bytes; /* of the successful requests, like all members below */
    struct spread took, ttfb;
};

/* ---- Lines ---- */

/* Writes a tag; nothing if the value is empty. */
static bool put_tag(FILE *f, const char *key, const char *value, struct err *e)
{
    if (*value == '\0')
        return true;
    fprintf(f, ",%s=", key);
    /* A backslash at the end would escape the next character, whatever is before it. */
    if (!openmetrics_put_text(f, value, ", =", e))
        return false;
    if (value[strlen(value) - 1] == '\\')
        putc('_', f);
    return true;
}

static void put_time(FILE *f, const char *of, const char *what, double seconds)
{
    fprintf(f, ",%s_%s_secs=%s", of, what, csv_out_number(seconds).s);
}

/* Adds the fields of times; the mean is over all n_done successful requests. */
static void put_times(FILE *f, const char *of, const struct spread *x, int64_t n_done, bool summary)
{
    put_time(f, of, "total", (double)x->sum / 1e9);
    if (!summary)
        return;
    if (n_done > 0)
        put_time(f, of, "avg", (double)x->sum / 1e9 / (double)n_done);
    put_time(f, of, "min", (double)x->least / 1e9);
    put_time(f, of, "max", (double)x->most / 1e9);
}

struct series {
    const char *id, *op, *host; /* host "": all; one without a name is "(unnamed)" */
};

static bool put_line(FILE *f, const struct series *s, const struct tally *t, bool summary,
                     int64_t at_ns, struct err *e)
{
    fputs(summary ? "warp_run_summary" : "warp", f);
    if (!put_tag(f, "endpoint", s->host, e) || !put_tag(f, "op", s->op, e) ||
        !put_tag(f, "warp_id", s->id, e))
        return false;
    fprintf(f,
            " requests=%" PRId64 "i,objects=%" PRId64 "i,bytes_total=%" PRId64 "i,errors=%" PRId64
            "i",
            t->requests, t->objects, t->bytes, t->errors);
    put_times(f, "request", &t->took, t->took.n, summary);
    if (t->ttfb.n > 0)
        put_times(f, "request_ttfb", &t->ttfb, t->took.n, summary);
    fprintf(f, " %" PRId64 "\n", at_ns);
    return true;
}

/* ---- Requests ---- */

static void spread_add(struct spread *x, int64_t ns)
{
    x->least = x->n++ == 0 ? ns : int64_min(x->least, ns);
    x->most = int64_max(x->most, ns);
    x->sum += ns;
}

static void tally_add(struct tally *t, const struct table *x, size_t i)
{
    t->requests++;
    if (table_failed(x, i)) {
        t->errors++;
        return;
    }
    t->objects += packed_get(&x->objects, i);
    t->bytes += packed_get(&x->bytes, i);
    spread_add(&t->took, packed_get(&x->dur, i));
    if (packed_has(&x->ttfb, i) && packed_get(&x->ttfb, i) > 0)
        spread_add(&t->ttfb, packed_get(&x->ttfb, i));
}

/* The requests of an operation that are written. */
struct source {
    const struct dataset *d;
    const struct table *t;
    int64_t first_s; /* the second in which the first one ended */
    size_t n_s;      /* seconds from there to the last end, inclusive */
};

static size_t second_of(const void *source, size_t row)
{
    const struct source *x = source;

    return (size_t)(table_end(x->t, row) / NS_PER_S - x->first_s);
}

static size_t host_of(const void *source, size_t row)
{
    const struct source *x = source;

    return dataset_place(x->d, x->t, table_place(x->t, row))->host;
}

/* Writes the requests in `rows`, which are in order of the seconds in which they ended. */
static bool put_series(const struct source *x, const struct series *s, const uint32_t *rows,
                       size_t n, FILE *f, struct err *e)
{
    struct tally sum = {0};

    for (size_t k = 0; k < n; k++) {
        size_t second = second_of(x, rows[k]);

        tally_add(&sum, x->t, rows[k]);
        if ((k + 1 == n || second_of(x, rows[k + 1]) != second) &&
            !put_line(f, s, &sum, false, (x->first_s + (int64_t)second + 1) * NS_PER_S, e))
            return false;
    }
    return n == 0 || put_line(f, s, &sum, true, (x->first_s + (int64_t)x->n_s) * NS_PER_S, e);
}

/* Writes each host, then all hosts together. */
static bool put_hosts(const struct source *x, const char *id, FILE *f, struct err *e)
{
    size_t n_hosts = x->d->hosts.n;
    struct group_rows by_second = {0}, by_host = {0};
    struct series s = {id, x->d->ops.v[x->t->op], ""};
    bool ok = group_rows_by(&by_second, x->t->n, NULL, x->n_s, second_of, x, e) &&
              group_rows_by(&by_host, x->t->n, by_second.row, n_hosts, host_of, x, e);

    for (size_t k = 0; ok && k < n_hosts; k++) {
        const size_t *first = &by_host.first[k];

        s.host = intern_shown(x->d->hosts.v[k]);
        ok = put_series(x, &s, by_host.row + first[0], first[1] - first[0], f, e);
    }
    s.host = "";
    ok = ok && put_series(x, &s, by_second.row, x->t->n, f, e);
    group_rows_fini(&by_second);
    group_rows_fini(&by_host);
    return ok;
}

static bool put_table(const struct dataset *d, const struct table *t, const char *id, FILE *f,
                      struct err *e)
{
    int64_t first_ns = INT64_MAX, last_ns = 0;
    __int128 n_bytes = 0, n_objects = 0;

    for (size_t i = 0; i < t->n; i++) {
        n_bytes += packed_get(&t->bytes, i);
        n_objects += packed_get(&t->objects, i);
        first_ns = int64_min(first_ns, table_end(t, i));
        last_ns = int64_max(last_ns, table_end(t, i));
    }
    if (t->n == 0)
        return true;
    if (n_bytes > INT64_MAX || n_objects > INT64_MAX)
        return err_set(e, "%s: sums of more than 2^63", d->inputs[0].path);
    int64_t first_s = first_ns / NS_PER_S, n_s = last_ns / NS_PER_S - first_s + 1;
    if (n_s > ANALYSIS_MAX_SEGMENTS)
        return err_set(e, "%s: a run of more than %d seconds", d->inputs[0].path,
                       ANALYSIS_MAX_SEGMENTS);
    const struct source x = {d, t, first_s, (size_t)n_s};
    return put_hosts(&x, id, f, e);
}

bool influx_write(const struct dataset *d, const char *id, FILE *f, struct err *e)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (!put_table(d, &d->tables[i], id, f, e))
            return false;
    return true;
}
