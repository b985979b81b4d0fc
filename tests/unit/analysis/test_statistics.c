/* Compares analyze/statistics with a plain computation: requests spread over segments one by one,
 * latencies sorted, then the same functions of analyze/stats. */
#include "analyze/summary/estimate/confidence.h"

#include "libcommon/quantile.h"
#include "tests/unit/statvec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N        5000
#define START_NS INT64_C(1700000000000000000)

static struct err e;

/* A made-up operation: two hosts, some failures, some requests without a first byte. */
struct made {
    struct dataset d;
    struct table t;
    char *hosts[2];
    struct place places[2];
};

static uint64_t seed;

static double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 11) * 0x1p-53;
}

static void made_init(struct made *m, size_t n)
{
    *m = (struct made){.hosts = {"http://a", "http://b"}, .places = {{0, 0}, {1, 0}}};
    m->d.hosts = (struct names){m->hosts, 2};
    m->d.places = m->places;
    m->d.n_places = 2;
    m->t.n = n;
    m->t.start = calloc(n, sizeof *m->t.start);
    m->t.dur.v = calloc(n, sizeof *m->t.dur.v);
    m->t.dur.wide = calloc(n, sizeof *m->t.dur.wide);
    m->t.bytes.v = calloc(n, sizeof *m->t.bytes.v);
    m->t.ttfb.v = calloc(n, sizeof *m->t.ttfb.v);
    m->t.objects.v = calloc(n, sizeof *m->t.objects.v);
    m->t.place.v = calloc(n, sizeof *m->t.place.v);
    m->t.error = calloc(n, sizeof *m->t.error);
    assert_true(m->t.start && m->t.dur.v && m->t.dur.wide && m->t.bytes.v && m->t.ttfb.v &&
                m->t.objects.v && m->t.place.v && m->t.error);
}

static void made_fini(struct made *m)
{
    free(m->t.start);
    free(m->t.dur.v);
    free(m->t.dur.wide);
    free(m->t.bytes.v);
    free(m->t.ttfb.v);
    free(m->t.objects.v);
    free(m->t.place.v);
    free(m->t.error);
}

static void set_duration(struct made *m, size_t i, int64_t ns)
{
    if (ns < (int64_t)PACKED_WIDE_BASE) {
        m->t.dur.v[i] = (uint32_t)ns;
        return;
    }
    m->t.dur.v[i] = PACKED_WIDE_BASE + (uint32_t)m->t.dur.n_wide;
    m->t.dur.wide[m->t.dur.n_wide++] = ns;
}

/* Makes requests over about 3 s: most short, some over several segments, a few longer than the
 * window. */
static void make(struct made *m)
{
    made_init(m, N);
    seed = 7;
    for (size_t i = 0; i < N; i++) {
        double u = uniform();
        int64_t ns = u < .002  ? INT64_C(5000000000)
                     : u < .01 ? (int64_t)(uniform() * 2e8)
                     : u < .03 ? 0
                               : (int64_t)(1e6 + uniform() * 4e6);
        m->t.start[i] = START_NS + (int64_t)(uniform() * 3e9) - (u < .002 ? 1000000000 : 0);
        set_duration(m, i, ns);
        m->t.bytes.v[i] = (uint32_t)(uniform() * 100000);
        m->t.ttfb.v[i] = uniform() < .1 ? PACKED_NONE : (uint32_t)((double)ns * .3);
        m->t.objects.v[i] = 1 + (uint32_t)(uniform() * 3);
        m->t.place.v[i] = uniform() < .4;
        m->t.error[i] = uniform() < .02;
    }
}

static struct statistics_input input_of(const struct made *m)
{
    return (struct statistics_input){
        .dataset = &m->d,
        .table = &m->t,
        .n = m->t.n,
        .start_ns = START_NS + 100000007,
        .end_ns = START_NS + 2650000011,
        .ok = {true, START_NS + 130000003, START_NS + 2500000017},
        .concurrency = 8,
    };
}

/* ---- The plain computation ---- */

struct plain {
    int64_t width_ns;
    size_t n; /* segments */
    double bytes[400], objects[400], all_bytes, busy_ns;
    int64_t n_ok[400], n_failed[400];
    int64_t v[N], ttfb[N];
    size_t segment[N], ttfb_segment[N], n_v, n_ttfb;
};

static double overlap(int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t from = a > c ? a : c, to = b < d ? b : d;
    return from < to ? (double)(to - from) : 0;
}

