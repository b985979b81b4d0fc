#include "analyze/report/page.h"

#include "analyze/compare/sha256.h"
#include "analyze/plot/gnuplot.h"
#include "analyze/report/page_script.h"
#include "analyze/write/html.h"
#include "libcommon/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the page; the charts' colours come as variables, from plots/style.gp. */
static const char style[] =
    ":root{color-scheme:light dark;--page:#f6f7f9;--card:#ffffff;--text:#1c2127;--faint:#5b6570;"
    "--line:#dfe3e8;--accent:#0069b4;--bad:#b3261e;--good:#00704f;--warn:#fdf3d6;--warn-line:#"
    "d9a514;--c_1:#0069b4;--c_2:#c75300;--c_3:#00805e;--c_bad:#b3123f;--outside:#eef0f3;"
    "--warm:#fbeecb;--event:#f9dce4}\n"
    "@media screen and (prefers-color-scheme:dark){:root{--page:#0d1013;--card:#14181d;"
    "--text:#e6e9ed;--faint:#9aa4af;--line:#2e353d;--accent:#5ab4f0;--bad:#ff8a80;--good:#4bd6ac;"
    "--warn:#2b2411;--warn-line:#b98a12;--c_1:#5ab4f0;--c_2:#f2a541;--c_3:#3fd0a8;"
    "--c_bad:#ff6b6b;--outside:#20262d;--warm:#4a3d17;--event:#4a2430}}\n"
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%}\n"
    "body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,"
    "'Segoe UI',Roboto,'Noto Sans','Liberation Sans',sans-serif;overflow-wrap:anywhere}\n"
    "main,header,footer{max-width:1120px;margin:0 auto;padding:0 20px}\n"
    "header{padding-top:14px}\nfooter{padding:24px 20px 48px;color:var(--faint);font-size:13px}\n"
    "h1{font-size:20px;line-height:1.25;margin:0 0 2px}\n"
    "h2{font-size:21px;line-height:1.3;margin:44px 0 14px;padding-top:14px;"
    "border-top:1px solid var(--line)}\n"
    "h3{font-size:16px;margin:28px 0 8px}\np{margin:8px 0}\n"
    "a{color:var(--accent)}\n"
    "header p{color:var(--faint);margin:0}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(250px,1fr));gap:14px;"
    "margin:16px 0}\n"
    ".card{background:var(--card);border:1px solid var(--line);border-radius:8px;"
    "padding:14px 16px}\n"
    ".card b{display:block;font-size:23px;line-height:1.25;margin:2px 0;font-weight:650;"
    "font-variant-numeric:tabular-nums}\n"
    ".card span{display:block;color:var(--faint);font-size:13px}\n"
    ".card .bad,td.bad{color:var(--bad)}.card .good,td.good{color:var(--good)}\n"
    ".headline{font-size:19px;line-height:1.4;margin:10px 0 8px;font-weight:550;"
    "text-wrap:pretty}\n"
    ".badge{margin:8px 0;padding:8px 14px;border-radius:6px;border:1px solid var(--line);"
    "border-left:6px solid var(--faint);background:var(--card)}\n"
    ".badge.good{border-left-color:var(--good)}.badge.poor{border-left-color:var(--warn-line)}"
    ".badge.none{border-left-color:var(--bad)}\n"
    ".findings{margin:8px 0;padding-left:26px}.findings li{margin:3px 0}small{font-size:13px}"
    ".findings small,th small{color:var(--faint);font-weight:400}\n"
    ".more{border:0;margin:0;padding:0}.more summary{font-size:14px}details{border-top:1px solid "
    "var(--line);margin:18px 0 0;padding:10px 0}"
    "summary{cursor:pointer;font-size:17px;font-weight:600}details details{border:0;margin:0}"
    ".findings+details{border:0;margin:0;padding:0}.findings+details summary{font-size:14px}\n"
    "svg.timeline text{font-size:12.5px;fill:var(--faint)}svg.timeline .title{fill:var(--text);"
    "font-weight:600}svg.timeline .end{text-anchor:end}svg.timeline .mid,svg.timeline .number"
    "{text-anchor:middle}svg.timeline .number{fill:var(--card);font-weight:600}\n"
    ".grid{stroke:var(--line);fill:none}.axis{stroke:var(--faint);fill:none}"
    ".s1,.s2,.s3{fill:none;stroke-width:1.5;stroke:var(--c_1)}.s2{stroke:var(--c_2)}"
    ".s3{stroke:var(--c_3)}.dashed{stroke-dasharray:5 3}"
    ".b1{fill:var(--c_bad)}.b2{fill:var(--c_2)}.b3{fill:var(--c_3)}"
    ".outside{fill:var(--outside)}.warm{fill:var(--warm)}.event{fill:var(--event)}"
    ".noticed{fill:var(--outside)}.mark{stroke:var(--faint);stroke-dasharray:2 3}"
    ".mark.problem{stroke:var(--c_bad)}.dot{fill:var(--faint)}.dot.problem{fill:var(--c_bad)}"
    ".cursor{stroke:var(--text);stroke-width:1;opacity:0;pointer-events:none}.cursor.on{opacity:.7}"
    ".reading{position:fixed;z-index:2;background:var(--text);color:var(--card);padding:5px 9px;"
    "border-radius:5px;font-size:13px;white-space:pre;pointer-events:none;"
    "font-variant-numeric:tabular-nums}\n"
    ".self{color:var(--faint);font-weight:400;text-decoration:none}th button{font:inherit;"
    "color:inherit;background:none;border:0;padding:0;cursor:pointer;text-align:inherit}"
    "th[aria-sort=ascending] button::after{content:' \\2191'}"
    "th[aria-sort=descending] button::after{content:' \\2193'}"
    "input[type=search]{font:inherit;font-size:14px;padding:4px 8px;margin:8px 0 0;width:220px;"
    "max-width:100%;color:inherit;background:var(--card);border:1px solid var(--faint);"
    "border-radius:5px}[hidden]{display:none!important}\n"
    ".gp{fill:none;color:#000;stroke:currentColor}.defs{position:absolute;width:0;height:0}"
    ".spark{width:120px;height:26px;display:block}\n"
    ".warn{background:var(--warn);border-left:4px solid var(--warn-line);border-radius:4px;"
    "padding:10px 16px;margin:16px 0}\n.warn ul{margin:4px 0;padding-left:20px}\n"
    "nav{background:var(--card);border:1px solid var(--line);border-radius:8px;"
    "padding:12px 16px;margin:20px 0}\n"
    "nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:4px 20px;margin:0;padding:0}\n"
    "figure{background:var(--card);border:1px solid var(--line);border-radius:8px;margin:10px 0;"
    "padding:10px 14px 6px}\n"
    "figcaption{font-weight:600;margin:0 2px 6px}\n"
    "figcaption small{display:block;font-weight:400;font-size:13px;color:var(--faint)}\n"
    ".scroll{overflow:auto;max-width:100%;max-height:1200px}\n"
    "figure svg{display:block;width:100%;height:auto}\n"
    ".narrow{max-width:520px;margin:0 auto}figure svg.narrow{display:none}\n"
    "@media screen and (max-width:760px){figure svg.wide{display:none}"
    "figure svg.narrow{display:block}}\n"
    "figure svg text,figure svg tspan{font-family:inherit}\n"
    "table{border-collapse:collapse;font-size:14px;margin:10px 0;"
    "font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;font-weight:600;padding:6px 0;white-space:nowrap}\n"
    "th,td{padding:5px 12px 5px 0;border-bottom:1px solid var(--line);text-align:right;"
    "white-space:nowrap;vertical-align:top}\n"
    "thead "
    "th{color:var(--faint);font-weight:500;position:sticky;top:0;background:var(--page)}\ntbody "
    "th{font-weight:500}\n"
    ".l{text-align:left}\ntd.wrap{white-space:normal;min-width:190px;max-width:520px}\n"
    "dl{margin:8px 0}\ndt{font-weight:600;margin-top:12px}\ndd{margin:2px 0 0}\n"
    "pre{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:10px 14px;"
    "overflow-x:auto;white-space:pre-wrap;font-size:13px}\n"
    "code{font-size:13px}\n"
    "@media (max-width:600px){main,header,footer{padding-left:12px;padding-right:12px}"
    "figure{padding:10px 8px 8px}caption{white-space:normal}}\n"
    "@media print{body{background:#fff;font-size:11pt}.scroll{overflow:visible;max-height:none}"
    "figure,.card,tr{break-inside:avoid}h2,h3,figcaption{break-after:avoid}"
    "nav,.self,input,.tools,.reading{display:none}details::details-content{content-visibility:"
    "visible;"
    "display:block;height:auto}table{font-size:7.5pt}thead th{position:static;background:none}"
    "th,td{padding-right:6px;overflow-wrap:normal;white-space:normal}td.wrap{min-width:0}caption{"
    "white-space:normal}"
    ".l{overflow-wrap:break-word}.l.wrap{overflow-wrap:anywhere}}\n"
    "@media screen and (prefers-color-scheme:dark){figure svg image{filter:invert(1) "
    "hue-rotate(180deg)}}\n";

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
    if (asprintf(&c->folder, "%s/s3analyze-XXXXXX", base != NULL && *base != '\0' ? base : "/tmp") <
        0) {
        c->folder = NULL;
        return err_set(e, "out of memory");
    }
    unfinished_lock();
    bool ok = mkdtemp(c->folder) != NULL;
    if (ok)
        unfinished_add(&c->unfinished, c->folder, 0);
    unfinished_unlock();
    if (ok)
        return true;
    err_errno(e, errno, "%s: a folder for the charts", c->folder);
    free(c->folder);
    c->folder = NULL;
    return false;
}

