#include "analyze/read/jsonpull.h"

#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (64 << 10)
#define MAX_NUMBER   60

bool jsonpull_init(struct jsonpull *p, const char *path, jsonpull_more *more, void *ctx,
                   struct err *e)
{
    *p = (struct jsonpull){.more = more, .ctx = ctx, .path = path, .e = e, .n_lines = 1};
    return jsonpull_check(p, mem_new(&p->buf, BUFFER_BYTES, e) &&
                                 mem_cleared(&p->string, JSONPULL_MAX_STRING + 8, e));
}

void jsonpull_fini(struct jsonpull *p)
{
    free(p->buf);
    free(p->string);
    p->buf = p->string = NULL;
}

/* ---- Messages ---- */

/* Writes the path of the open levels: "total.throughput.segmented.segments[3].start: ". */
static void where(const struct jsonpull *p, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (unsigned d = 1; d <= p->depth && n < size; d++) {
        const struct jsonpull_level *l = &p->levels[d];
        if (!l->has_item)
            break;
        if (l->is_object)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n > 0 ? "." : "", l->key);
        else
            n += (size_t)snprintf(out + n, size - n, "[%" PRIu64 "]", l->index);
    }
    if (n > 0 && n < size)
        snprintf(out + n, size - n, ": ");
}

bool jsonpull_fail(struct jsonpull *p, const char *fmt, ...)
{
    char at[400], what[400];
    va_list args;

    if (p->failed)
        return false;
    p->failed = true;
    where(p, at, sizeof at);
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return p->is_no_json ? err_set(p->e, "%s:%" PRIu64 ": %s%s", p->path, p->n_lines, at, what)
                         : err_set(p->e, "%s: %s%s", p->path, at, what);
}

bool jsonpull_check(struct jsonpull *p, bool ok)
{
    p->failed = p->failed || !ok;
    return !p->failed;
}

void *jsonpull_element(struct jsonpull *p, void *v, size_t *n, size_t size)
{
    char *first;

    if (!jsonpull_check(p, mem_grow(v, *n, size, p->e)))
        return NULL;
    memcpy(&first, v, sizeof first);
    return memset(first + (*n)++ * size, 0, size);
}

static bool fail_syntax(struct jsonpull *p, int got, const char *expected)
{
    p->is_no_json = true;
    if (got < 0)
        return jsonpull_fail(p, "the text ends where %s should follow: the file is cut", expected);
    if (got < ' ' || got > '~')
        return jsonpull_fail(p, "%s expected, not byte %d", expected, got);
    return jsonpull_fail(p, "%s expected, not '%c'", expected, got);
}

/* ---- Bytes ---- */

static bool refill(struct jsonpull *p)
{
    struct err why = {0};
    p->at = p->n = 0;
    if (p->failed)
        return false;
    if (!p->more(p->ctx, p->buf, BUFFER_BYTES, &p->n, &why)) {
        p->n = 0;
        return jsonpull_fail(p, "%s", why.msg);
    }
    return p->n > 0;
}

/* Returns the next byte without taking it; -1: the end, or failed. */
static inline int peek(struct jsonpull *p)
{
    if (p->at == p->n && !refill(p))
        return -1;
    return (unsigned char)p->buf[p->at];
}

static inline int take(struct jsonpull *p)
{
    int c = peek(p);
    if (c >= 0)
        p->at++;
    return c;
}

/* Skips blanks; then like peek. */
static int peek_token(struct jsonpull *p)
{
    for (;;) {
        int c = peek(p);
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
            return c;
        p->n_lines += c == '\n';
        p->at++;
    }
}

static bool expect(struct jsonpull *p, char wanted, const char *name)
{
    int c = peek_token(p);
    if (c != wanted)
        return fail_syntax(p, c, name);
    p->at++;
    return true;
}

static void expect_word(struct jsonpull *p, const char *word)
{
    for (const char *w = word; *w != '\0'; w++) {
        int c = take(p);
        if (c != *w) {
            fail_syntax(p, c, word);
            return;
        }
    }
}

/* ---- Strings ---- */

