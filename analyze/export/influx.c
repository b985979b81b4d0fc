/* Line protocol of InfluxDB. Measurements, tags and fields are those that the reference tool sends
 * (github.com/minio/warp, cli/influx.go): of each operation, once by host and once of all hosts,
 * "warp" counts up, "warp_run_summary" has the sums. The tool sends a point for each request; here
 * is one for each second in which some ended. */
#include "analyze/export/export.h"

#include "analyze/export/values.h"
#include "analyze/write/csv.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <inttypes.h>
#include <stdlib.h>

/* What requests add up to. Times in ns, of the successful ones. */
struct tally {
    int64_t requests, errors, objects, bytes;
    int64_t n_ttfb, fastest, slowest, ttfb_fastest, ttfb_slowest;
    __int128 took, ttfb;
};

enum when { ALWAYS, IF_SOME, IF_TTFB };

/* A field: a count, or ns that are written in seconds (is_wide: 128 bits); `mean` divides by the
 * successful ones. */
static const struct field_of_line {
    const char *name;
    bool is_time, is_wide, mean, of_summary;
    enum when when;
    size_t offset;
} lines_fields[] = {
    {"requests", false, false, false, false, ALWAYS, offsetof(struct tally, requests)},
    {"objects", false, false, false, false, ALWAYS, offsetof(struct tally, objects)},
    {"bytes_total", false, false, false, false, ALWAYS, offsetof(struct tally, bytes)},
    {"errors", false, false, false, false, ALWAYS, offsetof(struct tally, errors)},
    {"request_total_secs", true, true, false, false, ALWAYS, offsetof(struct tally, took)},
    {"request_avg_secs", true, true, true, true, IF_SOME, offsetof(struct tally, took)},
    {"request_min_secs", true, false, false, true, ALWAYS, offsetof(struct tally, fastest)},
    {"request_max_secs", true, false, false, true, ALWAYS, offsetof(struct tally, slowest)},
    {"request_ttfb_total_secs", true, true, false, false, IF_TTFB, offsetof(struct tally, ttfb)},
    {"request_ttfb_avg_secs", true, true, true, true, IF_TTFB, offsetof(struct tally, ttfb)},
    {"request_ttfb_min_secs", true, false, false, true, IF_TTFB,
     offsetof(struct tally, ttfb_fastest)},
    {"request_ttfb_max_secs", true, false, false, true, IF_TTFB,
     offsetof(struct tally, ttfb_slowest)},
};

/* ---- Lines ---- */

/* A tag; none if it is empty. */
static bool put_tag(FILE *f, const char *key, const char *value, struct err *e)
{
    if (*value == '\0')
        return true;
    fprintf(f, ",%s=", key);
    /* A backslash at the end would escape what follows, whatever is before it. */
    if (!values_put_text(f, value, ", =", e))
        return false;
    if (value[strlen(value) - 1] == '\\')
        putc('_', f);
    return true;
}

static void put_field(FILE *f, const struct field_of_line *x, const struct tally *t)
{
    const char *at = (const char *)t + x->offset;
    __int128 value = x->is_wide ? *(const __int128 *)at : *(const int64_t *)at;
    double seconds = (double)value / 1e9;

    if (!x->is_time)
        fprintf(f, "%s=%" PRId64 "i", x->name, (int64_t)value);
    else
        fprintf(f, "%s=%s", x->name,
                csv_out_number(x->mean ? seconds / (double)(t->requests - t->errors) : seconds).s);
}

struct series {
    const char *id, *op, *host; /* host "": of all */
};

static bool put_line(FILE *f, const struct series *s, const struct tally *t, bool summary,
                     int64_t at_ns, struct err *e)
{
    char separator = ' ';

    fputs(summary ? "warp_run_summary" : "warp", f);
    if (!put_tag(f, "endpoint", s->host, e) || !put_tag(f, "op", s->op, e) ||
        !put_tag(f, "warp_id", s->id, e))
        return false;
    for (size_t i = 0; i < sizeof lines_fields / sizeof *lines_fields; i++) {
        const struct field_of_line *x = &lines_fields[i];
        if ((x->of_summary && !summary) || (x->when == IF_TTFB && t->n_ttfb == 0) ||
            (x->when == IF_SOME && t->requests == t->errors))
            continue;
        putc(separator, f);
        put_field(f, x, t);
        separator = ',';
    }
    fprintf(f, " %" PRId64 "\n", at_ns);
    return true;
}

/* ---- Requests ---- */

