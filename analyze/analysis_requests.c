/* Request statistics (section 8). Quantiles are exact, sums are exact integers. */
#include "analysis_internal.h"

#include "hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Size classes (section 8, "Several sizes"); a size below edge[i + 1] and not below edge[i] is of class i. */
#define N_CLASSES 14
static const int64_t class_edges[N_CLASSES + 1] = {
    0,
    1,
    10,
    100,
    INT64_C(1) << 10,
    INT64_C(10) << 10,
    INT64_C(100) << 10,
    INT64_C(1) << 20,
    INT64_C(10) << 20,
    INT64_C(100) << 20,
    INT64_C(1) << 30,
    INT64_C(10) << 30,
    INT64_C(100) << 30,
    INT64_C(1) << 40,
    INT64_MAX,
};

static size_t class_of(int64_t bytes)
{
    size_t c = 0;
    while (c + 1 < N_CLASSES && bytes >= class_edges[c + 1])
        c++;
    return c;
}

/* ---- Which rows ---- */

/* The successful requests of a table inside a range, or the first or last ones of a list of objects. */
struct rows {
    const struct table *t;
    struct segment_range range; /* unless pair != NULL */
    const uint64_t *pair;
    unsigned shift; /* 0: first, 32: last row of a pair */
    size_t n;       /* rows or pairs to look at */
};

/* Row k of the source; false: not in it. */
static inline bool rows_get(const struct rows *r, size_t k, size_t *row)
{
    if (r->pair != NULL) {
        *row = (uint32_t)(r->pair[k] >> r->shift);
        return true;
    }
    *row = k;
    return r->t->error[k] == 0 && r->t->start[k] >= r->range.start_ns &&
           table_end(r->t, k) <= r->range.end_ns;
}

/* ---- Grouped ---- */

enum part_kind { BY_NOTHING, BY_KEY, BY_SIZE };

struct parts {
    enum part_kind kind;
    size_t n;
    const uint32_t *of_place;         /* BY_KEY */
    const uint8_t *of_class;          /* BY_SIZE */
};

static inline size_t part_of(const struct parts *p, const struct table *t, size_t row)
{
    switch (p->kind) {
    case BY_KEY:
        return p->of_place[t->place[row]];
    case BY_SIZE:
        return p->of_class[class_of(packed_get(&t->bytes, row))];
    case BY_NOTHING:
        break;
    }
    return 0;
}

/* ---- Which value ---- */

enum value_kind { VALUE_DURATION, VALUE_TTFB, VALUE_RESPONSE, VALUE_RATE };

/* Bytes per second as the bits of a double: those of positive doubles sort as the doubles do. */
static inline int64_t rate_bits(int64_t bytes, int64_t duration_ns)
{
    double rate = (double)bytes / ((double)duration_ns / 1e9);
    int64_t bits;
    memcpy(&bits, &rate, sizeof bits);
    return bits;
}

static inline double bits_rate(int64_t bits)
{
    double rate;
    memcpy(&rate, &bits, sizeof rate);
    return rate;
}

static inline bool value_get(enum value_kind kind, const struct table *t, size_t row, int64_t *out)
{
    switch (kind) {
    case VALUE_DURATION:
        *out = packed_get(&t->dur, row);
        return true;
    case VALUE_TTFB:
        if (!packed_has(&t->ttfb, row))
            return false;
        *out = packed_get(&t->ttfb, row);
        return true;
    case VALUE_RESPONSE:
        if (!packed_has(&t->late, row))
            return false;
        *out = packed_get(&t->dur, row) + packed_get(&t->late, row);
        return true;
    case VALUE_RATE:
        break;
    }
    int64_t bytes = packed_get(&t->bytes, row), duration_ns = packed_get(&t->dur, row);
    if (bytes == 0 || duration_ns == 0)
        return false;
    *out = rate_bits(bytes, duration_ns);
    return true;
}

/* Values part by part: those of part p are v[first[p]] .. v[first[p + 1] - 1]. 8 bytes a row. */
struct sample {
    int64_t *v;
    size_t *first;
    size_t n;
};

