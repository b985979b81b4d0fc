#include "analyze/plot/svg.h"

#include "analyze/write/html.h"
#include "analyze/write/outfile.h"
#include "libcommon/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (64u << 20)

/* The whole file, NUL-terminated; the caller frees it. NULL: *e says why. */
static char *read_all(const char *path, struct err *e)
{
    FILE *f = fopen(path, "re");
    char *text = NULL;
    size_t n = 0, cap = 0;

    if (f == NULL) {
        err_errno(e, errno, "%s", path);
        return NULL;
    }
    do {
        cap = cap > 0 ? 2 * cap : 1 << 16;
        char *more = cap <= MAX_BYTES ? realloc(text, cap + 1) : NULL;
        if (more == NULL) {
            err_set(e, cap > MAX_BYTES ? "%s: too large" : "%s: out of memory", path);
            goto failed;
        }
        text = more;
        n += fread(text + n, 1, cap - n, f);
    } while (n == cap);
    if (ferror(f)) {
        err_errno(e, errno, "%s", path);
        goto failed;
    }
    fclose(f);
    text[n] = '\0';
    return text;
failed:
    fclose(f);
    free(text);
    return NULL;
}

static const char *skip(const char *s, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

/* ---- The palette ---- */

bool plot_palette_read(struct plot_palette *p, const char *scripts, struct err *e)
{
    char *path = NULL;
    *p = (struct plot_palette){.n = 0};
    if (asprintf(&path, "%s/style.gp", scripts) < 0)
        return mem_none(e);
    char *text = read_all(path, e);
    free(path);
    if (text == NULL)
        return false;
    /* NAME = "#rrggbb": those of the dark theme come first. */
    for (const char *at = text; (at = strstr(at, " = \"#")) != NULL; at++) {
        const char *name = at;
        while (name > text && (name[-1] == '_' || (name[-1] >= '0' && name[-1] <= '9') ||
                               (name[-1] >= 'a' && name[-1] <= 'z')))
            name--;
        size_t n = (size_t)(at - name), k = 0;
        if (n == 0 || n >= sizeof p->v[0].name || strlen(at) < 12)
            continue;
        while (k < p->n && (strncmp(p->v[k].name, name, n) != 0 || p->v[k].name[n] != '\0'))
            k++;
        if (k == PLOT_SVG_MAX_COLOURS)
            break;
        struct plot_colour *c = &p->v[k];
        memcpy(c->light, at + 4, 7);
        if (k == p->n) {
            memcpy(c->name, name, n);
            memcpy(c->dark, at + 4, 7);
            p->n++;
        }
    }
    free(text);
    return true;
}

/* Length of the colour at s, "rgb(  0, 105, 180)" or "#0069b4", and its values; 0: none. */
static size_t colour_length(const char *s, unsigned rgb[3])
{
    int n = 0;
    if (sscanf(s, "rgb( %3u, %3u, %3u)%n", &rgb[0], &rgb[1], &rgb[2], &n) == 3 && n > 0)
        return (size_t)n;
    n = 0;
    if (sscanf(s, "#%2x%2x%2x%n", &rgb[0], &rgb[1], &rgb[2], &n) == 3 && n == 7)
        return 7;
    return 0;
}

static const char *colour_name(const struct plot_palette *p, const unsigned rgb[3])
{
    char hex[16];
    snprintf(hex, sizeof hex, "#%02x%02x%02x", rgb[0] & 0xff, rgb[1] & 0xff, rgb[2] & 0xff);
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->v[i].light, hex) == 0)
            return p->v[i].name;
    return NULL;
}

/* ---- The picture ---- */

static void put_title(FILE *f, const char *title)
{
    fputs("<title>", f);
    html_text(f, title);
    fputs("</title>", f);
}

