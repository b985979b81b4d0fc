/* Histogram logs of HdrHistogram, encoding V2 (github.com/HdrHistogram/HdrHistogram,
 * AbstractHistogram and HistogramLogWriter). With three digits and a unit of 1 its buckets are
 * those of libcommon/hist.h. */
#include "analyze/export/export.h"

#include "analyze/base/csort.h"
#include "analyze/estimate/confidence.h"
#include "analyze/export/values.h"
#include "libcommon/hist.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define COOKIE            0x1c849313u
#define COMPRESSED_COOKIE 0x1c849314u
#define HEADER_BYTES      40
#define DIGITS            3
#define MAX_COUNT_BYTES   9 /* of one number */

/* One interval at a time: counts, its encoding, that compressed, and in base64. */
struct encoder {
    uint64_t *count; /* HIST_N_INDEXES */
    unsigned char *raw, *packed, *text;
    size_t packed_bytes;
    size_t first, last; /* the buckets that are not empty; first > last: none */
    int64_t max_ns;
};

/* ---- Encoding ---- */

static unsigned char *put_big(unsigned char *out, uint64_t v, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        *out++ = (unsigned char)(v >> (8 * (n_bytes - 1 - i)));
    return out;
}

/* ZigZag LEB128 of 64 bits, in at most 9 bytes: the ninth has all of its bits. */
static unsigned char *put_number(unsigned char *out, int64_t v)
{
    uint64_t u = ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);

    for (size_t i = 1; i < MAX_COUNT_BYTES && u >= 128; i++) {
        *out++ = (unsigned char)(u | 128);
        u >>= 7;
    }
    *out++ = (unsigned char)u;
    return out;
}

/* Counts by bucket; a negative number is so many empty ones. */
static unsigned char *put_counts(const struct encoder *h, unsigned char *out)
{
    for (size_t i = 0; i <= h->last; i++) {
        size_t n_empty = 0;
        for (; h->count[i] == 0; i++)
            n_empty++;
        if (n_empty > 0)
            out = put_number(out, n_empty == 1 ? 0 : -(int64_t)n_empty);
        out = put_number(out, (int64_t)h->count[i]);
    }
    return out;
}

static size_t put_histogram(const struct encoder *h)
{
    const double ratio = 1;
    uint64_t ratio_bits;
    unsigned char *end = put_counts(h, h->raw + HEADER_BYTES), *out = h->raw;

    memcpy(&ratio_bits, &ratio, sizeof ratio_bits);
    out = put_big(out, COOKIE, 4);
    out = put_big(out, (uint64_t)(end - h->raw) - HEADER_BYTES, 4);
    out = put_big(out, 0, 4); /* normalizing index offset */
    out = put_big(out, DIGITS, 4);
    out = put_big(out, 1, 8); /* lowest and highest value */
    out = put_big(out, (uint64_t)int64_max(h->max_ns, 2), 8);
    put_big(out, ratio_bits, 8);
    return (size_t)(end - h->raw);
}

/* Writes the histogram in base64. False: zlib failed, for want of memory. */
static bool put_encoded(struct encoder *h, FILE *f, struct err *e)
{
    uLongf n_packed = h->packed_bytes;

    if (compress(h->packed + 8, &n_packed, h->raw, put_histogram(h)) != Z_OK)
        return mem_none(e);
    put_big(put_big(h->packed, COMPRESSED_COOKIE, 4), n_packed, 4);
    int n = EVP_EncodeBlock(h->text, h->packed, (int)n_packed + 8);
    fwrite(h->text, 1, (size_t)n, f);
    return true;
}

static bool encoder_init(struct encoder *h, struct err *e)
{
    size_t raw_bytes = HEADER_BYTES + (size_t)HIST_N_INDEXES * 2 * MAX_COUNT_BYTES;

    *h = (struct encoder){.packed_bytes = compressBound(raw_bytes), .first = SIZE_MAX};
    return mem_cleared(&h->count, HIST_N_INDEXES, e) && mem_new(&h->raw, raw_bytes, e) &&
           mem_new(&h->packed, h->packed_bytes + 8, e) &&
           mem_new(&h->text, (h->packed_bytes + 8) / 3 * 4 + 8, e);
}

static void encoder_fini(struct encoder *h)
{
    free(h->count);
    free(h->raw);
    free(h->packed);
    free(h->text);
}

