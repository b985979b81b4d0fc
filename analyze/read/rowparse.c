#include "analyze/read/rowparse.h"

#include "analyze/read/rowcsv.h"
#include "analyze/read/rowfields.h"
#include "libcommon/le.h"
#include "libcommon/rfc3339.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_X86 1
#endif

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* "yyyy-mm-ddThh:mm:" */
#define PREFIX_LEN 17

bool rowparse_init(struct rowparse *p, const struct recfile_options *options,
                   const struct rowparse_events *events, struct err *e)
{
    memset(p, 0, sizeof *p);
    p->options = options;
    p->events = events;
    enum rowindex_kind kind = options->portable ? ROWINDEX_PORTABLE : rowindex_best_kind();
    rowindex_init(&p->index, kind);
    p->csv = rowcsv_new(e);
    return p->csv != NULL;
}

void rowparse_fini(struct rowparse *p)
{
    rowindex_fini(&p->index);
    rowcsv_free(p->csv);
}

/* ---- Fast path ---- */

#define ASCII_ZEROS UINT64_C(0x3030303030303030)

/* Returns the number of 8 digits; each byte of x is a value 0 to 9, the first digit in the lowest.
 * Makes *bad nonzero if a byte is not. Multiplications join pairs, then fours, then eights. */
static inline uint32_t eight_digits(uint64_t x, uint64_t *bad)
{
    *bad |= (x | (x + UINT64_C(0x0606060606060606))) & UINT64_C(0xf0f0f0f0f0f0f0f0);
    x = (x * 10) + (x >> 8);
    return (uint32_t)(((x & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064) +
                       ((x >> 16) & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001)) >>
                      32);
}

/* The value of a missing column. */
static const char nothing[RECORD_PADDING];

/* Parses a time of any form; the faster code takes only UTC times with a fraction in the same
 * minute as the last one. Sets *m for the next time. */
static __attribute__((noinline)) bool time_general(struct rowparse_minute *m, const char *s,
                                                   size_t n, int64_t *out)
{
    if (!rfc3339_parse(s, n, out))
        return false;
    if (n > PREFIX_LEN + 2 && s[n - 1] == 'Z') {
        char minute[PREFIX_LEN + 4];
        int64_t base;

        memcpy(minute, s, PREFIX_LEN);
        memcpy(minute + PREFIX_LEN, "00Z", 3);
        if (rfc3339_parse(minute, PREFIX_LEN + 3, &base)) {
            memcpy(m->prefix, s, PREFIX_LEN);
            m->base_ns = base;
        }
    }
    return true;
}

/* Adds seconds and ns to the minute m. rfc3339_parse accepted the minute, so only the last one of
 * the range can overflow: false. */
static inline __attribute__((always_inline)) bool
time_in(const struct rowparse_minute *m, uint32_t seconds, uint32_t ns, int64_t *out)
{
    return !__builtin_add_overflow(m->base_ns, (int64_t)seconds * 1000000000 + (int64_t)ns, out);
}

/* Parses one time. Both functions read up to 33 bytes at s whatever n is, which the text's padding
 * allows. They do not branch on the number of digits, which changes from row to row: missing digits
 * are 0. */
typedef bool time_reader(struct rowparse_minute *m, const char *s, size_t n, int64_t *out);

static inline bool parse_time(struct rowparse_minute *m, const char *s, size_t n, int64_t *out)
{
    uint64_t differs = (le_load(s, 8) ^ le_load(m->prefix, 8)) |
                       (le_load(s + 8, 8) ^ le_load(m->prefix + 8, 8)) |
                       (uint64_t)(unsigned char)(s[16] ^ m->prefix[16]);
    size_t n_digits = n - (PREFIX_LEN + 4); /* of the fraction */
    if (unlikely(differs || n_digits - 1 > 8 || s[19] != '.' || s[n - 1] != 'Z'))
        return time_general(m, s, n, out);

    uint64_t bad = 0, n_first = n_digits < 8 ? n_digits : 8;
    uint64_t x = (le_load(s + 20, 8) ^ ASCII_ZEROS) & (UINT64_MAX >> (64 - 8 * n_first));
    unsigned tens = (unsigned char)s[17] - '0', ones = (unsigned char)s[18] - '0';
    unsigned ninth = ((unsigned char)s[28] - (unsigned)'0') & (0u - (n_digits == 9));
    uint32_t ns = eight_digits(x, &bad) * 10 + ninth;
    if (unlikely(bad || tens > 5 || ones > 9 || ninth > 9))
        return false;
    return time_in(m, tens * 10 + ones, ns, out);
}

