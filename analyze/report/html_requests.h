/* Tables of requests: how long they took, or where sizes differ, how fast each was. */
#ifndef S3_ANALYZE_REPORT_HTML_REQUESTS_H
#define S3_ANALYZE_REPORT_HTML_REQUESTS_H

#include "analyze/analysis/analysis.h"

#include <stdio.h>

/* Of an operation. */
void html_requests(FILE *f, const struct requests *q);
/* By host; nothing where there is one host. */
void html_requests_hosts(FILE *f, const struct requests *q);
/* By client, likewise. */
void html_requests_clients(FILE *f, const struct client_result *clients, size_t n);

#endif
