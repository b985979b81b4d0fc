/* Pages of a run, a comparison, a plan and an archive. Write errors stay in `f` for whoever closes
 * it. */
#ifndef S3_ANALYZE_RENDER_PAGE_PAGES_H
#define S3_ANALYZE_RENDER_PAGE_PAGES_H

#include "analyze/analysis/run/analysis.h"
#include "analyze/render/plot/compare.h"
#include "analyze/render/report/archive.h"
#include "analyze/tools/compare/compare.h"
#include "analyze/tools/plan/plan.h"
#include "analyze/tools/profile/run.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* Draws the charts and writes one HTML file with everything in it. `label` is the title (NULL: the
 * captures' names), `words` says how requests were chosen and cut (words.h), `command` is the
 * command line that makes the page. Without gnuplot the page has a note in place of charts. False:
 * *e says why. */
bool report_html(const struct analysis *a, const char *label, const char *words,
                 const char *command, FILE *f, struct err *e);

/* Does the same for a comparison. */
bool compare_html(const struct compare *c, const struct plot_traces *traces, const char *words,
                  const char *command, FILE *f, struct err *e);

/* These are called through pointers, so their model is a pointer to void. `words` and `command` are
 * as for compare_html. */

/* Writes what a struct plan has found, with a chart of its runs. */
bool plan_html(const void *plan, const char *words, const char *command, FILE *f, struct err *e);
/* Writes a struct columns_table. */
bool archive_table_html(const void *table, const char *words, const char *command, FILE *f,
                        struct err *e);
/* Draws the charts and writes the changes in a struct trend; else like compare_html. */
bool trend_html(const void *trend, const char *words, const char *command, FILE *f, struct err *e);

/* ---- Profiles of servers ---- */

/* Writes a page of the profiles: what a request costs, a flame graph, the parts of the server and
 * the nodes. Write errors stay in `f`. */
bool profile_html(const struct profile_run *r, size_t type, const char *title, FILE *f,
                  struct err *e);

/* Writes the same as a section, of the archive NAME.profiles.zip beside the only capture of a
 * dataset. Nothing without one; one that cannot be read is a sentence. */
bool profile_html_section(const struct dataset *d, FILE *f, struct err *e);

#endif