#ifdef HAVE_X86
/* Like parse_time, with vectors of 16 bytes: joins digits to pairs, and pairs to fours. */
__attribute__((target("avx2"))) static inline bool
parse_time_avx2(struct rowparse_minute *m, const char *s, size_t n, int64_t *out)
{
    /* Arranges "SS.fffffffff" as 0 0 S S f1 ... f8 0 f9 0 0; `digit` has the number of the
     * fraction's digit at each place. */
    const __m128i place = _mm_setr_epi8(-1, -1, 0, 1, 3, 4, 5, 6, 7, 8, 9, 10, -1, 11, -1, -1);
    const __m128i digit = _mm_setr_epi8(0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 9, 0, 0);
    const __m128i in_pairs = _mm_set1_epi16(0x010a), /* 10, 1 */
        in_fours = _mm_setr_epi16(100, 1, 100, 1, 100, 1, 1, 1);
    __m128i prefix = _mm_loadu_si128((const __m128i *)(const void *)m->prefix);
    __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)s), prefix);
    size_t n_digits = n - (PREFIX_LEN + 4);
    if (unlikely(_mm_movemask_epi8(same) != 0xffff || s[16] != m->prefix[16] || n_digits - 1 > 8 ||
                 s[19] != '.' || s[n - 1] != 'Z'))
        return time_general(m, s, n, out);

    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(s + PREFIX_LEN));
    x = _mm_shuffle_epi8(_mm_sub_epi8(x, _mm_set1_epi8('0')), place);
    x = _mm_and_si128(x, _mm_cmpgt_epi8(_mm_set1_epi8((char)(n_digits + 1)), digit));
    __m128i beyond_9 = _mm_subs_epu8(x, _mm_set1_epi8(9));
    x = _mm_madd_epi16(_mm_maddubs_epi16(x, in_pairs), in_fours);
    uint64_t low = (uint64_t)_mm_cvtsi128_si64(x), high = (uint64_t)_mm_extract_epi64(x, 1);
    if (unlikely(!_mm_testz_si128(beyond_9, beyond_9) || (uint32_t)low > 59))
        return false;
    uint32_t ns = (uint32_t)(low >> 32) * 100000 + (uint32_t)high * 10 + (uint32_t)(high >> 32);
    return time_in(m, (uint32_t)low, ns, out);
}
#endif

/* Parses a number of up to 18 digits; longer ones take the slow path. Reads 8 bytes at s whatever n
 * is. */
static inline __attribute__((always_inline)) bool parse_uint(const char *s, size_t n, uint64_t *out)
{
    uint64_t bad = 0;

    if (likely(n - 1 < 8)) {
        *out = eight_digits((le_load(s, 8) ^ ASCII_ZEROS) << (64 - 8 * n), &bad);
        return !bad;
    }
    return n - 1 < 18 && rowfields_uint(s, n, UINT64_MAX, out);
}

/* The columns of generation 4 as recorders write them. As constants, they cost no look-up. */
static const struct recfile_layout usual_layout = {
    .delimiter = '\t',
    .n_fields = COL_CAT + 1,
    .generation = 4,
    .field = {[COL_IDX] = 0,
              [COL_THREAD] = 1,
              [COL_OP] = 2,
              [COL_CLIENT_ID] = 3,
              [COL_N_OBJECTS] = 4,
              [COL_BYTES] = 5,
              [COL_ENDPOINT] = 6,
              [COL_FILE] = 7,
              [COL_ERROR] = 8,
              [COL_START] = 9,
              [COL_FIRST_BYTE] = 10,
              [COL_LAST_BYTE] = 11,
              [COL_END] = 12,
              [COL_DURATION_NS] = 13,
              [COL_CAT] = 14,
              [COL_INTENDED] = -1},
};