static void plain_fill(struct plain *p, const struct statistics_input *in)
{
    const struct table *t = in->table;
    memset(p, 0, sizeof *p);
    p->width_ns = stats_segment_width_ns(in->end_ns - in->start_ns);
    p->n = (size_t)((in->end_ns - in->start_ns) / p->width_ns);
    int64_t grid_end = in->start_ns + (int64_t)p->n * p->width_ns;
    for (size_t k = 0; k < in->n; k++) {
        size_t i = in->row != NULL ? in->row[k] : k;
        int64_t a = t->start[i], b = table_end(t, i);
        double bytes = (double)packed_get(&t->bytes, i), ns = (double)(b - a);
        p->busy_ns += overlap(a, b, in->start_ns, in->end_ns);
        for (size_t j = 0; j < p->n; j++) {
            int64_t from = in->start_ns + (int64_t)j * p->width_ns, to = from + p->width_ns;
            bool ends_here = b >= from && b < to;
            p->n_ok[j] += ends_here && t->error[i] == 0;
            p->n_failed[j] += ends_here && t->error[i] != 0;
            if (t->error[i] != 0)
                continue;
            double part = ns > 0 ? overlap(a, b, from, to) / ns : ends_here;
            p->bytes[j] += bytes * part;
            p->objects[j] += (double)packed_get(&t->objects, i) * part;
            /* The last segment also counts what ends after it. */
            bool counts = a >= in->ok.start_ns && b <= in->ok.end_ns && b >= from &&
                          (b < to || j + 1 == p->n);
            if (counts) {
                p->v[p->n_v] = b - a;
                p->segment[p->n_v++] = j;
            }
            if (counts && packed_has(&t->ttfb, i)) {
                p->ttfb[p->n_ttfb] = packed_get(&t->ttfb, i);
                p->ttfb_segment[p->n_ttfb++] = j;
            }
        }
        if (t->error[i] == 0)
            p->all_bytes +=
                ns > 0 ? bytes * overlap(a, b, in->start_ns, in->end_ns) / ns
                       : bytes * (a >= in->start_ns && a < (b < grid_end ? grid_end : in->end_ns));
    }
}

static int compare_int64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void assert_quantiles(const struct plain *p, const int64_t *v, const size_t *segment,
                             size_t n, const struct stats_ci *rate,
                             const struct statistics_latency *got)
{
    static const struct stats_ratio ratios[] = {{1, 2}, {9, 10}, {99, 100}, {999, 1000}};
    static int64_t sorted[N];
    memcpy(sorted, v, n * sizeof *v);
    qsort(sorted, n, sizeof *sorted, compare_int64);
    assert_int_equal(got->times.n, n);
    if (n == 0)
        return;
    for (size_t q = 0; q < 4; q++) {
        int64_t above[400] = {0}, count[400] = {0}, values[5];
        size_t index = quantile_index(n, statistics_permille[q]);
        int64_t value = sorted[index];
        for (size_t i = 0; i < n; i++) {
            above[segment[i]] += v[i] > value;
            count[segment[i]]++;
        }
        struct stats_quantile plan;
        struct stats_ci ci;
        size_t ranks[5];
        assert_true(stats_quantile(ratios[q], above, count, p->n, rate, &plan, &e));
        stats_quantile_ranks(&plan, ranks);
        for (size_t i = 0; i < 5; i++)
            values[i] = sorted[ranks[i]];
        stats_quantile_ci(&plan, values, &ci);
        if (ci.value != (double)value) { /* the report's value is the one above */
            assert_int_equal(index, ranks[0] + 1);
            for (size_t i = 1; i < 5; i++)
                values[i] = ranks[i] == ranks[0] ? value : values[i];
            values[0] = value;
            stats_quantile_ci(&plan, values, &ci);
        }
        const struct stats_ci *x = &got->q[q].ci;
        assert_true(x->value == (double)value);
        assert_int_equal(x->ok, ci.ok);
        assert_true(x->lo == ci.lo && x->hi == ci.hi && x->lo90 == ci.lo90 && x->hi90 == ci.hi90);
        assert_true(x->stretches == ci.stretches);
        assert_true(got->q[q].n_e == plan.n_e && got->q[q].deff == plan.deff);
    }
}

static void assert_close(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("expected %.17g, got %.17g", wanted, got);
}