/* What a tag says that is so without. Length of it at s; 0: nothing. */
static size_t default_length(const char *s)
{
    static const char *const defaults[] = {" stroke-linecap=\"butt\"", " stroke-linejoin=\"miter\"",
                                           " stroke-width=\"1.00\"", " font-family=\"sans-serif\""};

    for (size_t i = 0; *s == ' ' && i < sizeof defaults / sizeof *defaults; i++)
        if (skip(s, defaults[i]) != NULL)
            return strlen(defaults[i]);
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Hundredths of a pixel are not to be seen: how many characters of a fraction of two digits at s go
 * after one digit, or none, was written. */
static size_t put_fraction(FILE *f, const char *s)
{
    if (s[0] != '.' || !is_digit(s[1]) || !is_digit(s[2]) || is_digit(s[3]))
        return 0;
    if (s[1] != '0')
        fprintf(f, ".%c", s[1]);
    return 3;
}

/* What all drawings of gnuplot define alike is once in a page (plot_svg_defs), under gnuplot's
 * names.
 */
static bool is_shared(const char *name)
{
    return skip(name, "gpDot") != NULL || skip(name, "gpPt") != NULL ||
           skip(name, "textbox") != NULL || skip(name, "greybox") != NULL;
}

/* Blanks between tags, and all but one within. */
static size_t blanks(const char *s)
{
    return strspn(s, " \t\r\n");
}

/* How far an empty group at s goes, of which gnuplot writes many; 0: none. */
static size_t empty_group(const char *s)
{
    const char *end = skip(s, "<g ") != NULL ? strchr(s, '>') : NULL;

    end = end != NULL ? skip(end + 1 + blanks(end + 1), "</g>") : NULL;
    return end != NULL ? (size_t)(end - s) : 0;
}

/* Copies what lies between `text` and its end; prefix and palette NULL: for a file of its own. */
static void copy(FILE *f, const char *text, const char *title, const char *prefix,
                 const struct plot_palette *palette)
{
    static const char usual_group[] = "<g fill=\"none\" color=\"black\" stroke=\"currentColor\"";
    unsigned rgb[3];
    size_t n_empty;
    bool in_tag = false, has_title = false, has_defs = false;

    for (const char *s = text; *s != '\0';) {
        const char *end;
        if (skip(s, "<title>") != NULL && (end = strstr(s, "</title>")) != NULL) {
            if (prefix == NULL || !has_title)
                put_title(f, title);
            has_title = true;
            s = end + strlen("</title>");
            continue;
        }
        if (skip(s, "<desc>") != NULL && (end = strstr(s, "</desc>")) != NULL) {
            s = end + strlen("</desc>");
            continue;
        }
        if ((end = skip(s, "<image ")) != NULL) {
            fputs("<image style='image-rendering:pixelated' ", f);
            in_tag = true;
            s = end;
            continue;
        }
        if (prefix != NULL && skip(s, "<defs>") != NULL && !has_defs &&
            (end = strstr(s, "</defs>")) != NULL) {
            has_defs = true;
            s = end + strlen("</defs>");
            continue;
        }
        if (prefix != NULL && (n_empty = empty_group(s)) > 0) {
            s += n_empty;
            continue;
        }
        if (prefix != NULL && (end = skip(s, usual_group)) != NULL) {
            fputs("<g class=\"gp\"", f);
            in_tag = true;
            s = end;
            continue;
        }
        in_tag = *s == '<' || (in_tag && *s != '>');
        size_t n_blanks = prefix != NULL ? blanks(s) : 0;
        if (n_blanks > 0 && !in_tag && s[n_blanks] == '<') {
            s += n_blanks;
            continue;
        }
        if (in_tag && n_blanks > 1) {
            fputc(' ', f);
            s += n_blanks;
            continue;
        }
        if (in_tag && prefix != NULL) {
            size_t n = default_length(s);
            n = n > 0 ? n : put_fraction(f, s);
            s += n;
            if (n > 0)
                continue;
        }
        if (in_tag && prefix != NULL) {
            if ((end = skip(s, "id='")) != NULL || (end = skip(s, "id=\"")) != NULL ||
                (end = skip(s, "href='#")) != NULL || (end = skip(s, "url(#")) != NULL) {
                fwrite(s, 1, (size_t)(end - s), f);
                if (!is_shared(end))
                    fputs(prefix, f);
                s = end;
                continue;
            }
            size_t n = *s == 'r' || *s == '#' ? colour_length(s, rgb) : 0;
            const char *name = n > 0 ? colour_name(palette, rgb) : NULL;
            if (name != NULL) {
                fprintf(f, "var(--%s)", name);
                s += n;
                continue;
            }
        }
        fputc(*s++, f);
    }
}

bool plot_svg_finish(const char *from, const char *path, const char *title, struct err *e)
{
    struct outfile out;
    char *text = read_all(from, e);
    bool ok = text != NULL && outfile_open(&out, path, OUTFILE_ANYTHING, e);

    if (ok) {
        copy(out.f, text, title, NULL, NULL);
        ok = outfile_close(&out, e);
    }
    free(text);
    return ok;
}

bool plot_svg_inline(FILE *f, const char *path, const char *title, const char *css_class,
                     const char *prefix, const struct plot_palette *palette, struct err *e)
{
    char *text = read_all(path, e);
    if (text == NULL)
        return false;
    const char *svg = strstr(text, "<svg"), *box = strstr(text, "viewBox=\"");
    const char *end = box != NULL ? strchr(box + strlen("viewBox=\""), '"') : NULL;
    const char *body = end != NULL ? strchr(end, '>') : NULL;
    bool ok = (svg != NULL && body != NULL && svg < box) ||
              err_set(e, "%s: not as gnuplot writes SVG", path);
    if (ok) {
        fprintf(f,
                "<svg class=\"%s\" role=\"img\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
                "%.*s>",
                css_class, (int)(end + 1 - box), box);
        copy(f, body + 1, title, prefix, palette);
    }
    free(text);
    return ok;
}

bool plot_svg_defs(FILE *f, const char *path, struct err *e)
{
    char *text = read_all(path, e);
    if (text == NULL)
        return false;
    const char *defs = strstr(text, "<defs>"), *end = defs != NULL ? strstr(defs, "</defs>") : NULL;
    if (end != NULL)
        fprintf(f,
                "<svg class=\"defs\" aria-hidden=\"true\" "
                "xmlns:xlink=\"http://www.w3.org/1999/xlink\">%.*s</defs></svg>\n",
                (int)(end - defs), defs);
    free(text);
    return true;
}