static bool sample_init(struct sample *s, const struct rows *rows, const struct parts *parts,
                        enum value_kind kind, struct err *e)
{
    *s = (struct sample){.first = calloc(parts->n + 2, sizeof *s->first)};
    if (s->first == NULL)
        return err_set(e, "out of memory");
    size_t *next = s->first + 1; /* as in group_rows_init */
    size_t row;
    int64_t value;
    for (size_t k = 0; k < rows->n; k++)
        if (rows_get(rows, k, &row) && value_get(kind, rows->t, row, &value))
            next[part_of(parts, rows->t, row) + 1]++;
    for (size_t p = 1; p <= parts->n; p++)
        next[p] += next[p - 1];
    s->n = next[parts->n];
    s->v = malloc((s->n + 1) * sizeof *s->v);
    if (s->v == NULL)
        return err_set(e, "out of memory");
    for (size_t k = 0; k < rows->n; k++)
        if (rows_get(rows, k, &row) && value_get(kind, rows->t, row, &value))
            s->v[next[part_of(parts, rows->t, row)]++] = value;
    return true;
}

static void sample_fini(struct sample *s)
{
    free(s->v);
    free(s->first);
}

/* ---- Figures of an array of values ---- */

struct moments {
    double mean, stddev; /* stddev (n - 1) NaN for one value */
    int64_t min, max;
};

static struct moments moments_of(const int64_t *v, size_t n)
{
    __int128 sum = 0;
    struct moments m = {.min = INT64_MAX, .max = INT64_MIN, .stddev = NAN};
    for (size_t i = 0; i < n; i++) {
        sum += v[i];
        m.min = v[i] < m.min ? v[i] : m.min;
        m.max = v[i] > m.max ? v[i] : m.max;
    }
    m.mean = (double)sum / (double)n;
    if (n < 2)
        return m;
    /* Squares of deviations from an integer next to the mean, in 192 bits. */
    int64_t centre = (int64_t)(sum / (__int128)n);
    unsigned __int128 squares = 0;
    uint64_t carries = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t d = v[i] >= centre ? (uint64_t)v[i] - (uint64_t)centre
                                    : (uint64_t)centre - (uint64_t)v[i];
        unsigned __int128 square = (unsigned __int128)d * d;
        squares += square;
        carries += squares < square;
    }
    double rest = (double)(sum - (__int128)centre * (__int128)n); /* sum of the deviations, |rest| < n */
    double total = ldexp((double)carries, 128) + (double)squares - rest * (rest / (double)n);
    m.stddev = sqrt(total / (double)(n - 1));
    return m;
}

/* Quantiles of n > 0 values; percents ascending. */
static bool quantiles(const int64_t *v, size_t n, const unsigned *percents, size_t n_percents,
                      int64_t *out, struct err *e)
{
    size_t ranks[8];
    for (size_t i = 0; i < n_percents; i++)
        ranks[i] = analysis_quantile_index(n, percents[i]);
    return hist_select(v, n, ranks, n_percents, out) || err_set(e, "out of memory");
}

static bool fill_durations(struct durations *d, const int64_t *v, size_t n, struct err *e)
{
    if (n == 0)
        return true;
    int64_t q[3];
    if (!quantiles(v, n, (const unsigned[]){50, 90, 99}, 3, q, e))
        return false;
    struct moments m = moments_of(v, n);
    *d = (struct durations){
        .present = true,
        .n = (int64_t)n,
        .mean_ns = m.mean,
        .stddev_ns = m.stddev,
        .p50_ns = q[0],
        .p90_ns = q[1],
        .p99_ns = q[2],
        .fastest_ns = m.min,
        .slowest_ns = m.max,
        .ttfb = d->ttfb,
    };
    return true;
}

static bool fill_ttfb(struct ttfb *t, const int64_t *v, size_t n, struct err *e)
{
    if (n == 0)
        return true;
    int64_t q[5];
    if (!quantiles(v, n, (const unsigned[]){25, 50, 75, 90, 99}, 5, q, e))
        return false;
    struct moments m = moments_of(v, n);
    *t = (struct ttfb){
        .present = true,
        .n = (int64_t)n,
        .mean_ns = m.mean,
        .stddev_ns = m.stddev,
        .best_ns = m.min,
        .p25_ns = q[0],
        .p50_ns = q[1],
        .p75_ns = q[2],
        .p90_ns = q[3],
        .p99_ns = q[4],
        .worst_ns = m.max,
    };
    return true;
}

/* ---- Single size ---- */

