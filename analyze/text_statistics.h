/* Confidence intervals and diagnostics of one operation as text. */
#ifndef S3_TEXT_STATISTICS_H
#define S3_TEXT_STATISTICS_H

#include "statistics.h"
#include "text_cells.h"

/* Nothing if s is NULL. */
void text_statistics_put(const struct text_view *v, const struct statistics *s);

#endif
