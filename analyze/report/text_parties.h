/* Tables of hosts and of clients as text. */
#ifndef S3_ANALYZE_REPORT_TEXT_PARTIES_H
#define S3_ANALYZE_REPORT_TEXT_PARTIES_H

#include "analyze/report/text_cells.h"

/* Hosts of an operation, or of the cluster total (`q` is NULL then). Nothing for one host. */
void text_parties_hosts(const struct text_view *v, const struct host_result *hosts, size_t n,
                        const struct requests *q);

/* Clients of an operation. Nothing for one client. */
void text_parties_clients(const struct text_view *v, const struct operation *op);

#endif