/* Durations and TTFBs of the rows: of all together and, where not NULL, of each part. */
static bool single_figures(const struct rows *rows, const struct parts *parts,
                           struct durations *all, struct durations *by_part, struct err *e)
{
    struct sample s;
    bool ok = sample_init(&s, rows, parts, VALUE_DURATION, e);
    if (ok && all != NULL)
        ok = fill_durations(all, s.v, s.n, e);
    for (size_t p = 0; ok && by_part != NULL && p < parts->n; p++)
        ok = fill_durations(&by_part[p], s.v + s.first[p], s.first[p + 1] - s.first[p], e);
    sample_fini(&s);
    if (!ok)
        return false;

    ok = sample_init(&s, rows, parts, VALUE_TTFB, e);
    if (ok && all != NULL)
        ok = fill_ttfb(&all->ttfb, s.v, s.n, e);
    for (size_t p = 0; ok && by_part != NULL && p < parts->n; p++)
        ok = fill_ttfb(&by_part[p].ttfb, s.v + s.first[p], s.first[p + 1] - s.first[p], e);
    sample_fini(&s);
    return ok;
}

/* ---- Several sizes ---- */

struct size_sums {
    int64_t n, n_rated;
    __int128 bytes, ns, rated_bytes, rated_ns;
};

static void add_sizes(struct size_sums *sums, const struct rows *rows, const struct parts *parts)
{
    size_t row;
    for (size_t k = 0; k < rows->n; k++) {
        if (!rows_get(rows, k, &row))
            continue;
        struct size_sums *x = &sums[part_of(parts, rows->t, row)];
        int64_t bytes = packed_get(&rows->t->bytes, row), ns = packed_get(&rows->t->dur, row);
        x->n++;
        x->bytes += bytes;
        x->ns += ns;
        if (bytes > 0 && ns > 0) {
            x->n_rated++;
            x->rated_bytes += bytes;
            x->rated_ns += ns;
        }
    }
}

/* v: the rates' bits, n of them; reordered towards small numbers, which quantiles() finds faster. */
static bool fill_sized(struct sized *s, const struct size_sums *sums, int64_t *v, size_t n,
                       struct err *e)
{
    if (sums->n == 0)
        return true;
    *s = (struct sized){
        .present = true,
        .n = sums->n,
        .n_unrated = sums->n - sums->n_rated,
        .mean_bytes = (double)sums->bytes / (double)sums->n,
        .mean_ns = (double)sums->ns / (double)sums->n,
        .rated = n > 0,
    };
    if (n == 0)
        return true;
    int64_t min = INT64_MAX, max = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        min = v[i] < min ? v[i] : min;
        max = v[i] > max ? v[i] : max;
    }
    for (size_t i = 0; i < n; i++)
        v[i] = max - v[i]; /* the fastest first */
    int64_t q[3];
    if (!quantiles(v, n, (const unsigned[]){50, 90, 99}, 3, q, e))
        return false;
    s->mean_bytes_per_s = (double)sums->rated_bytes / ((double)sums->rated_ns / 1e9);
    s->fastest_bytes_per_s = bits_rate(max);
    s->p50_bytes_per_s = bits_rate(max - q[0]);
    s->p90_bytes_per_s = bits_rate(max - q[1]);
    s->p99_bytes_per_s = bits_rate(max - q[2]);
    s->slowest_bytes_per_s = bits_rate(min);
    return true;
}

/* out[p] for each part. */
static bool sized_figures(const struct rows *rows, const struct parts *parts,
                          struct sized *const *out, struct err *e)
{
    struct size_sums *sums = calloc(parts->n + 1, sizeof *sums);
    if (sums == NULL)
        return err_set(e, "out of memory");
    add_sizes(sums, rows, parts);
    struct sample s;
    bool ok = sample_init(&s, rows, parts, VALUE_RATE, e);
    for (size_t p = 0; ok && p < parts->n; p++)
        ok = fill_sized(out[p], &sums[p], s.v + s.first[p], s.first[p + 1] - s.first[p], e);
    sample_fini(&s);
    free(sums);
    if (!ok)
        return false;

    ok = sample_init(&s, rows, parts, VALUE_TTFB, e);
    for (size_t p = 0; ok && p < parts->n; p++)
        ok = fill_ttfb(&out[p]->ttfb, s.v + s.first[p], s.first[p + 1] - s.first[p], e);
    sample_fini(&s);
    return ok;
}

