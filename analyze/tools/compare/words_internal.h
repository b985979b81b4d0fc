/* Shared by words.c and words_answer.c. */
#ifndef S3_ANALYZE_TOOLS_COMPARE_WORDS_INTERNAL_H
#define S3_ANALYZE_TOOLS_COMPARE_WORDS_INTERNAL_H

#include "analyze/tools/compare/words.h"

/* Appends formatted text, cut if there is no room for it. */
void words_append(struct compare_words_text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Format a change in as few digits as a sentence needs: "-4.9 %", "-18 %", "+25 points". theta is
 * as in struct compare_metric. */
struct units_text words_change(double pct, const char *unit);
struct units_text words_percent_of(const struct compare_metric *m, double theta);

#endif
