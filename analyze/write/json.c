#include "analyze/write/json.h"

#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/rowformat.h"
#include "libcommon/utf8.h"
#include "libcommon/visible.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Only one thread writes a document, so its FILE need not be locked for each piece. */
static void put(struct json_out *w, const char *text, size_t n)
{
    fwrite_unlocked(text, 1, n, w->f);
}

/* Writes a line break and the indentation. */
static void new_line(struct json_out *w)
{
    static const char blanks[] = "\n                ";
    _Static_assert(sizeof blanks == JSON_OUT_MAX_DEPTH + 2, "one blank for each container");
    put(w, blanks, w->depth + 1);
}

/* Writes the comma, line break and key before an item with one call, since a report of many hosts
 * has millions of items. */
static void begin_item(struct json_out *w, const char *key)
{
    char s[JSON_OUT_MAX_DEPTH + 64] = ",\n                ";
    size_t n = w->depth == 0 ? 0 : w->is_compact ? 1 : w->depth + 2;
    size_t n_key = key != NULL ? strlen(key) : 0, n_colon = w->is_compact ? 2 : 3;
    bool is_first = w->is_empty && n > 0; /* it has no comma before it */
    _Static_assert(JSON_OUT_MAX_DEPTH == 16, "one blank for each container");

    w->is_empty = false;
    if (n_key + n + 4 > sizeof s) {
        put(w, s + is_first, n - is_first);
        fprintf(w->f, w->is_compact ? "\"%s\":" : "\"%s\": ", key);
        return;
    }
    if (key != NULL) {
        s[n] = '"';
        memcpy(s + n + 1, key, n_key);
        memcpy(s + n + 1 + n_key, "\": ", n_colon);
        n += n_key + 1 + n_colon;
    }
    put(w, s + is_first, n - is_first);
}

static void open_container(struct json_out *w, const char *key, const char *brackets)
{
    begin_item(w, key);
    putc_unlocked(brackets[0], w->f);
    w->close[w->depth++] = brackets[1];
    w->is_empty = true;
}

void json_out_object(struct json_out *w, const char *key)
{
    open_container(w, key, "{}");
}

void json_out_array(struct json_out *w, const char *key)
{
    open_container(w, key, "[]");
}

void json_out_end(struct json_out *w)
{
    w->depth--;
    if (!w->is_empty && !w->is_compact)
        new_line(w);
    putc_unlocked(w->close[w->depth], w->f);
    w->is_empty = false;
}

void json_out_raw(FILE *f, const char *text, size_t n)
{
    const char *end = text + n, *from = text;
    for (const char *s = text; s < end;) {
        if ((unsigned char)*s < 0x7F) {
            s++; /* jansson escapes what is below a blank */
            continue;
        }
        size_t step = utf8_length(s);
        if (visible_length(s) == 0 && step > 0) {
            fwrite(from, 1, (size_t)(s - from), f);
            fprintf(f, "\\u%04x", (unsigned)utf8_code(s, step));
            from = s + step;
        }
        s += step > 0 ? step : 1;
    }
    fwrite(from, 1, (size_t)(end - from), f);
}

/* Writes jansson's text, indented to the depth of the value. Newlines in strings are escaped, so
 * every newline byte separates items. */
static int write_indented(const char *text, size_t n, void *ctx)
{
    struct json_out *w = ctx;
    const char *end = text + n;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;

        json_out_raw(w->f, text, (size_t)(stop - text));
        if (newline) {
            new_line(w);
            stop++;
        }
        text = stop;
    }
    return 0;
}

void json_out_value(struct json_out *w, const char *key, json_t *value)
{
    const size_t flags = JSON_INDENT(1) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17);
    begin_item(w, key);
    if (!value || json_dump_callback(value, write_indented, w, flags) != 0)
        w->failed = true;
    json_decref(value);
}

static void put_item(struct json_out *w, const char *key, const char *text, size_t n)
{
    begin_item(w, key);
    put(w, text, n);
}

void json_put_pair(struct json_out *w, const char *key, double a, double b)
{
    if (isnan(a)) {
        json_put_null(w, key);
        return;
    }
    json_out_array(w, key);
    json_put_real(w, NULL, a);
    json_put_real(w, NULL, b);
    json_out_end(w);
}

void json_put_null(struct json_out *w, const char *key)
{
    put_item(w, key, "null", 4);
}

void json_put_bool(struct json_out *w, const char *key, bool value)
{
    put_item(w, key, value ? "true" : "false", value ? 4 : 5);
}

/* Room for a 64-bit integer with its sign, followed by ".0". */
#define INTEGER_ROOM 24

