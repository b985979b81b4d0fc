#include "analyze/render/page/page.h"

#include "analyze/tools/compare/sha256.h"
#include "analyze/write/html.h"
#include "libcommon/mem.h"
#include "libcommon/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Charts ---- */

bool html_charts_init(struct html_charts *c, struct err *e)
{
    const char *base = getenv("TMPDIR");
    *c = (struct html_charts){.options = {
                                  .no_titles = true,
                                  .with_narrow = true,
                                  .with_readings = true,
                                  .format = "svg",
                                  .theme = "light",
                              }};
    if (!mem_format(&c->folder, e, "%s/s3analyze-XXXXXX",
                    base != NULL && *base != '\0' ? base : "/tmp"))
        return false;
    unfinished_lock();
    bool ok = mkdtemp(c->folder) != NULL;
    if (ok)
        unfinished_add(&c->unfinished, c->folder, 0);
    unfinished_unlock();
    c->options.folder = c->folder;
    if (ok)
        return true;
    err_errno(e, errno, "%s: a folder for the charts", c->folder);
    free(c->folder);
    c->folder = NULL;
    return false;
}

void html_charts_draw(struct html_charts *c)
{
    if (!plot_palette_read(&c->palette, &c->missing))
        return;
    plot_draw(&c->set, &c->options, &c->missing);
    for (size_t i = 0; i < c->set.n; i++) {
        struct plot_picture x = c->set.v[i];

        if (x.missing != NULL || access(x.picture, F_OK) != 0)
            continue;
        c->set.v[i] = c->set.v[c->n_drawn];
        c->set.v[c->n_drawn++] = x;
    }
    if (c->n_drawn == 0)
        c->palette.n = 0; /* no chart uses these colours */
}

void html_charts_fini(struct html_charts *c)
{
    for (size_t i = 0; i < c->set.n; i++) {
        unlink(c->set.v[i].data);
        unlink(c->set.v[i].picture);
        unlink(c->set.v[i].narrow);
    }
    if (c->folder != NULL)
        rmdir(c->folder);
    unfinished_drop(&c->unfinished);
    free(c->folder);
    plot_set_free(&c->set);
}

/* Returns the id of the i-th chart. Charts of one name are numbered from the second on. */
static struct chart_id {
    char s[96];
} chart_id(const struct html_charts *c, const char *section, size_t i)
{
    const struct plot_picture *x = &c->set.v[i];
    struct chart_id id;
    size_t n = 1;

    for (size_t k = 0; k < i; k++)
        n += strcmp(c->set.v[k].chart, x->chart) == 0 && strcmp(c->set.v[k].op, x->op) == 0;
    snprintf(id.s, sizeof id.s, n > 1 ? "%s-chart-%s-%zu" : "%s-chart-%s", section, x->chart, n);
    return id;
}

/* Writes the i-th chart, both wide and narrow; the style sheet shows one of them. */
void html_page_command(FILE *f, const struct html_charts *c, const char *charts, const char *op)
{
    if (c->operands == NULL)
        return;
    fprintf(f, "<details><summary>Command</summary><code>s3analyze plot --chart %s", charts);
    html_within(f, *op != '\0' ? " --op " : "", op, " --out ");
    fprintf(f, "%s %s</code></details>", strchr(charts, ',') != NULL ? "FOLDER" : "FILE.pdf",
            c->operands);
}

static bool put_chart(FILE *f, const struct html_charts *c, const char *section, int series,
                      size_t i, struct err *e)
{
    const struct plot_picture *x = &c->set.v[i];
    const struct chart_id id = chart_id(c, section, i);

    fprintf(f, "<figure id=\"%s\" data-series=\"%d\"", id.s, series);
    if (x->readings != NULL)
        html_within(f, " data-readings=\"", x->readings, "\"");
    fputs("><figcaption>", f);
    html_text(f, x->title);
    fprintf(f, " <a class=\"self\" href=\"#%s\" aria-label=\"Link to this chart\">#</a>", id.s);
    html_within(f, "<small>", x->caption, "</small>");
    html_page_command(f, c, x->asked, x->op);
    fputs("</figcaption>", f);
    bool ok = plot_svg_inline(f, x->picture, x->title, "wide", i == 0, &c->palette, e) &&
              plot_svg_inline(f, x->narrow, x->title, "narrow", false, &c->palette, e);
    fputs("</figure>\n", f);
    return ok;
}

bool html_page_charts(FILE *f, const struct html_charts *c, const char *section, int series,
                      const char *op, struct err *e)
{
    bool ok = true;
    for (size_t i = 0; ok && i < c->n_drawn; i++)
        if (strcmp(c->set.v[i].op, op) == 0)
            ok = put_chart(f, c, section, series, i, e);
    return ok;
}

