/* Confidence intervals and diagnostics of one operation as text. */
#ifndef S3_ANALYZE_REPORT_TEXT_STATISTICS_H
#define S3_ANALYZE_REPORT_TEXT_STATISTICS_H

#include "analyze/analysis/confidence.h"
#include "analyze/report/text_cells.h"

/* Both print nothing if s is NULL; the second only what --co-interval asked for. */
void text_statistics_put(const struct text_view *v, const struct statistics *s);
void text_statistics_co(const struct text_view *v, const struct statistics *s);

#endif