/* A row of the index: field i is the text from a[i - 1] + 1 up to a[i], excluded. */
struct indexed_row {
    const char *text;
    const uint32_t *a;
};

static inline __attribute__((always_inline)) struct slice indexed_field(struct indexed_row row,
                                                                        int i)
{
    uint32_t begin = row.a[i - 1] + 1; /* wraps to 0 in the first row */

    return (struct slice){row.text + begin, row.a[i] - begin};
}

static inline __attribute__((always_inline)) struct slice
text_field(struct indexed_row row, const struct recfile_layout *l, int column)
{
    return l->field[column] < 0 ? (struct slice){nothing, 0} : indexed_field(row, l->field[column]);
}

static inline __attribute__((always_inline)) bool
optional_uint(struct indexed_row row, const struct recfile_layout *l, int column, uint64_t *out)
{
    struct slice f = text_field(row, l, column);

    if (likely(f.n == 1)) { /* most values are 0 or 1 */
        *out = (unsigned char)*f.p - (uint64_t)'0';
        return *out <= 9;
    }
    return f.n == 0 || parse_uint(f.p, f.n, out);
}

static inline __attribute__((always_inline)) bool
optional_time(time_reader *read_time, struct rowparse_minute *m, struct indexed_row row,
              const struct recfile_layout *l, int column, int64_t *out)
{
    struct slice f = text_field(row, l, column);

    *out = RECORD_NO_TIME;
    return f.n == 0 || read_time(m, f.p, f.n, out);
}

/* Parses a row. False: leave it to the slow path. Errors are tested once, at the end. */
static inline __attribute__((always_inline)) bool
parse_row(struct rowparse *p, time_reader *read_time, struct indexed_row row,
          const struct recfile_layout *l, struct record *r)
{
    uint64_t thread = 0, n_objects = 1, bytes = 0, cat = 0;
    struct slice f = indexed_field(row, l->field[COL_THREAD]);
    bool ok = parse_uint(f.p, f.n, &thread) & (thread <= UINT32_MAX);

    f = indexed_field(row, l->field[COL_BYTES]);
    ok &= parse_uint(f.p, f.n, &bytes);
    ok &= optional_uint(row, l, COL_N_OBJECTS, &n_objects);
    ok &= optional_uint(row, l, COL_CAT, &cat);
    f = indexed_field(row, l->field[COL_START]);
    ok &= read_time(&p->minute[0], f.p, f.n, &r->start_ns);
    f = indexed_field(row, l->field[COL_END]);
    ok &= read_time(&p->minute[1], f.p, f.n, &r->end_ns);
    ok &= optional_time(read_time, &p->minute[0], row, l, COL_FIRST_BYTE, &r->first_byte_ns);
    ok &= optional_time(read_time, &p->minute[0], row, l, COL_LAST_BYTE, &r->last_byte_ns);
    ok &= optional_time(read_time, &p->minute[0], row, l, COL_INTENDED, &r->intended_ns);
    r->op = text_field(row, l, COL_OP);
    r->client = text_field(row, l, COL_CLIENT_ID);
    r->endpoint = text_field(row, l, COL_ENDPOINT);
    r->file = text_field(row, l, COL_FILE);
    r->error = text_field(row, l, COL_ERROR);
    r->thread = (uint32_t)thread;
    r->is_lane = false;
    r->bytes = (int64_t)bytes;
    r->n_objects = (int64_t)n_objects;
    r->cat = cat;
    ok &= rowfields_within(r->first_byte_ns, r->start_ns, r->end_ns);
    ok &= rowfields_within(r->last_byte_ns, r->start_ns, r->end_ns);
    ok &= rowfields_within(r->intended_ns, 0, r->start_ns);
    return ok & (bytes <= INT64_MAX) & (n_objects <= INT64_MAX) & (r->op.n > 0) &
           (r->end_ns >= r->start_ns);
}

/* Parses the row that ends at *end, a newline of the index. False: leave it to the slow path. */
static inline __attribute__((always_inline)) bool parse_line(struct rowparse *p,
                                                             time_reader *read_time,
                                                             const char *text, const uint32_t *a,
                                                             uint32_t *end, struct record *r)
{
    struct indexed_row row = {text, a};
    bool cr = text[*end - 1] == '\r';

    *end -= cr;
    bool ok = p->usual ? parse_row(p, read_time, row, &usual_layout, r)
                       : parse_row(p, read_time, row, &p->layout, r);
    *end += cr;
    return ok;
}