static void assert_equals_plain(const struct statistics_input *in, const struct plain *p)
{
    struct statistics *s = statistics_new(in, &e);
    assert_non_null(s);
    double seconds = (double)(in->end_ns - in->start_ns) / 1e9, rate[400];
    int64_t n_ok = 0, n_failed = 0, n_all[400];
    assert_int_equal(s->n_segments, p->n);
    assert_int_equal(s->segment_ns, p->width_ns);
    for (size_t j = 0; j < p->n; j++) {
        n_ok += p->n_ok[j];
        n_failed += p->n_failed[j];
        n_all[j] = p->n_ok[j] + p->n_failed[j];
        rate[j] = p->bytes[j] / ((double)p->width_ns / 1e9);
    }
    assert_int_equal(s->n_requests, n_ok);
    assert_int_equal(s->n_failed, n_failed);
    assert_close(s->bytes.mean.value, p->all_bytes / seconds);
    struct stats_ci ci;
    assert_true(stats_median_segment(rate, p->n, &ci, &e));
    if (ci.ok)
        assert_close(s->bytes.median.hi, ci.hi);
    stats_take_failures(rate, p->n_failed, n_all, p->n);
    assert_true(stats_mean(p->all_bytes / seconds, rate, p->n, n_ok, &ci, &e));
    assert_int_equal(s->bytes.mean.ok, ci.ok);
    if (ci.ok)
        assert_close(s->bytes.mean.se, ci.se);
    assert_true(stats_error_rate(NAN, p->n_failed, n_all, p->n, &ci, &e));
    assert_int_equal(s->error_rate.ok, ci.ok);
    assert_true(n_ok + n_failed == 0 || s->error_rate.value == ci.value);
    assert_close(s->utilisation_frac, p->busy_ns / seconds / 1e9 / (double)in->concurrency);
    assert_quantiles(p, p->v, p->segment, p->n_v, &s->objects.mean, &s->duration);
    assert_quantiles(p, p->ttfb, p->ttfb_segment, p->n_ttfb, &s->objects.mean, &s->ttfb);
    statistics_free(s);
}

/* Compares row by row, and with blocks if all rows are used. */
static void assert_as_plain(const struct statistics_input *in)
{
    static struct plain p;
    plain_fill(&p, in);
    assert_equals_plain(in, &p);
    if (in->row != NULL)
        return;
    struct blocks blocks;
    struct statistics_input by_blocks = *in;
    assert_true(blocks_init(&blocks, in->table, in->dataset->n_places, &e));
    for (size_t b = 0; b < blocks.n; b++)
        blocks_look(&blocks, b);
    by_blocks.blocks = &blocks;
    assert_equals_plain(&by_blocks, &p);
    blocks_fini(&blocks);
}

static void test_against_plain(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    struct statistics_input in = input_of(&m);
    assert_as_plain(&in);
    in.end_ns = in.ok.end_ns = in.start_ns + 1234567; /* no segment at all */
    assert_as_plain(&in);
    in.end_ns = in.ok.end_ns = in.start_ns + INT64_C(60000000000); /* most of it empty */
    assert_as_plain(&in);
    made_fini(&m);
}

/* Runs of rows that lie within one segment, as recorded rows do: some with failures among them,
 * some across two segments, and some around the end of the last one. */
static void test_rows_in_order(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    struct statistics_input in = input_of(&m);
    int64_t width_ns = stats_segment_width_ns(in.end_ns - in.start_ns);
    int64_t n_segments = (in.end_ns - in.start_ns) / width_ns;
    int64_t grid_end_ns = in.start_ns + n_segments * width_ns;
    m.t.dur.n_wide = 0;
    for (size_t i = 0; i < N; i++) {
        int64_t run = (int64_t)i / 256, of_run = (int64_t)i % 256;
        int64_t segment = run == 10              ? n_segments - 1
                          : run > 10 && run < 13 ? n_segments
                                                 : 5 * run + 1;
        int64_t begin_ns = in.start_ns + segment * width_ns - (run % 5 == 3 ? 100000 : 0);
        int64_t end_ns = begin_ns + 1000000 + (int64_t)(uniform() * 4e6);
        m.t.start[i] = begin_ns + 1000 * of_run;
        if (run == 10 && of_run == 255)
            end_ns = grid_end_ns;
        if (run == 12)
            end_ns = m.t.start[i] = grid_end_ns;
        set_duration(&m, i, end_ns - m.t.start[i]);
        m.t.error[i] = run % 5 == 4 ? m.t.error[i] : 0;
    }
    assert_as_plain(&in);
    made_fini(&m);
}

static void test_rows(void **state)
{
    (void)state;
    struct made m;
    static uint32_t row[N];
    make(&m);
    struct statistics_input in = input_of(&m);
    in.row = row;
    in.n = 0;
    for (size_t i = 0; i < N; i += 3)
        row[in.n++] = (uint32_t)i;
    assert_as_plain(&in);
    in.n = 25;
    assert_as_plain(&in);
    in.n = 0;
    assert_as_plain(&in);
    made_fini(&m);
}

/* Constant and near-constant latencies: whole buckets of the histogram are quantiles. */
static void test_few_values(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    m.t.dur.n_wide = 0;
    for (size_t i = 0; i < N; i++)
        set_duration(&m, i, i % 50 == 0 ? 9000000 : 3000000);
    struct statistics_input in = input_of(&m);
    assert_as_plain(&in);
    for (size_t i = 0; i < N; i++)
        m.t.dur.v[i] = 3000000 + (uint32_t)(i % 7);
    assert_as_plain(&in);
    for (size_t i = 0; i < N; i++)
        m.t.dur.v[i] = 0;
    assert_as_plain(&in);
    made_fini(&m);
}

