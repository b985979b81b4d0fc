/* Histogram logs of HdrHistogram, encoding V2 (github.com/HdrHistogram/HdrHistogram,
 * AbstractHistogram and HistogramLogWriter). With three digits and a unit of 1 its buckets are
 * those of libcommon/hist.h. */
#include "analyze/tools/export/export.h"

#include "analyze/data/group.h"
#include "analyze/summary/estimate/confidence.h"
#include "libcommon/hist.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"

#include <endian.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define COOKIE          0x1c849313u
#define PACKED_COOKIE   0x1c849314u
#define DIGITS          3
#define RATIO_OF_1      UINT64_C(0x3ff0000000000000) /* the bits of 1.0 */
#define MAX_COUNT_BYTES 9                            /* of one number */
#define RAW_BYTES       (sizeof(struct header) + (size_t)HIST_N_INDEXES * 2 * MAX_COUNT_BYTES)
#define PACKED_BYTES    (RAW_BYTES + RAW_BYTES / 1000 + 32) /* at the most (zlib.h, compressBound) */

/* The header before the counts, in big-endian order. */
struct header {
    uint32_t cookie, n_count_bytes, index_offset, digits;
    uint64_t lowest, highest; /* value */
    uint64_t ratio;           /* the bits of a double */
};

/* Buffers for one interval: its counts, and the counts encoded, compressed, and in base64. */
struct encoder {
    uint64_t count[HIST_N_INDEXES]; /* zero between intervals */
    unsigned char raw[RAW_BYTES], packed[PACKED_BYTES], text[PACKED_BYTES / 3 * 4 + 8];
};

/* ---- Encoding ---- */

/* Writes a number as ZigZag LEB128 of 64 bits, in at most 9 bytes: the ninth has 8 bits. */
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

/* Writes the counts by bucket, up to the last; a negative number -n stands for n empty buckets. */
static unsigned char *put_counts(const uint64_t *count, size_t last, unsigned char *out)
{
    for (size_t i = 0; i <= last; i++) {
        size_t n_empty = 0;
        for (; count[i] == 0; i++)
            n_empty++;
        if (n_empty > 0)
            out = put_number(out, n_empty == 1 ? 0 : -(int64_t)n_empty);
        out = put_number(out, (int64_t)count[i]);
    }
    return out;
}

static size_t put_histogram(struct encoder *h, int64_t max_ns)
{
    unsigned char *end = put_counts(h->count, hist_index(max_ns), h->raw + sizeof(struct header));
    size_t n = (size_t)(end - h->raw);
    const struct header header = {.cookie = htobe32(COOKIE),
                                  .n_count_bytes = htobe32((uint32_t)(n - sizeof header)),
                                  .digits = htobe32(DIGITS),
                                  .lowest = htobe64(1),
                                  .highest = htobe64((uint64_t)int64_max(max_ns, 2)),
                                  .ratio = htobe64(RATIO_OF_1)};

    memcpy(h->raw, &header, sizeof header);
    return n;
}

/* Writes the histogram in base64. False: out of memory in zlib. */
static bool put_encoded(struct encoder *h, int64_t max_ns, FILE *f, struct err *e)
{
    uint32_t header[2] = {htobe32(PACKED_COOKIE)};
    uLongf n_packed = sizeof h->packed - sizeof header;

    if (compress(h->packed + sizeof header, &n_packed, h->raw, put_histogram(h, max_ns)) != Z_OK)
        return mem_none(e);
    header[1] = htobe32((uint32_t)n_packed);
    memcpy(h->packed, header, sizeof header);
    int n = EVP_EncodeBlock(h->text, h->packed, (int)(sizeof header + n_packed));
    fwrite(h->text, 1, (size_t)n, f);
    return true;
}

/* ---- Requests by interval ---- */

/* The requests of an operation in the active range, by the interval in which they end. */
struct intervals {
    const struct operation *op;
    const struct table *t;
    int64_t start_ns, end_ns, each_ns; /* of the active range; of an interval */
    size_t n, next;
    struct group_rows rows;
};