static void count(struct encoder *h, int64_t ns)
{
    size_t i = hist_index(ns);

    h->count[i]++;
    h->first = i < h->first ? i : h->first;
    h->last = i > h->last ? i : h->last;
    h->max_ns = int64_max(h->max_ns, ns);
}

static void clear(struct encoder *h)
{
    if (h->first <= h->last)
        memset(h->count + h->first, 0, (h->last - h->first + 1) * sizeof *h->count);
    h->first = SIZE_MAX;
    h->last = 0;
    h->max_ns = 0;
}

/* ---- Requests by interval ---- */

struct intervals {
    const struct operation *op;
    int64_t start_ns, end_ns, each_ns; /* the active range */
    size_t n;
    size_t *first; /* csort.h */
    uint32_t *row; /* by interval */
};

static size_t interval_of(const struct intervals *v, const struct table *t, size_t i)
{
    size_t k = (size_t)((table_end(t, i) - v->start_ns) / v->each_ns);
    return k < v->n ? k : v->n - 1;
}

/* Sorts the requests that count by the interval in which they end. */
static bool intervals_init(struct intervals *v, const struct operation *op, const struct table *t,
                           struct err *e)
{
    const struct statistics *s = op->statistics;

    *v = (struct intervals){
        .op = op, .start_ns = s->start_ns, .end_ns = s->start_ns + s->duration_ns};
    v->each_ns = op->segments.present ? op->segments.duration_ns : s->duration_ns;
    v->n = (size_t)(s->duration_ns / v->each_ns);
    if (t->n > UINT32_MAX)
        return err_set(e, "more than 4294967295 requests of an operation");
    if (!mem_cleared(&v->first, v->n + 2, e))
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (table_done_within(t, i, v->start_ns, v->end_ns))
            csort_count(v->first, interval_of(v, t, i));
    if (!mem_new(&v->row, csort_sum(v->first, v->n), e))
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (table_done_within(t, i, v->start_ns, v->end_ns))
            v->row[csort_place(v->first, interval_of(v, t, i))] = (uint32_t)i;
    return true;
}

static bool put_interval(const struct intervals *v, size_t k, const struct table *t,
                         int64_t base_ns, struct encoder *h, FILE *f, struct err *e)
{
    int64_t start_ns = v->start_ns + (int64_t)k * v->each_ns;
    int64_t end_ns = k + 1 < v->n ? start_ns + v->each_ns : v->end_ns;

    clear(h);
    for (size_t i = v->first[k]; i < v->first[k + 1]; i++)
        count(h, packed_get(&t->dur, v->row[i]));
    if (h->first > h->last)
        return true;
    fprintf(f, "Tag=%s,%.3f,%.3f,%.6f,", values_name(v->op->op).s,
            (double)(start_ns - base_ns) / 1e9, (double)(end_ns - start_ns) / 1e9,
            (double)h->max_ns / 1e6);
    bool ok = put_encoded(h, f, e);
    putc('\n', f);
    return ok;
}

static bool put_operation(const struct operation *op, const struct table *t, int64_t base_ns,
                          struct encoder *h, FILE *f, struct err *e)
{
    struct intervals v;
    bool ok = intervals_init(&v, op, t, e);

    for (size_t k = 0; ok && k < v.n; k++)
        ok = put_interval(&v, k, t, base_ns, h, f, e);
    free(v.first);
    free(v.row);
    return ok;
}

bool hdr_write(const struct analysis *a, FILE *f, struct err *e)
{
    const int64_t base_ns = a->run_start_ns;
    struct encoder h;
    bool ok = encoder_init(&h, e);

    fprintf(f,
            "#[Durations of successful requests in ns, written by s3analyze]\n"
            "#[Histogram log format version 1.3]\n"
            "#[StartTime: %" PRId64 ".%03" PRId64 " (seconds since epoch), %s]\n"
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
            "\"Interval_Compressed_Histogram\"\n",
            base_ns / 1000000000, base_ns / 1000000 % 1000, rfc3339_format(base_ns).s);
    for (size_t k = 0; ok && k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];
        const struct table *t = dataset_table(a->dataset, op->op);

        ok = op->statistics == NULL || t == NULL || put_operation(op, t, base_ns, &h, f, e);
    }
    encoder_fini(&h);
    return ok;
}