/* The order of rows changes nothing, not even the last bit. */
static void test_order(void **state)
{
    (void)state;
    struct made m;
    static uint32_t row[N];
    make(&m);
    struct statistics_input in = input_of(&m);
    struct statistics *a = statistics_new(&in, &e);
    for (size_t i = 0; i < N; i++)
        row[i] = (uint32_t)(N - 1 - i);
    in.row = row;
    struct statistics *b = statistics_new(&in, &e);
    assert_true(a != NULL && b != NULL);
    assert_true(a->bytes.mean.value == b->bytes.mean.value && a->bytes.mean.se == b->bytes.mean.se);
    assert_true(a->objects.median.lo == b->objects.median.lo);
    assert_true(a->duration.q[2].ci.hi == b->duration.q[2].ci.hi);
    statistics_free(a);
    statistics_free(b);
    made_fini(&m);
}

/* Returns why an interval from 98 to 102 is unreliable, if the run has this finding. */
static const char *doubt_with(double stretches, const char *kind, double lost_frac, bool is_timed,
                              enum finding_scope scope, size_t n_because)
{
    struct finding f = finding_of(kind, true, lost_frac);
    const struct findings all = {.v = &f, .n = 1};
    struct statistics s = {
        .objects.mean = {.ok = true, .value = 100, .lo = 98, .hi = 102, .stretches = stretches}};
    f.has_start = is_timed;
    f.scope = scope;
    f.n_because = n_because;
    f.op = "PUT";
    statistics_find_change(&s, &all, "GET");
    assert_null(s.change); /* of another operation */
    f.op = NULL;
    statistics_find_change(&s, &all, "GET");
    return statistics_doubt(&s, &s.objects.mean);
}

static void test_doubt(void **state)
{
    (void)state;
    const char *noise = doubt_with(12, "errors", .5, true, SCOPE_SYSTEM, 0);
    assert_non_null(strstr(noise, "noise lasts too long"));
    assert_string_equal(doubt_with(13, "errors", .5, true, SCOPE_SYSTEM, 0), "");
    assert_string_equal(doubt_with(0, "errors", .5, true, SCOPE_SYSTEM, 0), "");
    /* A change is the reason for noise that lasts; a short stall, or a host that is slow all the
     * time, is not. */
    assert_non_null(strstr(doubt_with(12, "drop", .01, true, SCOPE_SYSTEM, 1), "a drop"));
    assert_non_null(strstr(doubt_with(12, "drift", .01, false, SCOPE_SYSTEM, 0), "a drift"));
    assert_string_equal(doubt_with(12, "stall", .01, true, SCOPE_SYSTEM, 0), noise);
    assert_non_null(strstr(doubt_with(12, "stall", .02, true, SCOPE_SYSTEM, 1), "a stall"));
    assert_string_equal(doubt_with(12, "slow-host", .5, false, SCOPE_HOST, 0), noise);
    /* What happened once and costs more than the interval shows. */
    assert_non_null(strstr(doubt_with(50, "stall", .03, true, SCOPE_SYSTEM, 0), "a stall"));
    assert_non_null(strstr(doubt_with(50, "slow-host", .03, true, SCOPE_HOST, 0), "a slow host"));
    assert_string_equal(doubt_with(50, "stall", .01, true, SCOPE_SYSTEM, 0), "");
    assert_string_equal(doubt_with(50, "drop", .03, true, SCOPE_SYSTEM, 1), "");
    assert_string_equal(doubt_with(50, "swings", .03, false, SCOPE_SYSTEM, 0), "");
}

static void test_co_interval(void **state)
{
    (void)state;
    struct made m;
    make(&m);
    struct statistics_input in = input_of(&m);
    static struct plain p;
    plain_fill(&p, &in);
    in.co_interval_ns = 1000000;
    struct statistics *s = statistics_new(&in, &e);
    assert_non_null(s);
    assert_int_equal(s->co.n, stats_co_count(p.v, p.n_v, 1000000));
    assert_int_equal(s->co.q_ns[2],
                     stats_co_value(p.v, p.n_v, 1000000, quantile_index(s->co.n, 990) + 1));
    assert_true(s->co.q_ns[0] <= s->co.q_ns[3]);
    statistics_free(s);
    made_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_plain), cmocka_unit_test(test_rows_in_order),
        cmocka_unit_test(test_rows),          cmocka_unit_test(test_few_values),
        cmocka_unit_test(test_order),         cmocka_unit_test(test_doubt),
        cmocka_unit_test(test_co_interval),
    };
    stats_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
