/* Any text in the formats that we write: it is the same when read back, and never becomes markup.
 *
 * Input: a text. */
#include "tests/fuzz/fuzz.h"

#include "analyze/data/errnorm.h"
#include "analyze/write/html.h"
#include "analyze/write/json.h"
#include "libcommon/record.h"
#include "libcommon/utf8.h"
#include "loadgen/s3/s3.h"
#include "loadgen/util/util.h"

#include <assert.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_utf8(const char *s)
{
    for (size_t n; *s != '\0'; s += n)
        if ((n = utf8_length(s)) == 0)
            return false;
    return true;
}

static void check_uri(const char *s, size_t n)
{
    for (int path = 0; path < 2; path++) {
        struct strbuf b = {0};
        uri_encode(&b, s, n, path != 0);
        strbuf_puts(&b, "");
        assert(!b.failed && strlen(b.s) == b.n && b.n <= URI_MAX(n));
        assert(strspn(b.s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                           "-._~%/") == b.n);
        assert(path || strchr(b.s, '/') == NULL);
        /* With one byte less it does not fit. */
        struct strbuf all = strbuf_on(malloc(b.n + 1), b.n + 1);
        struct strbuf less = strbuf_on(all.s, b.n > 0 ? b.n : 1);
        uri_encode(&less, s, n, path != 0);
        assert(less.failed == (n > 0));
        uri_encode(&all, s, n, path != 0);
        assert(!all.failed && strcmp(all.s, b.s) == 0);
        free(all.s);
        assert(uri_decode(b.s, &b.n) && b.n == n && memcmp(b.s, s, n) == 0);
        strbuf_fini(&b);
    }
}

/* Any text is a string of JSON. */
static void check_json(const char *s)
{
    json_t *made = json_out_text(s);

    assert(made != NULL);
    assert(!is_utf8(s) || strcmp(json_string_value(made), s) == 0);
    json_decref(made);
}

struct document {
    const char *s; /* the expected text */
    size_t at;
    bool differs;
};

static void on_element(void *user, const XML_Char *name, const XML_Char **attributes)
{
    (void)user;
    assert(strcmp(name, "Error") == 0 && attributes[0] == NULL);
}

static void on_text(void *user, const XML_Char *text, int n)
{
    struct document *d = user;

    if (d->s != NULL) {
        d->differs |= strncmp(d->s + d->at, text, (size_t)n) != 0;
        d->at += (size_t)n;
    }
}

/* The text of the one element of the document is `s` (NULL: any). */
static void check_document(const char *document, size_t n, const char *s)
{
    struct document d = {s, 0, false};
    XML_Parser parser = XML_ParserCreate("UTF-8");

    assert(parser != NULL);
    XML_SetUserData(parser, &d);
    XML_SetStartElementHandler(parser, on_element);
    XML_SetCharacterDataHandler(parser, on_text);
    enum XML_Status status = XML_Parse(parser, document, (int)n, 1);
    /* XML has no U+FFFE and U+FFFF, so they may be refused. */
    if (status != XML_STATUS_OK)
        assert(memmem(document, n, "\xEF\xBF\xBE", 3) || memmem(document, n, "\xEF\xBF\xBF", 3));
    else
        assert(!d.differs && (s == NULL || s[d.at] == '\0'));
    XML_ParserFree(parser);
}

static void check_xml(const char *s, size_t n)
{
    struct strbuf b = {0};

    strbuf_puts(&b, "<Error>");
    if (strbuf_xml(&b, s, n) && is_utf8(s)) {
        strbuf_puts(&b, "</Error>");
        assert(!b.failed);
        check_document(b.s, b.n, s);
    }
    strbuf_fini(&b);
}

static void check_html(const char *s)
{
    char *page = NULL;
    size_t n;
    FILE *f = open_memstream(&page, &n);

    assert(f != NULL);
    html_element(f, "Error", "%s", s);
    assert(fclose(f) == 0 && is_utf8(page));
    check_document(page, n, NULL);
    assert(strchr(page + 1, '<') == strrchr(page, '<'));
    free(page);
}

static void check_errnorm(const char *s, size_t n)
{
    char out[ERRNORM_MAX_BYTES];
    /* The message begins with part of itself as the key. */
    size_t len = errnorm_message((struct slice){s, n}, (struct slice){s, n / 2}, out);

    assert(len <= sizeof out);
    for (size_t i = 0; i < len; i++)
        assert((unsigned char)out[i] >= ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input in = {data, n};
    size_t n_text;
    char *s = fuzz_take_rest(&in, &n_text);
    /* Slices can be read a little beyond their end (record.h). */
    char *padded = malloc(n_text + RECORD_PADDING);

    assert(padded != NULL);
    memcpy(padded, s, n_text);
    check_errnorm(padded, n_text);
    check_uri(s, n_text);
    check_json(s);
    check_xml(s, strlen(s));
    check_html(s);
    free(padded);
    free(s);
    return 0;
}