static char *format_integer(char *out, int64_t value)
{
    if (value < 0)
        *out++ = '-';
    return rowformat_put_number(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void json_put_integer(struct json_out *w, const char *key, int64_t value)
{
    char s[INTEGER_ROOM];
    put_item(w, key, s, (size_t)(format_integer(s, value) - s));
}

/* Formats a number that is not an integer as "%.17g" does, in a tenth of the time. Calculates with
 * 128-bit integers and rounds half to even. Returns the length; 0: the number is not from 1e-4 to
 * 1e15, or rounds up to a power of ten. */
static size_t format_fraction(char *out, double value)
{
    static const uint64_t tens[] = {1,       10,       100,       1000,       10000,      100000,
                                    1000000, 10000000, 100000000, 1000000000, 10000000000};
    double size = fabs(value);
    int exponent, n_whole = 0;
    char digits[ROWFORMAT_NUMBER_BYTES], *to = out;

    if (!(size >= 1e-4 && size < 1e15))
        return 0;
    for (uint64_t whole = (uint64_t)size, limit = 1; whole >= limit; limit *= 10)
        n_whole++;
    if (n_whole == 0) /* negative: zeros after the point */
        n_whole = -(size < .1) - (size < .01) - (size < .001);
    int n_decimals = 17 - n_whole;
    uint64_t mantissa = (uint64_t)ldexp(frexp(size, &exponent), 53);
    unsigned __int128 scaled = (unsigned __int128)mantissa * tens[n_decimals / 2] *
                               tens[n_decimals - n_decimals / 2],
                      half = (unsigned __int128)1 << (52 - exponent),
                      rest = scaled & (2 * half - 1);
    uint64_t rounded = (uint64_t)(scaled >> (53 - exponent));
    rounded += rest > half || (rest == half && rounded % 2 == 1);
    if (rowformat_put_number(digits, rounded) != digits + 17) /* it became a power of ten */
        return 0;
    size_t n = 17, n_before = n_whole > 0 ? (size_t)n_whole : 0;
    while (digits[n - 1] == '0')
        n--;
    if (value < 0)
        *to++ = '-';
    if (n_before == 0)
        *to++ = '0';
    to = mempcpy(to, digits, n_before);
    *to++ = '.';
    for (int i = n_whole; i < 0; i++)
        *to++ = '0';
    to = mempcpy(to, digits + n_before, n - n_before);
    return (size_t)(to - out);
}

/* Formats a double with 17 digits, which read back to the same value. An integer gets ".0"; an
 * exponent gets no plus and no leading zeros. Returns the length. */
static size_t format_real(char out[40], double value)
{
    bool is_short = fabs(value) < 1e15 && value == (double)(int64_t)value;
    if (is_short && (value != 0 || !signbit(value))) {
        char *end = format_integer(out, (int64_t)value);
        memcpy(end, ".0", 2);
        return (size_t)(end + 2 - out);
    }
    size_t n = is_short ? 0 : format_fraction(out, value);
    if (n > 0)
        return n;
    n = (size_t)snprintf(out, 40, "%.17g", value);
    char *e = memchr(out, 'e', n);
    if (e == NULL && memchr(out, '.', n) == NULL) {
        memcpy(out + n, ".0", 2);
        return n + 2;
    }
    if (e == NULL)
        return n;
    char *to = e + 1 + (e[1] == '-'), *from = e + 2;
    while (*from == '0' && from + 1 < out + n)
        from++;
    memmove(to, from, (size_t)(out + n - from));
    return n - (size_t)(from - to);
}

void json_put_real(struct json_out *w, const char *key, double value)
{
    char s[40];
    if (isfinite(value))
        put_item(w, key, s, format_real(s, value));
    else
        json_put_null(w, key);
}

/* Whether the text needs no escapes in JSON. */
static bool is_plain(const char *s)
{
    for (; *s != '\0'; s++)
        if (*s < ' ' || *s >= 0x7F || *s == '"' || *s == '\\')
            return false;
    return true;
}

static void put_quoted(struct json_out *w, const char *key, const char *s)
{
    begin_item(w, key);
    putc_unlocked('"', w->f);
    fputs_unlocked(s, w->f);
    putc_unlocked('"', w->f);
}

void json_put_text(struct json_out *w, const char *key, const char *s)
{
    if (s == NULL || !is_plain(s)) {
        json_out_value(w, key, json_out_text(s));
        return;
    }
    put_quoted(w, key, s);
}

void json_put_time(struct json_out *w, const char *key, int64_t ns)
{
    put_quoted(w, key, rfc3339_format(ns).s);
}

void json_put_time_if(struct json_out *w, const char *key, bool present, int64_t ns)
{
    present ? json_put_time(w, key, ns) : json_put_null(w, key);
}

void json_out_begin(struct json_out *w, FILE *f, const char *schema)
{
    *w = (struct json_out){.f = f, .is_empty = true};
    json_out_object(w, NULL);
    JSON_PUT(w, "schema", schema);
}

bool json_out_open(struct json_out *w, const char *key, bool present)
{
    if (present)
        json_out_object(w, key);
    else
        json_put_null(w, key);
    return present;
}

json_t *json_out_text(const char *s)
{
    if (!s)
        return json_null();
    char *clean = utf8_repaired(s);
    if (!clean)
        return NULL;
    size_t n = 0;
    /* utf8_repaired keeps a NUL as two bytes. It becomes one again, so the text gets shorter. */
    for (const char *from = clean; *from; n++) {
        bool is_nul = utf8_is_nul(from);
        clean[n] = is_nul ? '\0' : *from;
        from += is_nul ? 2 : 1;
    }
    json_t *text = json_stringn(clean, n);
    free(clean);
    return text;
}

static int write_plain(const char *text, size_t n, void *f)
{
    json_out_raw(f, text, n);
    return 0;
}

bool json_out_quoted(FILE *f, const char *text)
{
    json_t *value = json_out_text(text);
    bool ok = value != NULL && json_dump_callback(value, write_plain, f, JSON_ENCODE_ANY) == 0;

    json_decref(value);
    return ok;
}

json_t *json_out_time(int64_t ns)
{
    return json_string(rfc3339_format(ns).s);
}

json_t *json_out_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

bool json_out_finish(struct json_out *w, struct err *e)
{
    json_out_end(w);
    fputc('\n', w->f);
    return w->failed ? mem_none(e) : true;
}