static void tally_add(struct tally *t, const struct table *x, size_t i)
{
    t->requests++;
    if (table_failed(x, i)) {
        t->errors++;
        return;
    }
    int64_t ns = packed_get(&x->dur, i);
    t->objects += packed_get(&x->objects, i);
    t->bytes += packed_get(&x->bytes, i);
    t->took += ns;
    t->fastest = t->requests - t->errors == 1 ? ns : int64_min(t->fastest, ns);
    t->slowest = int64_max(t->slowest, ns);
    if (!packed_has(&x->ttfb, i) || packed_get(&x->ttfb, i) <= 0)
        return;
    ns = packed_get(&x->ttfb, i);
    t->ttfb += ns;
    t->ttfb_fastest = t->n_ttfb++ == 0 ? ns : int64_min(t->ttfb_fastest, ns);
    t->ttfb_slowest = int64_max(t->ttfb_slowest, ns);
}

static void tally_merge(struct tally *to, const struct tally *t)
{
    if (t->requests > t->errors)
        to->fastest = to->requests > to->errors ? int64_min(to->fastest, t->fastest) : t->fastest;
    if (t->n_ttfb > 0)
        to->ttfb_fastest =
            to->n_ttfb > 0 ? int64_min(to->ttfb_fastest, t->ttfb_fastest) : t->ttfb_fastest;
    to->requests += t->requests;
    to->errors += t->errors;
    to->objects += t->objects;
    to->bytes += t->bytes;
    to->took += t->took;
    to->slowest = int64_max(to->slowest, t->slowest);
    to->n_ttfb += t->n_ttfb;
    to->ttfb += t->ttfb;
    to->ttfb_slowest = int64_max(to->ttfb_slowest, t->ttfb_slowest);
}

/* The seconds of an operation in which requests ended. */
struct seconds {
    struct tally *v;
    size_t n;
    int64_t first_s;
};

/* Writes those of one host (SIZE_MAX: of all). */
static bool put_series(const struct dataset *d, const struct table *t, size_t host,
                       struct seconds *x, const char *id, FILE *f, struct err *e)
{
    const struct series s = {id, d->ops.v[t->op], host == SIZE_MAX ? "" : d->hosts.v[host]};
    struct tally sum = {0};

    memset(x->v, 0, x->n * sizeof *x->v);
    for (size_t i = 0; i < t->n; i++)
        if (host == SIZE_MAX || dataset_place(d, t, table_place(t, i))->host == host)
            tally_add(&x->v[table_end(t, i) / NS_PER_S - x->first_s], t, i);
    for (size_t k = 0; k < x->n; k++) {
        if (x->v[k].requests == 0)
            continue;
        tally_merge(&sum, &x->v[k]);
        if (!put_line(f, &s, &sum, false, (x->first_s + (int64_t)k + 1) * NS_PER_S, e))
            return false;
    }
    return sum.requests == 0 ||
           put_line(f, &s, &sum, true, (x->first_s + (int64_t)x->n) * NS_PER_S, e);
}

static bool put_table(const struct dataset *d, const struct table *t, const char *id, FILE *f,
                      struct err *e)
{
    int64_t first_ns = INT64_MAX, last_ns = 0;
    __int128 n_bytes = 0, n_objects = 0;
    struct seconds x = {0};

    for (size_t i = 0; i < t->n; i++) {
        n_bytes += packed_get(&t->bytes, i);
        n_objects += packed_get(&t->objects, i);
        first_ns = int64_min(first_ns, table_end(t, i));
        last_ns = int64_max(last_ns, table_end(t, i));
    }
    if (n_bytes > INT64_MAX || n_objects > INT64_MAX)
        return err_set(e, "%s: sums of more than 2^63", d->inputs[0].path);
    int64_t n = t->n == 0 ? 0 : last_ns / NS_PER_S - first_ns / NS_PER_S + 1;
    if (n > ANALYSIS_MAX_SEGMENTS)
        return err_set(e, "%s: a run of more than %d seconds", d->inputs[0].path,
                       ANALYSIS_MAX_SEGMENTS);
    x.n = (size_t)n;
    x.first_s = first_ns / NS_PER_S;
    bool ok = mem_new(&x.v, x.n, e);
    for (size_t host = 0; ok && n > 0 && host < d->hosts.n; host++)
        ok = put_series(d, t, host, &x, id, f, e);
    ok = ok && (n == 0 || put_series(d, t, SIZE_MAX, &x, id, f, e));
    free(x.v);
    return ok;
}

bool influx_write(const struct dataset *d, const char *id, FILE *f, struct err *e)
{
    for (size_t i = 0; i < d->n_tables; i++)
        if (!put_table(d, &d->tables[i], id, f, e))
            return false;
    return true;
}
