/* Statistics of single requests as text. */
#ifndef S3_ANALYZE_REPORT_TEXT_REQUESTS_H
#define S3_ANALYZE_REPORT_TEXT_REQUESTS_H

#include "analyze/report/text_cells.h"

void text_requests_put(const struct text_view *v, const struct requests *q);

#endif
