/* Shared by words.c and words_answer.c. */
#ifndef S3_ANALYZE_COMPARE_WORDS_INTERNAL_H
#define S3_ANALYZE_COMPARE_WORDS_INTERNAL_H

#include "analyze/compare/words.h"

/* Adds to a text; what it has no room for is left out. */
void words_append(struct compare_words_text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A change in as few digits as a sentence needs: "-4.9 %", "-18 %", "+25 points"; theta as in
 * struct compare_metric. */
struct units_text words_change(double pct, const char *unit);
struct units_text words_percent_of(const struct compare_metric *m, double theta);

#endif
