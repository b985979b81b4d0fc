#include "analyze/write/json.h"

#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/utf8.h"
#include "libcommon/visible.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void new_line(struct json_out *w)
{
    fprintf(w->f, "\n%*s", (int)w->depth, "");
}

/* Comma, line break and key before an item. */
static void begin_item(struct json_out *w, const char *key)
{
    if (!w->is_empty)
        fputc(',', w->f);
    if (w->depth > 0)
        new_line(w);
    if (key)
        fprintf(w->f, "\"%s\": ", key);
    w->is_empty = false;
}

static void open_container(struct json_out *w, const char *key, const char *brackets)
{
    begin_item(w, key);
    fputc(brackets[0], w->f);
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
    if (!w->is_empty)
        new_line(w);
    fputc(w->close[w->depth], w->f);
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

/* Takes jansson's text and indents it to where the value stands: a newline byte is always
 * structure, as those in strings are escaped. */
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
        json_out_value(w, key, json_null());
    return present;
}

json_t *json_out_text(const char *s)
{
    if (!s)
        return json_null();
    char *clean = utf8_repaired(s);
    json_t *text = json_string(clean);
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
    json_t *value = json_string(text);
    bool ok = value != NULL && json_dump_callback(value, write_plain, f, JSON_ENCODE_ANY) == 0;
    json_decref(value);
    return ok;
}

json_t *json_out_time(int64_t ns)
{
    return json_string(rfc3339_format(ns).s);
}

json_t *json_out_bool(bool value)
{
    return json_boolean(value);
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