/* Joins neighbouring size classes to buckets. of_class: bucket of each class that has requests;
 * edges[b] .. edges[b + 1]: sizes of bucket b. Returns the number of buckets. */
static size_t join_classes(const size_t *n_by_class, size_t n, uint8_t *of_class, int64_t *edges)
{
    size_t first = 0, last = N_CLASSES - 1;
    while (n_by_class[first] == 0)
        first++;
    while (n_by_class[last] == 0)
        last--;
    size_t least = n / 20 > 1 ? n / 20 : 1;
    size_t n_buckets = 0, in_bucket = 0;
    edges[0] = class_edges[first];
    for (size_t c = first; c <= last; c++) {
        in_bucket += n_by_class[c];
        of_class[c] = (uint8_t)n_buckets;
        if (in_bucket >= least) {
            edges[++n_buckets] = class_edges[c + 1];
            in_bucket = 0;
        }
    }
    /* What is left at the top joins the last bucket. */
    for (size_t c = first; c <= last; c++)
        if (of_class[c] == n_buckets)
            of_class[c]--;
    edges[n_buckets] = class_edges[last + 1];
    return n_buckets;
}

static bool first_access_by_size(struct requests *r, const struct dataset *d,
                                 const struct table *t, const int64_t *edges, struct err *e)
{
    struct access a;
    const struct parts one = {.kind = BY_NOTHING, .n = 1};
    bool ok = access_init(&a, d, t, edges, r->n_sizes, e);
    for (size_t b = 0; ok && b < r->n_sizes; b++) {
        struct rows rows = {.t = t, .pair = a.pair + a.first[b], .n = a.n[b]};
        struct sized *out = &r->sizes[b].first_access;
        if (a.repeated[b])
            ok = sized_figures(&rows, &one, &out, e);
    }
    access_fini(&a);
    return ok;
}

static bool by_size(struct requests *r, const struct dataset *d, const struct rows *rows,
                    struct err *e)
{
    size_t n_by_class[N_CLASSES] = {0}, n = 0, row;
    __int128 bytes = 0;
    for (size_t k = 0; k < rows->n; k++) {
        if (rows_get(rows, k, &row)) {
            int64_t size = packed_get(&rows->t->bytes, row);
            n_by_class[class_of(size)]++;
            bytes += size;
            n++;
        }
    }
    uint8_t of_class[N_CLASSES] = {0};
    int64_t edges[N_CLASSES + 1];
    r->n = (int64_t)n;
    r->mean_bytes = (double)bytes / (double)n;
    r->n_sizes = join_classes(n_by_class, n, of_class, edges);
    r->sizes = calloc(r->n_sizes, sizeof *r->sizes);
    if (r->sizes == NULL)
        return err_set(e, "out of memory");

    struct parts parts = {.kind = BY_SIZE, .n = r->n_sizes, .of_class = of_class};
    struct sized *out[N_CLASSES];
    for (size_t b = 0; b < r->n_sizes; b++) {
        r->sizes[b].min_bytes = edges[b];
        r->sizes[b].max_bytes = edges[b + 1] == INT64_MAX ? -1 : edges[b + 1];
        out[b] = &r->sizes[b].all;
    }
    return sized_figures(rows, &parts, out, e) && first_access_by_size(r, d, rows->t, edges, e);
}

/* ---- Together ---- */

/* The hosts that have requests in the set, in order; `single` and `sized` are by key, one of them NULL. */
static bool fill_hosts(struct requests *r, const struct set *s, const struct durations *single,
                       const struct sized *sized, struct err *e)
{
    const struct group_keys *hosts = &s->hosts.keys;
    r->hosts = calloc(hosts->n, sizeof *r->hosts);
    if (r->hosts == NULL)
        return err_set(e, "out of memory");
    for (size_t k = 0; k < hosts->n; k++) {
        if (!(single != NULL ? single[k].present : sized[k].present))
            continue;
        struct host_requests *h = &r->hosts[r->n_hosts++];
        h->host = s->d->hosts.v[hosts->id[k]];
        if (single != NULL)
            h->single = single[k];
        else
            h->sized = sized[k];
    }
    return true;
}

