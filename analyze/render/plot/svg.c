#include "analyze/render/plot/charts_internal.h"

#include "analyze/write/html.h"
#include "analyze/write/outfile.h"
#include "libcommon/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the whole file, NUL-terminated; the caller frees it. NULL: *e says why. */
static char *read_all(const char *path, struct err *e)
{
    FILE *f = fopen(path, "re");
    char *text = NULL;
    size_t cap = 0;

    if (f == NULL) {
        err_errno(e, errno, "%s", path);
        return NULL;
    }
    if (getdelim(&text, &cap, '\0', f) < 0) {
        if (feof(f))
            err_set(e, "%s: is empty", path);
        else
            err_errno(e, errno, "%s", path);
        free(text);
        text = NULL;
    }
    fclose(f);
    return text;
}

static const char *skip(const char *s, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

/* ---- The palette ---- */

bool plot_palette_read(struct plot_palette *p, struct err *e)
{
    char *scripts = plot_scripts(e), *path = NULL, *text = NULL;

    *p = (struct plot_palette){.n = 0};
    if (scripts != NULL && mem_format(&path, e, "%s/style.gp", scripts))
        text = read_all(path, e);
    free(scripts);
    free(path);
    if (text == NULL)
        return false;
    /* Lines NAME = "#rrggbb"; those of the dark theme come first. */
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

/* Returns the length of the colour at s, "rgb( 0, 105, 180)" or "#0069b4", and its values; 0:
 * none. */
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

/* Returns the length of the attribute at s if it only repeats a default; 0: it does not. */
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

/* Shortens a fraction of two digits at s to one digit, or none if that is 0: hundredths of a pixel
 * cannot be seen. Returns the number of characters read; 0: no such fraction. */
static size_t put_fraction(FILE *f, const char *s)
{
    if (s[0] != '.' || !is_digit(s[1]) || !is_digit(s[2]) || is_digit(s[3]))
        return 0;
    if (s[1] != '0')
        fprintf(f, ".%c", s[1]);
    return 3;
}

/* Whether all drawings of gnuplot define the name. A page has these definitions once
 * (plot_svg_defs), under gnuplot's names. */
static bool is_shared(const char *name)
{
    return skip(name, "gpDot") != NULL || skip(name, "gpPt") != NULL ||
           skip(name, "textbox") != NULL || skip(name, "greybox") != NULL;
}

/* Returns the number of blanks at s. */
static size_t blanks(const char *s)
{
    return strspn(s, " \t\r\n");
}

/* Returns the length of an empty group at s, of which gnuplot writes many; 0: none. */
static size_t empty_group(const char *s)
{
    const char *end = skip(s, "<g ") != NULL ? strchr(s, '>') : NULL;

    end = end != NULL ? skip(end + 1 + blanks(end + 1), "</g>") : NULL;
    return end != NULL ? (size_t)(end - s) : 0;
}

/* A picture on its way into a file of its own or, with a prefix, into a page. */
struct copying {
    FILE *f;
    const char *title, *prefix;
    const struct plot_palette *palette;
    int width, height; /* 0: those of the drawing */
    bool in_tag, has_title, has_defs;
};

/* Each of these writes its part of the picture at s, and returns the number of characters read; 0:
 * it has none there. */

/* Writes the size at which the picture of a file is shown: the drawing is magnified to it. */
static size_t put_size(struct copying *c, const char *s)
{
    int n = 0;

    if (c->width == 0 || sscanf(s, "width=\"%*d\" height=\"%*d\"%n", &n) != 0 || n == 0)
        return 0;
    fprintf(c->f, "width=\"%d\" height=\"%d\"", c->width, c->height);
    c->width = 0;
    return (size_t)n;
}

/* Changes elements of any picture: sets the title, drops the description, sharpens heat maps. */
static size_t put_element(struct copying *c, const char *s)
{
    static const char image[] = "<image ";
    const char *end;

    if (skip(s, "<title>") != NULL && (end = strstr(s, "</title>")) != NULL) {
        if (c->prefix == NULL || !c->has_title)
            put_title(c->f, c->title);
        c->has_title = true;
        return (size_t)(end - s) + strlen("</title>");
    }
    if (skip(s, "<desc>") != NULL && (end = strstr(s, "</desc>")) != NULL)
        return (size_t)(end - s) + strlen("</desc>");
    if (skip(s, image) == NULL)
        return 0;
    fputs("<image style='image-rendering:pixelated' ", c->f);
    c->in_tag = true;
    return strlen(image);
}

/* Shortens a picture in a page: drops definitions, which the page has once, and empty groups; the
 * usual group gets a class. */
static size_t put_shorter(struct copying *c, const char *s)
{
    static const char usual_group[] = "<g fill=\"none\" color=\"black\" stroke=\"currentColor\"";
    const char *end;

    if (skip(s, "<defs>") != NULL && !c->has_defs && (end = strstr(s, "</defs>")) != NULL) {
        c->has_defs = true;
        return (size_t)(end - s) + strlen("</defs>");
    }
    if (empty_group(s) > 0 || skip(s, usual_group) == NULL)
        return empty_group(s);
    fputs("<g class=\"gp\"", c->f);
    c->in_tag = true;
    return strlen(usual_group);
}

/* Changes attributes of a picture in a page: drops defaults, adds the prefix to ids, turns colours
 * into variables. */
static size_t put_attribute(struct copying *c, const char *s)
{
    static const char *const names[] = {"id='", "id=\"", "href='#", "url(#"};
    unsigned rgb[3];
    size_t n = default_length(s);

    n = n > 0 ? n : put_fraction(c->f, s);
    for (size_t i = 0; n == 0 && i < sizeof names / sizeof *names; i++)
        if (skip(s, names[i]) != NULL) {
            n = strlen(names[i]);
            fprintf(c->f, "%s%s", names[i], is_shared(s + n) ? "" : c->prefix);
        }
    if (n > 0 || (*s != 'r' && *s != '#'))
        return n;
    n = colour_length(s, rgb);
    const char *name = n > 0 ? colour_name(c->palette, rgb) : NULL;
    if (name == NULL)
        return 0;
    fprintf(c->f, "var(--%s)", name);
    return n;
}

/* Drops blanks between tags, and all but one within a tag. */
static size_t put_blanks(struct copying *c, const char *s)
{
    size_t n = blanks(s);

    if (n > 0 && !c->in_tag && s[n] == '<')
        return n;
    if (n < 2 || !c->in_tag)
        return 0;
    fputc(' ', c->f);
    return n;
}

static void copy(struct copying *c, const char *text)
{
    for (const char *s = text; *s != '\0';) {
        bool for_page = c->prefix != NULL;
        size_t n = put_element(c, s);

        n = n > 0 ? n : put_size(c, s);
        n = n > 0 || !for_page ? n : put_shorter(c, s);
        if (n == 0 && *s == '>' && !c->in_tag) { /* gnuplot leaves it, but "]]>" is no XML */
            fputs("&gt;", c->f);
            n = 1;
        } else if (n == 0) {
            c->in_tag = *s == '<' || (c->in_tag && *s != '>');
            n = for_page ? put_blanks(c, s) : 0;
            n = n > 0 || !for_page || !c->in_tag ? n : put_attribute(c, s);
        }
        if (n == 0)
            fputc(*s, c->f);
        s += n > 0 ? n : 1;
    }
}

bool plot_svg_finish(const char *from, const char *path, const char *title, int width, int height,
                     struct err *e)
{
    struct outfile out;
    char *text = read_all(from, e);
    bool ok = text != NULL && outfile_open(&out, path, OUTFILE_ANYTHING, e);

    if (ok) {
        copy(&(struct copying){.f = out.f, .title = title, .width = width, .height = height}, text);
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
        copy(&(struct copying){f, title, prefix, palette, .width = 0}, body + 1);
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