void rowparse_set_layout(struct rowparse *p, const struct recfile_layout *layout)
{
    p->has_layout = layout != NULL;
    if (layout)
        p->layout = *layout;
    p->usual = layout && layout->delimiter == usual_layout.delimiter &&
               layout->n_fields == usual_layout.n_fields &&
               memcmp(layout->field, usual_layout.field, sizeof usual_layout.field) == 0;
}

static bool flush(struct rowparse *p)
{
    size_t n = p->n_batch;

    p->n_batch = 0;
    return n == 0 || p->events->rows(p->events->ctx, p->batch, n);
}

/* ---- Lines that the fast path does not take ---- */

enum odd { ODD_DONE, ODD_MORE, ODD_STOPPED };

uint64_t rowparse_count_lines(const char *s, size_t n)
{
    uint64_t lines = 0;

    for (const char *end = s + n; (s = memchr(s, '\n', (size_t)(end - s))) != NULL; s++)
        lines++;
    return lines;
}

/* Returns the length of the blank lines at the start of s, and adds their number to *n_lines. There
 * may be more of them than rows, so it takes 8 bytes at a time. */
static size_t blank_lines(const char *s, size_t n, uint64_t *n_lines)
{
    const uint64_t lf = UINT64_C(0x0a0a0a0a0a0a0a0a), cr_lf = UINT64_C(0x0a0d0a0d0a0d0a0d);
    size_t at = 0;

    for (;;) {
        uint64_t word = n - at >= 8 ? le_load(s + at, 8) : 0;
        if (word == lf || word == cr_lf) {
            at += 8;
            *n_lines += word == lf ? 8 : 4;
        } else if (at < n && s[at] == '\n') {
            at++;
            ++*n_lines;
        } else if (n - at >= 2 && s[at] == '\r' && s[at + 1] == '\n') {
            at += 2;
            ++*n_lines;
        } else {
            return at;
        }
    }
}

/* Handles the line at text[at..]: comment, blank, header, or a row for the slow path. *used is its
 * length with the newline. */
static enum odd odd_line(struct rowparse *p, const char *text, size_t at, size_t n, bool last,
                         size_t *used)
{
    const char *line = text + at;
    const char *newline = memchr(line, '\n', n - at);
    size_t whole = newline ? (size_t)(newline - line) + 1 : n - at;
    size_t len = newline ? whole - 1 : whole;
    char why[256];
    bool go_on;

    if (len && line[len - 1] == '\r')
        len--;
    *used = whole;
    if (!newline && !last)
        return ODD_MORE;
    if (whole > RECORD_MAX_ROW_BYTES) {
        go_on = flush(p) && p->events->bad(p->events->ctx, p->n_lines + 1, ROWPARSE_TOO_LONG);
    } else if (len == 0 && newline) {
        *used = blank_lines(line, n - at, &p->n_lines);
        return ODD_DONE;
    } else if (len == 0 || line[0] == '#') {
        go_on = len == 0 || (flush(p) && p->events->comment(p->events->ctx, line, len));
    } else if (!p->has_layout) {
        go_on = flush(p) && p->events->header(p->events->ctx, line, len, p->n_lines + 1);
    } else {
        struct record *r = &p->batch[p->n_batch];
        size_t row = whole;

        /* Only whole lines, except at the end of the text. */
        size_t lines = last ? n - at : (size_t)((char *)memrchr(line, '\n', n - at) - line) + 1;
        enum rowcsv_end what =
            rowcsv_parse(p->csv, &p->layout, line, lines, r, &row, why, sizeof why);
        if (what == ROWCSV_MORE && !last && n - at <= RECORD_MAX_ROW_BYTES)
            return ODD_MORE;
        if (what == ROWCSV_OK) {
            *used = row;
            p->n_batch++;
            go_on = flush(p); /* its slices live only until rowcsv parses the next row */
        } else if (rowfields_is_header(line,
                                       len)) { /* tested late: a row may contain such a line */
            go_on = flush(p) && p->events->header(p->events->ctx, line, len, p->n_lines + 1);
        } else {
            if (what == ROWCSV_MORE)
                snprintf(why, sizeof why, "a quoted field is never closed");
            /* Only the first line of a bad row is lost: the next one may be good. */
            go_on = flush(p) && p->events->bad(p->events->ctx, p->n_lines + 1, why);
        }
    }
    p->n_lines += rowparse_count_lines(line, *used);
    return go_on ? ODD_DONE : ODD_STOPPED;
}