static unsigned hex4(struct jsonpull *p)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        int c = take(p);
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0) {
            fail_syntax(p, c, "a hexadecimal digit");
            return 0;
        }
        value = 16 * value + (unsigned)digit;
    }
    return value;
}

/* Decodes what follows a backslash to `out` and returns its length. */
static size_t escape(struct jsonpull *p, char *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int c = take(p);
    const char *simple = c > 0 ? strchr(from, c) : NULL;

    if (simple != NULL) {
        *out = to[simple - from];
        return 1;
    }
    if (c != 'u') {
        fail_syntax(p, c, "an escape sequence");
        return 0;
    }
    unsigned code = hex4(p);
    if (code == 0 && !p->failed)
        return (size_t)(stpcpy(out, UTF8_NUL) - out);
    if (code >= 0xD800 && code < 0xDC00 && !p->failed) {
        unsigned low = take(p) == '\\' && take(p) == 'u' ? hex4(p) : 0;
        if (low < 0xDC00 || low > 0xDFFF) {
            jsonpull_fail(p, "half of a surrogate pair in a string");
            return 0;
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
        jsonpull_fail(p, "half of a surrogate pair in a string");
        return 0;
    }
    return utf8_put(out, code);
}

static bool check_utf8(struct jsonpull *p)
{
    for (size_t i = 0; i < p->n_string;) {
        size_t n = utf8_is_nul(p->string + i) ? 2 : utf8_length(p->string + i);
        if (n == 0)
            return jsonpull_fail(p, "a string that is no UTF-8");
        i += n;
    }
    return true;
}

static bool read_string(struct jsonpull *p)
{
    size_t n = 0;
    bool plain = true;

    p->n_string = 0;
    p->string[0] = '\0';
    if (!expect(p, '"', "a string"))
        return false;
    for (;;) {
        int c = take(p);
        if (c == '"')
            break;
        if (c < ' ')
            return fail_syntax(p, c, "the end of a string");
        if (n >= JSONPULL_MAX_STRING)
            return jsonpull_fail(p, "a string of more than 64 KiB");
        if (c == (unsigned char)UTF8_NUL[0]) /* never valid in UTF-8 */
            return jsonpull_fail(p, "a string that is no UTF-8");
        if (c == '\\')
            n += escape(p, p->string + n);
        else
            p->string[n++] = (char)c;
        plain = plain && c < 0x80 && c != '\\';
        if (p->failed)
            return false;
    }
    p->string[n] = '\0';
    p->n_string = n;
    return plain || check_utf8(p);
}

/* ---- Numbers ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The grammar of RFC 8259, 6. */
static bool is_number(const char *s, bool *is_integer)
{
    *is_integer = true;
    s += *s == '-';
    if (!is_digit(*s) || (*s == '0' && is_digit(s[1])))
        return false;
    while (is_digit(*s))
        s++;
    if (*s == '.') {
        *is_integer = false;
        if (!is_digit(*++s))
            return false;
        while (is_digit(*s))
            s++;
    }
    if (*s == 'e' || *s == 'E') {
        *is_integer = false;
        s++;
        s += *s == '+' || *s == '-';
        if (!is_digit(*s))
            return false;
        while (is_digit(*s))
            s++;
    }
    return *s == '\0';
}

struct number {
    char text[MAX_NUMBER + 1];
    bool is_integer;
};

static bool read_number(struct jsonpull *p, struct number *number)
{
    size_t n = 0;
    int c = peek_token(p);

    if (c != '-' && !(c >= '0' && c <= '9'))
        return fail_syntax(p, c, "a number");
    for (; c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9') || c == 'e' || c == 'E';
         c = peek(p)) {
        if (n == MAX_NUMBER)
            return jsonpull_fail(p, "a number of more than %d characters", MAX_NUMBER);
        number->text[n++] = (char)c;
        p->at++;
    }
    number->text[n] = '\0';
    if (p->failed || !is_number(number->text, &number->is_integer))
        return jsonpull_fail(p, "'%s' is not a number", number->text);
    return true;
}

static int64_t count_of(struct jsonpull *p, const struct number *number)
{
    errno = 0;
    long long value = strtoll(number->text, NULL, 10);
    if (errno != 0)
        jsonpull_fail(p, "%s is beyond 64 bits", number->text);
    else if (value < 0)
        jsonpull_fail(p, "%s is negative", number->text);
    return p->failed ? 0 : value;
}

int64_t jsonpull_count(struct jsonpull *p)
{
    struct number number;
    if (!read_number(p, &number))
        return 0;
    if (!number.is_integer)
        jsonpull_fail(p, "%s: an integer is expected", number.text);
    return p->failed ? 0 : count_of(p, &number);
}

static unsigned __int128 read_wide(struct jsonpull *p)
{
    unsigned __int128 value = 0;
    struct number number;

    if (!read_number(p, &number))
        return 0;
    if (!number.is_integer || number.text[0] == '-')
        jsonpull_fail(p, "%s: an integer that is not negative is expected", number.text);
    for (const char *c = number.text; !p->failed && *c != '\0'; c++)
        if (__builtin_mul_overflow(value, (unsigned __int128)10, &value) ||
            __builtin_add_overflow(value, (unsigned __int128)(*c - '0'), &value))
            jsonpull_fail(p, "%s is beyond 128 bits", number.text);
    return p->failed ? 0 : value;
}

static int64_t read_whole(struct jsonpull *p)
{
    struct number number;
    if (!read_number(p, &number))
        return 0;
    if (number.is_integer)
        return count_of(p, &number);
    double value = strtod(number.text, NULL);
    if (!(value >= 0 && value < 0x1p63 && value == floor(value)))
        jsonpull_fail(p, "%s: an integer from 0 to 2^63-1 is expected", number.text);
    return p->failed ? 0 : (int64_t)value;
}

double jsonpull_amount(struct jsonpull *p)
{
    struct number number;
    if (!read_number(p, &number))
        return 0;
    double value = strtod(number.text, NULL);
    if (!isfinite(value))
        jsonpull_fail(p, "%s is beyond all numbers", number.text);
    else if (value < 0)
        jsonpull_fail(p, "%s is negative", number.text);
    return p->failed ? 0 : fabs(value);
}

/* ---- Other values ---- */

bool jsonpull_null(struct jsonpull *p)
{
    if (peek_token(p) != 'n')
        return false;
    expect_word(p, "null");
    return !p->failed;
}

bool jsonpull_bool(struct jsonpull *p)
{
    int c = peek_token(p);
    if (c != 't' && c != 'f')
        return fail_syntax(p, c, "true or false");
    expect_word(p, c == 't' ? "true" : "false");
    return c == 't' && !p->failed;
}

const char *jsonpull_string(struct jsonpull *p)
{
    return read_string(p) ? p->string : NULL;
}

int64_t jsonpull_time(struct jsonpull *p)
{
    int64_t ns = INT64_MIN;
    if (!read_string(p) || strcmp(p->string, "0001-01-01T00:00:00Z") == 0)
        return INT64_MIN;
    if (!rfc3339_parse(p->string, p->n_string, &ns))
        jsonpull_fail(p, "not a time such as 2026-11-21T05:41:32Z");
    return ns;
}

/* ---- Containers ---- */

static bool open_level(struct jsonpull *p, bool is_object)
{
    if (!expect(p, is_object ? '{' : '[', is_object ? "an object" : "an array"))
        return false;
    if (p->depth == JSONPULL_MAX_DEPTH)
        return jsonpull_fail(p, "more than %d levels", JSONPULL_MAX_DEPTH);
    p->levels[++p->depth] = (struct jsonpull_level){.is_object = is_object};
    return true;
}

bool jsonpull_object(struct jsonpull *p)
{
    return open_level(p, true);
}

bool jsonpull_array(struct jsonpull *p)
{
    return open_level(p, false);
}

/* Goes to the next item of the open container. False: it is closed, or failed. */
static bool next(struct jsonpull *p)
{
    struct jsonpull_level *l = &p->levels[p->depth];
    const char *wanted = l->is_object ? "a comma or }" : "a comma or ]";

    if (p->failed)
        return false;
    int c = peek_token(p);
    if (c == (l->is_object ? '}' : ']')) {
        p->at++;
        p->depth--;
        return false;
    }
    if (l->has_item && !expect(p, ',', wanted))
        return false;
    l->index += l->has_item;
    if (c < 0)
        return fail_syntax(p, c, wanted);
    return true;
}

const char *jsonpull_key(struct jsonpull *p)
{
    struct jsonpull_level *l = &p->levels[p->depth];
    if (!next(p) || !read_string(p))
        return NULL;
    snprintf(l->key, sizeof l->key, "%s", p->string);
    for (char *c = l->key; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 127)
            *c = '?';
    l->has_item = true;
    return expect(p, ':', "a colon") ? p->string : NULL;
}

bool jsonpull_item(struct jsonpull *p)
{
    struct jsonpull_level *l = &p->levels[p->depth];
    if (!next(p))
        return false;
    l->has_item = true;
    return true;
}

void jsonpull_skip(struct jsonpull *p)
{
    unsigned outside = p->depth;
    /* Each round reads a value or opens a level, until all levels opened here are closed. */
    do {
        if (p->depth > outside &&
            (p->levels[p->depth].is_object ? jsonpull_key(p) == NULL : !jsonpull_item(p)))
            continue;
        struct number number;
        int c = peek_token(p);
        if (c == '{' || c == '[')
            open_level(p, c == '{');
        else if (c == '"')
            read_string(p);
        else if (c == 't' || c == 'f')
            jsonpull_bool(p);
        else if (c == 'n')
            jsonpull_null(p);
        else if (c == '-' || (c >= '0' && c <= '9'))
            read_number(p, &number);
        else
            fail_syntax(p, c, "a value");
    } while (p->depth > outside && !p->failed);
}

static void read_text(struct jsonpull *p, const struct jsonpull_field *f)
{
    free(*f->text);
    *f->text = NULL;
    if (!(f->optional && jsonpull_null(p)) && read_string(p))
        jsonpull_check(p, mem_text(f->text, p->string, p->e));
}

static void read_own(struct jsonpull *p, const struct jsonpull_field *f)
{
    if (f->nullable && jsonpull_null(p))
        return;
    if (f->n == NULL) {
        f->read(p, f->to);
        return;
    }
    jsonpull_array(p);
    for (void *x; jsonpull_item(p) && (x = jsonpull_element(p, f->to, f->n, f->size)) != NULL;)
        f->read(p, x);
}

void jsonpull_read(struct jsonpull *p, struct jsonpull_field *fields)
{
    const char *key;

    jsonpull_object(p);
    while ((key = jsonpull_key(p)) != NULL) {
        struct jsonpull_field *f = fields;
        while (f->key != NULL && strcmp(f->key, key) != 0)
            f++;
        int c = f->seen ? peek_token(p) : 0;
        if (f->read != NULL && (c == '{' || c == '[' || c == 'n')) {
            jsonpull_fail(p, "the key is there twice");
            return;
        }
        f->seen = true;
        if (f->read != NULL)
            read_own(p, f);
        else if (f->count != NULL)
            *f->count = jsonpull_count(p);
        else if (f->whole != NULL)
            *f->whole = read_whole(p);
        else if (f->time != NULL)
            *f->time = jsonpull_time(p);
        else if (f->amount != NULL)
            *f->amount = jsonpull_amount(p);
        else if (f->flag != NULL)
            *f->flag = jsonpull_bool(p);
        else if (f->wide != NULL)
            *f->wide = read_wide(p);
        else if (f->text != NULL)
            read_text(p, f);
        else
            jsonpull_skip(p);
    }
}

void jsonpull_fields(struct jsonpull *p, struct jsonpull_field *fields)
{
    jsonpull_read(p, fields);
    jsonpull_need(p, fields);
}

void jsonpull_need(struct jsonpull *p, const struct jsonpull_field *fields)
{
    for (; fields->key != NULL; fields++)
        if (!fields->seen && !fields->optional)
            jsonpull_fail(p, "key %s is missing", fields->key);
}

bool jsonpull_end(struct jsonpull *p)
{
    if (p->failed)
        return false;
    p->is_no_json = peek_token(p) >= 0;
    if (p->is_no_json)
        return jsonpull_fail(p, "something follows the end of the JSON");
    return !p->failed;
}
