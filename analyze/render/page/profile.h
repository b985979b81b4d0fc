/* Profiles of a server as pages, and as part of the page of a run. */
#ifndef S3_ANALYZE_RENDER_PAGE_PROFILE_H
#define S3_ANALYZE_RENDER_PAGE_PROFILE_H

#include "analyze/tools/profile/run.h"

#include <stdio.h>

/* Writes a page of the profiles: what a request costs, a flame graph, the parts of the server and
 * the nodes. Write errors stay in `f`. */
bool profile_html(const struct profile_run *r, size_t type, const char *title, FILE *f,
                  struct err *e);

/* Writes the same as a section, of the archive NAME.profiles.zip beside the only capture of a
 * dataset. Nothing without one; one that cannot be read is a sentence. */
bool profile_html_section(const struct dataset *d, FILE *f, struct err *e);

#endif
