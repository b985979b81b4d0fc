#include "analyze/data/errnorm.h"

#include "libcommon/utf8.h"

#include <stdbool.h>
#include <string.h>

/* A word is an id if it has at least MIN_ID_CHARS letters and digits, two of them digits; a word
 * without letters is a number if it has at least MIN_NUMBER_CHARS digits. HTTP codes and sizes in
 * messages are shorter. */
#define MIN_ID_CHARS     10
#define MIN_NUMBER_CHARS 6
#define MIN_KEY_CHARS    3

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}
static bool is_letter(unsigned char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}
static bool is_word(unsigned char c)
{
    return is_digit(c) || is_letter(c) || c == '-' || c == '_';
}
static bool is_hex(unsigned char c)
{
    return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

static size_t digits(const char *p, size_t n)
{
    size_t i = 0;

    while (i < n && is_digit((unsigned char)p[i]))
        i++;
    return i;
}

static bool starts_with(const char *p, size_t n, const char *what)
{
    size_t len = strlen(what);

    return n >= len && memcmp(p, what, len) == 0;
}

static bool begins_with_key(const char *p, size_t n, struct slice key)
{
    return key.n >= MIN_KEY_CHARS && n >= key.n && memcmp(p, key.p, key.n) == 0;
}

/* Returns the length of the URL at p; 0: there is none. If a quote stands before it, the URL ends
 * at the next such quote. Else it ends at a blank, a double quote, an angle bracket or an unmatched
 * ')'; the object's key within the URL may contain any of these. */
static size_t url_length(const char *p, size_t n, char before, struct slice key)
{
    size_t i = starts_with(p, n, "http://") ? 7 : starts_with(p, n, "https://") ? 8 : 0;
    int depth = 0;

    if (i == 0)
        return 0;
    const char *closing = before == '"' || before == '\'' ? memchr(p, before, n) : NULL;
    if (closing != NULL)
        return (size_t)(closing - p);
    for (bool is_key; i < n; i += is_key ? key.n : 1) {
        is_key = begins_with_key(p + i, n - i, key);
        if (!is_key && (strchr(" \t\r\n\"<>", p[i]) || (p[i] == ')' && depth == 0)))
            break;
        depth += is_key ? 0 : (p[i] == '(') - (p[i] == ')');
    }
    while (i && strchr(":,.;'", p[i - 1]))
        i--;
    return i;
}

static size_t ipv4_length(const char *p, size_t n)
{
    size_t at = 0;

    for (int part = 0; part < 4; part++) {
        size_t d = digits(p + at, n - at);
        if (d == 0 || d > 3)
            return 0;
        at += d;
        if (part < 3 && (at == n || p[at++] != '.'))
            return 0;
    }
    return at;
}

static size_t bracketed_ipv6_length(const char *p, size_t n)
{
    size_t i = 1;

    if (n < 4 || p[0] != '[')
        return 0;
    while (i < n && (is_hex((unsigned char)p[i]) || strchr(":.%", p[i])))
        i++;
    return i < n && i > 3 && p[i] == ']' && memchr(p, ':', i) ? i + 1 : 0;
}

static size_t port_length(const char *p, size_t n)
{
    if (n < 2 || p[0] != ':')
        return 0;
    size_t d = digits(p + 1, n - 1);
    bool ends = d + 1 == n || !is_word((unsigned char)p[d + 1]) || p[d + 1] == '-';
    return d >= 2 && d <= 5 && ends ? d + 1 : 0;
}

/* Returns the length of the host at p: name:port, or an IP address with or without a port. 0: there
 * is none. */
static size_t host_length(const char *p, size_t n)
{
    size_t i = ipv4_length(p, n);

    if (i == 0)
        i = bracketed_ipv6_length(p, n);
    if (i)
        return i + port_length(p + i, n - i);
    while (i < n && (is_word((unsigned char)p[i]) || p[i] == '.'))
        i++;
    size_t port = i && is_letter((unsigned char)p[0]) ? port_length(p + i, n - i) : 0;
    return port ? i + port : 0;
}

/* Returns what to write in place of a word of n bytes; NULL: the word stays. */
static const char *word_class(const char *p, size_t n)
{
    size_t n_digits = 0, n_letters = 0;

    for (size_t i = 0; i < n; i++) {
        n_digits += is_digit((unsigned char)p[i]);
        n_letters += is_letter((unsigned char)p[i]);
    }
    if (n_letters == 0 && n_digits >= MIN_NUMBER_CHARS)
        return "<n>";
    if (n_digits >= 2 && n_digits + n_letters >= MIN_ID_CHARS)
        return "<id>";
    return NULL;
}

/* Whether the word is a number followed by " ms", as in curl's "after 18 ms". */
static bool is_measured_time(const char *p, size_t len, size_t left)
{
    size_t n = digits(p, len);

    return n == len && starts_with(p + len, left - len, " ms") &&
           (left - len == 3 || !is_word((unsigned char)p[len + 3]));
}

size_t errnorm_message(struct slice message, struct slice key, char *out)
{
    const char *p = message.p;
    size_t left = message.n, n = 0;

    while (left && n < ERRNORM_MAX_BYTES) {
        const char *with = NULL;
        size_t len;

        if (begins_with_key(p, left, key)) {
            len = key.n;
            with = "<key>";
        } else if ((len = url_length(p, left, p > message.p ? p[-1] : '\0', key)) != 0) {
            with = "<url>";
        } else if ((len = host_length(p, left)) != 0) {
            with = "<host>";
        } else if (is_word((unsigned char)*p)) {
            for (len = 1; len < left && is_word((unsigned char)p[len]); len++)
                ;
            with = is_measured_time(p, len, left) ? "<n>" : word_class(p, len);
        } else {
            len = 1;
        }
        const char *from = with ? with : p;
        size_t take = with ? strlen(with) : len;
        for (size_t i = 0; i < take && n < ERRNORM_MAX_BYTES; i++)
            out[n++] = (unsigned char)from[i] < ' ' || from[i] == 0x7f ? ' ' : from[i];
        p += len;
        left -= len;
    }
    /* Do not cut a UTF-8 sequence in two. */
    if (n == ERRNORM_MAX_BYTES) {
        size_t k = n;
        while (k && utf8_goes_on(out[k - 1]))
            k--;
        if (k && (unsigned char)out[k - 1] >= 0xc0)
            n = k - 1;
    }
    return n;
}
