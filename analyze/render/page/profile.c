#include "analyze/render/page/pages.h"

#include "analyze/render/page/page.h"
#include "analyze/write/html.h"

#include <stdlib.h>

static bool put_profile(const struct profile_run *r, size_t type, FILE *f, struct err *e)
{
    struct sheet s = {0};

    profile_cost_line(&s, &r->p, r->loads);
    if (!html_page_sheet(&s, f, "server", e))
        return false;
    profile_sum_line(&s, &r->p, type);
    if (!html_page_sheet(&s, f, "server", e))
        return false;
    fputs("<figure>\n<div class=\"flames\">\n", f);
    if (!profile_write_flame(&r->p, type, f, e))
        return false;
    fputs("</div>\n", f);
    fputs(r->p.has_base
              ? "<figcaption><small>The width of a box is that of both sides together: red is "
                "more than before, blue is less. Callers are above. A click enlarges a "
                "box.</small></figcaption>"
              : "<figcaption><small>The width of a box is what a function and all it calls "
                "take. Callers are above. A click enlarges a box.</small></figcaption>",
          f);
    fprintf(f, "</figure>\n<script>%s</script>\n", flame_js);
    profile_cost_parts(&s, &r->p, r->loads);
    profile_run_nodes(&s, r);
    return html_page_sheet(&s, f, "server", e);
}

bool profile_html(const struct profile_run *r, size_t type, const char *title, FILE *f,
                  struct err *e)
{
    /* This page has no charts drawn by gnuplot. */
    const struct html_charts none = {.missing = {.msg = "no charts"}};

    if (!html_page_begin(f, &none, title, "a profile of a server", e))
        return false;
    html_page_main(f, "", "");
    bool ok = put_profile(r, type, f, e);
    html_page_end(f);
    return ok;
}

bool profile_html_section(const struct dataset *d, FILE *f, struct err *e)
{
    const char *path = d->n_inputs == 1 ? d->inputs[0].path : "";
    char *archive = profile_beside(path, ".csv.zst", ".profiles.zip");
    struct profile_run r = {0};
    struct err why = {0};
    bool ok = true;

    if (archive == NULL)
        return true;
    const struct profile_wanted wanted = {.paths = (const char *const *)&archive, .n_paths = 1};
    fputs("<h2 id=\"server\">Where the server spent its CPU</h2>\n", f);
    size_t type =
        profile_run_read(&r, &wanted, &why) ? profile_type_index(&r.p, NULL, &why) : SIZE_MAX;
    if (type == SIZE_MAX) {
        html_element(f, "p", "The profiles cannot be read: %s", why.msg);
    } else {
        if (!d->op_filtered && !d->host_filtered)
            profile_run_count(&r, d, false);
        ok = put_profile(&r, type, f, e);
    }
    profile_run_free(&r);
    free(archive);
    return ok;
}
