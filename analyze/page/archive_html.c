#include "analyze/page/pages.h"

#include "analyze/json/documents.h"
#include "analyze/page/html_internal.h"
#include "analyze/page/page.h"
#include "analyze/report/figures.h"
#include "analyze/write/html.h"
#include "libcommon/mem.h"

#define COUNT(names) (sizeof(names) / sizeof *(names))

static const struct html_definition table_definitions[] = {
    {"± after a figure",
     "The farther end of its 95% confidence interval, which is that of one run: how much its "
     "requests scatter. Runs differ from each other by more."},
    {"Throughput, percentiles",
     "Those of the runs' own reports, of the successful requests in the active range."},
};

static bool write_table_data(const void *ctx, FILE *f, struct err *e)
{
    return archive_table_json(ctx, f, e);
}

bool archive_table_html(const struct archive_table *t, const char *words, const char *command,
                        FILE *f, struct err *e)
{
    struct html_charts none = {0};
    struct units_text title = figures_counted((int64_t)t->archive->n, "run");
    struct sheet s = {0};

    if (!html_page_begin(f, &none, title.s, title.s, e))
        return false;
    html_element(f, "h1", "%s", title.s);
    if (*words != '\0')
        html_element(f, "p", "Analysed with: %s", words);
    fputs("<main>\n", f);
    archive_sheet_table(&s, t);
    bool ok = html_page_sheet(&s, f, "runs", e);
    html_page_inputs(f, command);
    html_fold_end(f);
    html_page_definitions(f, table_definitions, COUNT(table_definitions));
    ok = ok && html_data(f, "table", write_table_data, t, NULL, e);
    html_page_end(f);
    return ok;
}