static size_t interval_of(const void *intervals, size_t row)
{
    const struct intervals *v = intervals;

    if (!table_done_within(v->t, row, v->start_ns, v->end_ns))
        return SIZE_MAX;
    size_t k = (size_t)((table_end(v->t, row) - v->start_ns) / v->each_ns);
    return k < v->n ? k : v->n - 1;
}

static bool put_interval(const struct intervals *v, size_t k, int64_t base_ns, struct encoder *h,
                         FILE *f, struct err *e)
{
    int64_t start_ns = v->start_ns + (int64_t)k * v->each_ns, max_ns = 0;
    int64_t end_ns = k + 1 < v->n ? start_ns + v->each_ns : v->end_ns;

    if (v->rows.first[k] == v->rows.first[k + 1])
        return true;
    for (size_t i = v->rows.first[k]; i < v->rows.first[k + 1]; i++) {
        int64_t ns = packed_get(&v->t->dur, v->rows.row[i]);

        h->count[hist_index(ns)]++;
        max_ns = int64_max(max_ns, ns);
    }
    fputs("Tag=", f);
    benchfmt_put_name(f, v->op->op);
    fprintf(f, ",%.3f,%.3f,%.6f,", (double)(start_ns - base_ns) / 1e9,
            (double)(end_ns - start_ns) / 1e9, (double)max_ns / 1e6);
    bool ok = put_encoded(h, max_ns, f, e);
    putc('\n', f);
    memset(h->count, 0, (hist_index(max_ns) + 1) * sizeof *h->count);
    return ok;
}

static bool intervals_init(struct intervals *v, const struct operation *op, const struct table *t,
                           struct err *e)
{
    const struct statistics *s = op->statistics;

    if (s == NULL || t == NULL)
        return true;
    *v = (struct intervals){
        .op = op, .t = t, .start_ns = s->start_ns, .end_ns = s->start_ns + s->duration_ns};
    v->each_ns = op->segments.present ? op->segments.duration_ns : s->duration_ns;
    v->n = (size_t)(s->duration_ns / v->each_ns);
    if (t->n > UINT32_MAX)
        return err_set(e, "more than 4294967295 requests of an operation");
    return group_rows_by(&v->rows, t->n, NULL, v->n, interval_of, v, e);
}

/* Returns that of n operations whose next interval is the first; NULL: none has one. */
static struct intervals *first_of(struct intervals *v, size_t n)
{
    struct intervals *first = NULL;

    for (; n > 0; n--, v++)
        if (v->next < v->n &&
            (first == NULL || v->start_ns + (int64_t)v->next * v->each_ns <
                                  first->start_ns + (int64_t)first->next * first->each_ns))
            first = v;
    return first;
}

bool hdr_write(const struct analysis *a, FILE *f, struct err *e)
{
    const int64_t base_ns = a->run_start_ns;
    struct encoder *h;
    struct intervals *all = NULL, *v;
    bool ok = mem_cleared(&h, 1, e) && mem_cleared(&all, a->n_operations, e);

    fprintf(f,
            "#[Durations of successful requests in ns, written by s3analyze]\n"
            "#[Histogram log format version 1.3]\n"
            "#[StartTime: %" PRId64 ".%03" PRId64 " (seconds since epoch), %s]\n"
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
            "\"Interval_Compressed_Histogram\"\n",
            base_ns / 1000000000, base_ns / 1000000 % 1000, rfc3339_format(base_ns).s);
    for (size_t k = 0; ok && k < a->n_operations; k++) {
        const struct operation *op = &a->operations[k];
        ok = intervals_init(&all[k], op, dataset_table(a->dataset, op->op), e);
    }
    /* Readers of a log stop at the first line behind the time that they look for. */
    while (ok && (v = first_of(all, a->n_operations)) != NULL)
        ok = put_interval(v, v->next++, base_ns, h, f, e);
    for (size_t k = 0; all != NULL && k < a->n_operations; k++)
        group_rows_fini(&all[k].rows);
    free(all);
    free(h);
    return ok;
}
