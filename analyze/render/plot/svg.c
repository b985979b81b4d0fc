#include "analyze/render/plot/charts_internal.h"

#include "analyze/write/html.h"
#include "analyze/write/outfile.h"
#include "libcommon/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"

char *plot_read_file(const char *path, size_t *n, struct err *e)
{
    FILE *f = fopen(path, "re"), *copy = NULL;
    char *text = NULL, part[4096];
    bool ok = f != NULL && (copy = open_memstream(&text, n)) != NULL;

    for (size_t n_read; ok && (n_read = fread(part, 1, sizeof part, f)) > 0;)
        ok = fwrite(part, 1, n_read, copy) == n_read;
    ok = copy != NULL && fclose(copy) == 0 && ok && !ferror(f);
    if (f != NULL)
        fclose(f);
    if (ok)
        return text;
    err_errno(e, errno, "%s", path);
    free(text);
    return NULL;
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
        text = plot_read_file(path, &(size_t){0}, e);
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

/* What is replaced in a picture: from `from` to the end of `until`. No label has a quote or a '<',
 * so no rule meets one in it. */
static const struct rule {
    const char *from, *until, *to;
    bool is_for_page; /* makes the picture smaller; else for files, too */
} rules[] = {
    {"<title>", "</title>", "", false}, /* of a line */
    {"<desc>", "</desc>", "", false},
    {"<image ", "", "<image style='image-rendering:pixelated' ", false}, /* sharp heat maps */
    {"<defs>", "</defs>", "", true}, /* those of the first picture serve all */
    {" id=\"gnuplot_", "\"", "", true},
    {" xmlns=\"", "\"", "", true},
    {" stroke-linecap=\"butt\"", "", "", true},
    {" stroke-linejoin=\"miter\"", "", "", true},
    {" stroke-width=\"1.00\"", "", "", true},
    {" font-family=\"sans-serif\"", "", "", true},
    {"<g fill=\"none\" color=\"black\" stroke=\"currentColor\"", "", "<g class=\"gp\"", true},
};

/* A picture on its way into a file of its own or, with a palette, into a page. */
struct copying {
    FILE *f;
    const struct plot_palette *palette;
    bool keeps_defs, in_tag;
};

/* Each of these writes its part of the picture at s, and returns the number of characters read; 0:
 * it has none there. */

static size_t put_ruled(struct copying *c, const char *s)
{
    bool may_begin = *s == '<' || *s == ' '; /* as all rules do */

    for (const struct rule *r = rules; may_begin && r < rules + sizeof rules / sizeof *rules; r++) {
        const char *rest = skip(s, r->from);
        const char *end = rest != NULL ? strstr(rest, r->until) : NULL;

        if (end == NULL || (r->is_for_page && c->palette == NULL) ||
            (c->keeps_defs && strcmp(r->from, "<defs>") == 0))
            continue;
        fputs(r->to, c->f);
        c->in_tag |= *r->to == '<';
        return (size_t)(end - s) + strlen(r->until);
    }
    return 0;
}

/* Drops an empty group, of which gnuplot writes many. */
static size_t drop_group(const char *s)
{
    const char *end = skip(s, "<g ") != NULL ? strchr(s, '>') : NULL;

    end = end != NULL ? skip(end + 1 + strspn(end + 1, BLANKS), "</g>") : NULL;
    return end != NULL ? (size_t)(end - s) : 0;
}

/* Shortens a fraction of two digits to one digit, or none if that is 0: hundredths of a pixel
 * cannot be seen. */
static size_t put_fraction(const struct copying *c, const char *s)
{
    if (s[0] != '.' || strspn(s + 1, "0123456789") != 2)
        return 0;
    if (s[1] != '0')
        fprintf(c->f, ".%c", s[1]);
    return 3;
}

/* Turns a colour into a variable. */
static size_t put_colour(const struct copying *c, const char *s)
{
    unsigned rgb[3];
    size_t n = colour_length(s, rgb);
    const char *name = n > 0 ? colour_name(c->palette, rgb) : NULL;

    if (name == NULL)
        return 0;
    fprintf(c->f, "var(--%s)", name);
    return n;
}

/* Drops blanks between tags, and all but one within a tag. */
static size_t put_blanks(const struct copying *c, const char *s)
{
    size_t n = strspn(s, BLANKS);

    if (n == 0 || (!c->in_tag && s[n] != '<'))
        return 0;
    fputs(c->in_tag ? " " : "", c->f);
    return n;
}

static void copy(struct copying *c, const char *s)
{
    while (*s != '\0') {
        /* With these begins all that is replaced. */
        size_t n_plain = strcspn(s, "<>.r#" BLANKS);

        fwrite(s, 1, n_plain, c->f);
        s += n_plain;
        size_t n = c->palette != NULL ? drop_group(s) : 0;

        n = n > 0 ? n : put_ruled(c, s);
        if (n == 0 && c->palette != NULL) {
            n = put_blanks(c, s);
            n = n > 0 || !c->in_tag ? n : put_fraction(c, s);
            n = n > 0 || !c->in_tag ? n : put_colour(c, s);
        }
        if (n == 0 && *s != '\0') {
            /* gnuplot leaves it in labels, but "]]>" is no XML. */
            if (*s == '>' && !c->in_tag)
                fputs("&gt;", c->f);
            else
                putc_unlocked(*s, c->f);
            c->in_tag = *s == '<' || (c->in_tag && *s != '>');
            n = 1;
        }
        s += n;
    }
}

/* Writes the picture at `path` with this beginning of its element, and its title. */
static bool put_picture(struct copying *c, const char *path, const char *beginning,
                        const char *title, struct err *e)
{
    char *text = plot_read_file(path, &(size_t){0}, e);
    const char *box = text != NULL ? strstr(text, "viewBox=\"") : NULL;
    char *head_end = box != NULL ? strchr(box, '>') : NULL;

    if (head_end != NULL) {
        *head_end = '\0';
        c->in_tag = true;
        fputs(beginning, c->f);
        copy(c, box);
        c->in_tag = false;
        html_within(c->f, "><title>", title, "</title>");
        copy(c, head_end + 1);
    } else if (text != NULL) {
        err_set(e, "%s: not as gnuplot writes SVG", path);
    }
    free(text);
    return head_end != NULL;
}

bool plot_svg_finish(const char *from, const char *path, const char *title, int width, int height,
                     double inches, struct err *e)
{
    struct outfile out;
    char beginning[128];

    snprintf(beginning, sizeof beginning,
             "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<svg width=\"%.6g%s\" height=\"%.6g%s\" ",
             inches > 0 ? inches : width, inches > 0 ? "in" : "",
             inches > 0 ? inches * height / width : height, inches > 0 ? "in" : "");
    return outfile_open(&out, path, OUTFILE_ANYTHING, e) &&
           outfile_finish(&out,
                          put_picture(&(struct copying){.f = out.f}, from, beginning, title, e), e);
}

bool plot_svg_inline(FILE *f, const char *path, const char *title, const char *css_class,
                     bool is_first, const struct plot_palette *palette, struct err *e)
{
    struct copying c = {.f = f, .palette = palette, .keeps_defs = is_first};
    char beginning[64];

    snprintf(beginning, sizeof beginning, "<svg class=\"%.16s\" role=\"img\" ", css_class);
    return put_picture(&c, path, beginning, title, e);
}