/* Handles the comment line of n bytes, without its newline. */
static bool comment_line(struct rowparse *p, const char *line, size_t n)
{
    p->n_lines++;
    return flush(p) && p->events->comment(p->events->ctx, line, n - (line[n - 1] == '\r'));
}

/* Parses text[*used..n) while the delimiter stays the same. */
static inline __attribute__((always_inline)) enum rowparse_end
parse_lines(struct rowparse *p, time_reader *read_time, const char *text, size_t n, bool last,
            size_t *used, bool *again)
{
    const char delimiter = p->has_layout ? p->layout.delimiter : '\t';

    *again = false;
    if (!rowindex_build(&p->index, text, n, delimiter))
        return ROWPARSE_NO_MEMORY;
    uint32_t *a = p->index.seps;             /* the first separator of the current line */
    const uint32_t *nl = p->index.lines;     /* its newline */
    const uint32_t *quote = p->index.quotes; /* the next quote */
    size_t at = 0;                           /* where the current line begins */
    while (at < n) {
        int nf = p->layout.n_fields;
        if (likely(p->has_layout && *nl != UINT32_MAX && a[nf - 1] == *nl && *quote > *nl &&
                   text[at] != '#' && *nl - at <= RECORD_MAX_ROW_BYTES && !p->options->all_slow) &&
            likely(parse_line(p, read_time, text, a, &a[nf - 1], &p->batch[p->n_batch]))) {
            at = (size_t)*nl + 1;
            a += nf;
            nl++;
            p->n_lines++;
            if (++p->n_batch == ROWPARSE_BATCH && !flush(p))
                return ROWPARSE_STOPPED;
            continue;
        }
        if (text[at] == '#' && *nl != UINT32_MAX && *nl - at < RECORD_MAX_ROW_BYTES) {
            if (!comment_line(p, text + at, *nl - at))
                return ROWPARSE_STOPPED;
            at = (size_t)*nl + 1;
        } else {
            size_t len;
            enum odd odd = odd_line(p, text, at, n, last, &len);

            if (odd == ODD_STOPPED)
                return ROWPARSE_STOPPED;
            if (odd == ODD_MORE)
                break;
            at += len;
        }
        if (p->has_layout && p->layout.delimiter != delimiter) {
            *again = true;
            break;
        }
        while (*a < at)
            a++;
        while (*nl < at)
            nl++;
        while (*quote < at)
            quote++;
    }
    *used = at;
    return flush(p) ? ROWPARSE_ALL : ROWPARSE_STOPPED;
}

#ifdef HAVE_X86
__attribute__((target("avx2"))) static enum rowparse_end
lines_avx2(struct rowparse *p, const char *text, size_t n, bool last, size_t *used, bool *again)
{
    return parse_lines(p, parse_time_avx2, text, n, last, used, again);
}
#endif

static enum rowparse_end lines(struct rowparse *p, const char *text, size_t n, bool last,
                               size_t *used, bool *again)
{
#ifdef HAVE_X86
    if (p->index.kind >= ROWINDEX_AVX2)
        return lines_avx2(p, text, n, last, used, again);
#endif
    return parse_lines(p, parse_time, text, n, last, used, again);
}

enum rowparse_end rowparse_text(struct rowparse *p, const char *text, size_t n, bool last,
                                size_t *used)
{
    enum rowparse_end end;
    bool again = true;
    size_t step = 0;

    rowcsv_begin(p->csv, text);
    for (*used = 0, end = ROWPARSE_ALL; again && end == ROWPARSE_ALL; *used += step) {
        *used += blank_lines(text + *used, n - *used, &p->n_lines);
        end = lines(p, text + *used, n - *used, last, &step, &again);
    }
    return end;
}