void html_charts_draw(struct html_charts *c)
{
    struct plot_gnuplot g;
    bool ok = plot_gnuplot_init(&g, &c->missing) &&
              plot_palette_read(&c->palette, g.scripts, &c->missing);

    plot_gnuplot_fini(&g);
    if (!ok || !plot_draw(&c->set, &c->options, &c->missing))
        c->palette.n = 0; /* nothing has these colours */
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

/* The i-th chart, drawn wide and narrow; the style chooses. */
static bool put_chart(FILE *f, const struct html_charts *c, const char *section, int series,
                      size_t i, struct err *e)
{
    const struct plot_picture *x = &c->set.v[i];
    char wide[24], narrow[24];

    snprintf(wide, sizeof wide, "g%zu-", i);
    snprintf(narrow, sizeof narrow, "n%zu-", i);
    fprintf(f, "<figure id=\"%s-chart-%s\" data-series=\"%d\"", section, x->chart, series);
    if (x->readings != NULL) {
        fputs(" data-readings=\"", f);
        html_text(f, x->readings);
        fputs("\"", f);
    }
    fputs("><figcaption>", f);
    html_text(f, x->title);
    fprintf(f, " <a class=\"self\" href=\"#%s-chart-%s\" aria-label=\"Link to this chart\">#</a>",
            section, x->chart);
    fputs("<small>", f);
    html_text(f, x->caption);
    fputs("</small></figcaption>", f);
    bool ok = plot_svg_inline(f, x->picture, x->title, "wide", wide, &c->palette, e) &&
              plot_svg_inline(f, x->narrow, x->title, "narrow", narrow, &c->palette, e);
    fputs("</figure>\n", f);
    return ok;
}

bool html_page_charts(FILE *f, const struct html_charts *c, const char *section, int series,
                      const char *op, struct err *e)
{
    bool ok = true;
    if (c->missing.msg[0] != '\0')
        return true;
    for (size_t i = 0; ok && i < c->set.n; i++)
        if (strcmp(c->set.v[i].op, op) == 0)
            ok = put_chart(f, c, section, series, i, e);
    return ok;
}

/* ---- The page ---- */

bool html_page_begin(FILE *f, const struct html_charts *c, const char *title, const char *says,
                     struct err *e)
{
    struct sha256_base64 script;

    if (!sha256_text_base64(page_script, strlen(page_script), &script, e))
        return false;
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
          "script-src 'sha256-",
          f);
    fputs(script.s, f);
    fputs("'\">\n<meta name=\"generator\" content=\"s3analyze ", f);
    html_text(f, version_string);
    fputs("\">\n<link rel=\"icon\" href=\"data:,\">\n<title>", f);
    html_text(f, title);
    fputs("</title>\n<meta property=\"og:type\" content=\"article\">\n<meta property=\"og:title\" "
          "content=\"",
          f);
    html_text(f, title);
    fputs("\">\n<meta property=\"og:description\" content=\"", f);
    html_text(f, says);
    fputs("\">\n<meta name=\"description\" content=\"", f);
    html_text(f, says);
    fputs("\">\n<style>\n", f);
    fputs(style, f);
    fputs(":root{", f);
    for (size_t i = 0; i < c->palette.n; i++)
        fprintf(f, "--%s:%s;", c->palette.v[i].name, c->palette.v[i].light);
    fputs("--c_back:transparent}\n@media screen and (prefers-color-scheme:dark){:root{", f);
    for (size_t i = 0; i < c->palette.n; i++)
        fprintf(f, "--%s:%s;", c->palette.v[i].name, c->palette.v[i].dark);
    fputs("--c_back:transparent}}\n</style></head>\n<body>\n", f);
    return c->missing.msg[0] != '\0' || c->set.n == 0 || plot_svg_defs(f, c->set.v[0].picture, e);
}

