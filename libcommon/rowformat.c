#include "libcommon/rowformat.h"

#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

#include <string.h>

#define DELIMITER   '\t'
/* Numbers, times, delimiters and the quotes around five texts. */
#define FIXED_BYTES (5 * ROWFORMAT_NUMBER_BYTES + 5 * RFC3339_LENGTH + N_COLUMNS + 5 * 2)
/* A newline in a key grows to %0A. */
#define MAX_GROWTH  3

#define G4_HEADER                                                                                  \
    "idx\tthread\top\tclient_id\tn_objects\tbytes\tendpoint\tfile\terror\tstart\tfirst_byte\t"     \
    "last_byte\tend\tduration_ns\tcat"

void rowformat_init(struct rowformat *f, bool intended)
{
    *f = (struct rowformat){.intended = intended, .second = -1};
}

const char *rowformat_header(bool intended)
{
    return intended ? G4_HEADER "\tintended\n" : G4_HEADER "\n";
}

/* Writes value % 100 as two digits. */
static inline void put_pair(char *out, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";

    memcpy(out, pairs + 2 * (value % 100), 2);
}

char *rowformat_put_number(char *out, uint64_t value)
{
    size_t n = 1;

    for (uint64_t limit = 10; n < ROWFORMAT_NUMBER_BYTES && value >= limit; limit *= 10)
        n++;
    char *p = out + n;
    for (; value >= 10; value /= 100)
        put_pair(p -= 2, value);
    if (p > out)
        *out = (char)('0' + value);
    return out + n;
}

/* ---- Times ---- */

/* Copies the text of the last second written, as most times lie in the same second. */
static char *put_time(struct rowformat *f, char *out, int64_t ns)
{
    int64_t second = ns / NS_PER_S;
    uint32_t fraction = (uint32_t)(ns % NS_PER_S);

    if (second != f->second) {
        char text[RFC3339_LENGTH];
        rfc3339_put(text, second * NS_PER_S);
        memcpy(f->date, text, sizeof f->date);
        f->second = second;
    }
    memcpy(out, f->date, sizeof f->date);
    out += sizeof f->date;
    for (int i = 7; i > 0; i -= 2, fraction /= 100)
        put_pair(out + i, fraction);
    out[0] = (char)('0' + fraction);
    out[9] = 'Z';
    return out + 10;
}

static char *put_optional_time(struct rowformat *f, char *out, int64_t ns)
{
    *out++ = DELIMITER;
    return ns == RECORD_NO_TIME ? out : put_time(f, out, ns);
}

/* ---- Texts ---- */

/* Whether any of 8 bytes may want quotes: a control character below 14 (tab, LF and CR are among
 * them) or a double quote. */
static inline bool is_odd(uint64_t x)
{
    const uint64_t each = UINT64_C(0x0101010101010101), high = each * 0x80;
    uint64_t quote = x ^ each * '"';

    return (((x - each * 14) & ~x) | ((quote - each) & ~quote)) & high;
}

static bool needs_quotes(struct slice s, bool raw)
{
    if (s.n && (s.p[0] == ' ' || s.p[0] == '\v' || s.p[0] == '\f'))
        return true;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == DELIMITER || s.p[i] == '"' || s.p[i] == '\r' || (s.p[i] == '\n' && raw))
            return true;
    return false;
}

/* Writes a text that may need quotes. Only an error keeps its newlines (`raw`). */
static __attribute__((noinline)) char *put_odd_text(char *out, struct slice s, bool raw)
{
    bool quotes = needs_quotes(s, raw);

    if (quotes)
        *out++ = '"';
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\n' && !raw) {
            memcpy(out, "%0A", 3);
            out += 3;
            continue;
        }
        if (s.p[i] == '"')
            *out++ = '"';
        *out++ = s.p[i];
    }
    if (quotes)
        *out++ = '"';
    return out;
}

static inline char *put_text(char *out, struct slice s, bool raw)
{
    size_t i = 0;
    uint64_t x;

    *out++ = DELIMITER;
    if (s.n == 0)
        return out;
    if (s.p[0] == ' ')
        return put_odd_text(out, s, raw);
    for (; i + 8 <= s.n; i += 8) {
        memcpy(&x, s.p + i, 8);
        if (is_odd(x))
            return put_odd_text(out, s, raw);
        memcpy(out + i, &x, 8);
    }
    for (; i < s.n; i++) {
        if ((unsigned char)s.p[i] < 14 || s.p[i] == '"')
            return put_odd_text(out, s, raw);
        out[i] = s.p[i];
    }
    return out + s.n;
}

/* ---- Rows ---- */

size_t rowformat_bound(const struct record *r)
{
    return FIXED_BYTES +
           MAX_GROWTH * (r->op.n + r->client.n + r->endpoint.n + r->file.n + r->error.n);
}

char *rowformat_put(struct rowformat *f, char *out, const struct record *r)
{
    *out++ = DELIMITER;
    out = rowformat_put_number(out, r->thread);
    out = put_text(out, r->op, false);
    out = put_text(out, r->client, false);
    *out++ = DELIMITER;
    out = rowformat_put_number(out, (uint64_t)r->n_objects);
    *out++ = DELIMITER;
    out = rowformat_put_number(out, (uint64_t)r->bytes);
    out = put_text(out, r->endpoint, false);
    out = put_text(out, r->file, false);
    out = put_text(out, r->error, true);
    *out++ = DELIMITER;
    out = put_time(f, out, r->start_ns);
    out = put_optional_time(f, out, r->first_byte_ns);
    out = put_optional_time(f, out, r->last_byte_ns);
    *out++ = DELIMITER;
    out = put_time(f, out, r->end_ns);
    *out++ = DELIMITER;
    out = rowformat_put_number(out, (uint64_t)(r->end_ns - r->start_ns));
    *out++ = DELIMITER;
    out = rowformat_put_number(out, r->cat);
    if (f->intended)
        out = put_optional_time(f, out, r->intended_ns);
    *out++ = '\n';
    return out;
}
