/* The options that choose requests and cut time, in words. */
#ifndef S3_ANALYZE_RENDER_REPORT_WORDS_H
#define S3_ANALYZE_RENDER_REPORT_WORDS_H

#include "analyze/analysis/run/load.h"

/* Returns "operations GET, PUT; without the first 3s of each operation"; "" if all options are as
 * by default. The caller frees it. NULL: out of memory. */
char *load_words(const struct load_filter *filter, const struct load_analysis *analysis);

#endif