void html_page_contents(FILE *f, const struct html_section *sections, size_t n)
{
    fputs("<nav aria-label=\"Contents\"><ul>\n", f);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "<li><a href=\"#%s\">", sections[i].id);
        html_text(f, sections[i].title);
        fputs("</a></li>\n", f);
    }
    fputs("</ul></nav>\n", f);
}

void html_page_definitions(FILE *f, const struct html_definition *v, size_t n)
{
    html_page_fold(f, "definitions", "How the figures are defined");
    fputs("<dl>\n", f);
    for (size_t i = 0; i < n; i++) {
        html_element(f, "dt", "%s", v[i].term);
        html_element(f, "dd", "%s", v[i].text);
    }
    fputs("</dl>\n", f);
    html_page_fold_end(f);
}

void html_page_fold(FILE *f, const char *id, const char *title)
{
    fprintf(f, "<details id=\"%s\"><summary>", id);
    html_text(f, title);
    fputs("</summary>\n", f);
}

void html_page_fold_end(FILE *f)
{
    fputs("</details>\n", f);
}

void html_page_command(FILE *f, const char *command)
{
    fputs("<p>This page was made by <code>", f);
    html_text(f, command);
    fputs("</code></p>\n", f);
}

void html_page_end(FILE *f)
{
    fputs("</main>\n<footer>Written by s3analyze ", f);
    html_text(f, version_string);
    fputs(".</footer>\n<script>", f);
    fputs(page_script, f);
    fputs("</script>\n</body></html>\n", f);
}