bool html_page_has_chart(const struct html_charts *c, const char *chart, const char *op)
{
    for (size_t i = 0; i < c->n_drawn; i++)
        if (strcmp(c->set.v[i].chart, chart) == 0 && strcmp(c->set.v[i].op, op) == 0)
            return true;
    return false;
}

/* ---- The page ---- */

static void put_meta(FILE *f, const char *what, const char *content)
{
    fprintf(f, "<meta %s", what);
    html_within(f, " content=\"", content, "\">\n");
}

bool html_page_begin(FILE *f, const struct html_charts *c, const char *title, const char *says,
                     struct err *e)
{
    struct sha256_base64 script, flame;

    if (!sha256_text_base64(page_js, strlen(page_js), &script, e) ||
        !sha256_text_base64(flame_js, strlen(flame_js), &flame, e))
        return false;
    fprintf(f,
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
            "script-src 'sha256-%s' 'sha256-%s'\">\n",
            script.s, flame.s);
    fprintf(f, "<meta name=\"generator\" content=\"s3analyze %s\">\n", version_string);
    fputs("<link rel=\"icon\" href=\"data:,\">\n", f);
    html_element(f, "title", "%s", title);
    fputs("<meta property=\"og:type\" content=\"article\">\n", f);
    put_meta(f, "property=\"og:title\"", title);
    put_meta(f, "property=\"og:description\"", says);
    put_meta(f, "name=\"description\"", says);
    fprintf(f, "<style>\n%s:root{", page_css);
    for (size_t i = 0; i < c->palette.n; i++)
        fprintf(f, "--%s:%s;", c->palette.v[i].name, c->palette.v[i].light);
    fputs("--c_back:transparent}\n@media screen and (prefers-color-scheme:dark){:root{", f);
    for (size_t i = 0; i < c->palette.n; i++)
        fprintf(f, "--%s:%s;", c->palette.v[i].name, c->palette.v[i].dark);
    fputs("--c_back:transparent}}\n</style></head>\n<body>\n<header>", f);
    html_element(f, "h1", "%s", title);
    return true;
}

void html_page_main(FILE *f, const char *label, const char *text)
{
    if (*text != '\0')
        html_element(f, "p", "%s%s", label, text);
    fputs("</header>\n<main>\n", f);
}

void html_page_contents(FILE *f)
{
    fputs("<nav aria-label=\"Contents\"><ul>\n", f);
    html_page_link(f, "first", "Summary");
}

void html_page_link(FILE *f, const char *id, const char *title)
{
    fprintf(f, "<li><a href=\"#%s\"", id);
    html_within(f, ">", title, "</a></li>\n");
}

void html_page_contents_end(FILE *f)
{
    html_page_link(f, "inputs", "Inputs");
    html_page_link(f, "definitions", "Definitions");
    fputs("</ul></nav>\n", f);
}

bool html_page_sheet(struct sheet *s, FILE *f, const char *section, struct err *e)
{
    bool ok = sheet_write_html(s, f, section, e);

    sheet_free(s);
    return ok;
}

void html_page_definitions(FILE *f, const struct html_definition *v)
{
    html_fold(f, "definitions", "How the figures are defined");
    fputs("<dl>\n", f);
    for (; v->term != NULL; v++) {
        html_element(f, "dt", "%s", v->term);
        html_element(f, "dd", "%s", v->text);
    }
    fputs("</dl>\n", f);
    html_fold_end(f);
}

void html_page_inputs(FILE *f, const char *command)
{
    html_fold(f, "inputs", "Inputs and parameters");
    html_within(f, "<p>This page was made by <code>", command, "</code></p>\n");
}

bool html_page_warnings(FILE *f, const struct html_charts *c, struct sheet *s, struct err *e)
{
    if (c->n_drawn == 0 && c->missing.msg[0] != '\0')
        sheet_item(s, TEXT_PLAIN, "There are no charts: %s", c->missing.msg);
    for (size_t i = c->n_drawn; c->n_drawn > 0 && i < c->set.n; i++)
        sheet_item(s, TEXT_PLAIN, "A chart is missing: %s: %s", c->set.v[i].title,
                   c->set.v[i].missing != NULL ? c->set.v[i].missing : c->missing.msg);
    if (s->n == 0 && !s->failed)
        return true;
    fputs("<div class=\"warn\">\n", f);
    bool ok = html_page_sheet(s, f, "warnings", e);
    fputs("</div>\n", f);
    return ok;
}

void html_page_end(FILE *f)
{
    fprintf(f,
            "</main>\n<footer>Written by s3analyze %s.</footer>\n<script>%s</script>\n"
            "</body></html>\n",
            version_string, page_js);
}