static bool hosts_single(struct requests *r, const struct set *s, const struct rows *rows,
                         struct err *e)
{
    size_t n = s->hosts.keys.n;
    struct parts hosts = {.kind = n > 1 ? BY_KEY : BY_NOTHING,
                          .n = n,
                          .of_place = s->hosts.keys.of_place};
    struct durations *by_host = calloc(n + 1, sizeof *by_host);
    bool ok = by_host != NULL || err_set(e, "out of memory");
    ok = ok && single_figures(rows, &hosts, &r->all, n > 1 ? by_host : NULL, e);
    r->n = r->all.n;
    if (ok && n > 1)
        ok = fill_hosts(r, s, by_host, NULL, e);
    free(by_host);
    return ok;
}

static bool hosts_sized(struct requests *r, const struct set *s, const struct rows *rows,
                        struct err *e)
{
    size_t n = s->hosts.keys.n;
    if (n < 2)
        return true;
    struct parts hosts = {.kind = BY_KEY, .n = n, .of_place = s->hosts.keys.of_place};
    struct sized *by_host = calloc(n, sizeof *by_host);
    struct sized **out = malloc(n * sizeof *out);
    bool ok = (by_host != NULL && out != NULL) || err_set(e, "out of memory");
    for (size_t k = 0; ok && k < n; k++)
        out[k] = &by_host[k];
    ok = ok && sized_figures(rows, &hosts, out, e) && fill_hosts(r, s, NULL, by_host, e);
    free(by_host);
    free(out);
    return ok;
}

static bool accesses(struct requests *r, const struct dataset *d, const struct table *t,
                     struct err *e)
{
    static const int64_t all_sizes[] = {0, INT64_MAX};
    const struct parts one = {.kind = BY_NOTHING, .n = 1};
    struct access a;
    bool ok = access_init(&a, d, t, all_sizes, 1, e);
    if (ok && a.repeated[0]) {
        struct rows rows = {.t = t, .pair = a.pair, .n = a.n[0]};
        ok = single_figures(&rows, &one, &r->first_access, NULL, e);
        rows.shift = 32;
        ok = ok && single_figures(&rows, &one, &r->last_access, NULL, e);
    }
    access_fini(&a);
    return ok;
}

static bool response_times(struct requests *r, const struct rows *rows, struct err *e)
{
    const struct parts one = {.kind = BY_NOTHING, .n = 1};
    struct sample s;
    bool ok = sample_init(&s, rows, &one, VALUE_RESPONSE, e) &&
              fill_durations(&r->response_time, s.v, s.n, e);
    sample_fini(&s);
    return ok;
}

static bool clients_requests(struct operation *op, const struct set *s, const struct rows *rows,
                             struct err *e)
{
    size_t n = s->clients.keys.n;
    if (n < 2)
        return true;
    struct parts clients = {.kind = BY_KEY, .n = n, .of_place = s->clients.keys.of_place};
    struct durations *by_client = calloc(n, sizeof *by_client);
    bool ok = by_client != NULL || err_set(e, "out of memory");
    ok = ok && single_figures(rows, &clients, NULL, by_client, e);
    for (size_t k = 0; ok && k < n; k++)
        op->clients[k].requests = by_client[k];
    free(by_client);
    return ok;
}

bool analysis_requests(struct operation *op, const struct set *s, struct err *e)
{
    const struct table *t = s->tables[0];
    struct requests *r = &op->requests;
    struct rows rows = {.t = t, .range = s->ok, .n = t->n};
    bool any = false;
    size_t row;
    for (size_t k = 0; segment_range_usable(&s->ok) && !any && k < rows.n; k++)
        any = rows_get(&rows, k, &row);
    if (!any)
        return true;

    r->present = true;
    r->single_size = s->min_bytes == s->max_bytes;
    if (r->single_size) {
        r->object_size_bytes = s->min_bytes;
        if (!hosts_single(r, s, &rows, e) || !accesses(r, s->d, t, e))
            return false;
    } else if (!by_size(r, s->d, &rows, e) || !hosts_sized(r, s, &rows, e)) {
        return false;
    }
    if (t->late.v != NULL && !response_times(r, &rows, e))
        return false;
    return clients_requests(op, s, &rows, e);
}

void analysis_requests_free(struct requests *r)
{
    free(r->sizes);
    free(r->hosts);
}
