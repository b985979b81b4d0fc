/* An aggregated capture as JSON, as text for people, and as a page. */
#ifndef S3_ANALYZE_REPORT_AGGREGATE_H
#define S3_ANALYZE_REPORT_AGGREGATE_H

#include "analyze/aggregated/aggregate.h"
#include "analyze/findings/finding.h"
#include "analyze/report/run.h"
#include "analyze/write/json.h"
#include "analyze/write/sheet.h"

#include <stdio.h>

struct report_html_options;

/* The only name under which a reader may look for percentiles that the file does not have. */
#define AGGREGATE_NO_PERCENTILES                                                                   \
    "not in this file: percentiles were averaged by the recorder, over 10-second groups"

/* Writes what an aggregate tells as JSON (docs/aggregated-captures.md lists the keys). False: out
 * of memory. */
bool aggregate_json(const struct aggregate *a, const struct findings *found, FILE *f,
                    struct err *e);

/* Its object among the captures of `info --json`: the same keys as of a capture, where they make
 * sense. */
void aggregate_json_info(struct json_out *w, const struct aggregate *a);

/* What an aggregate tells, for people. Verbose: the figures of each 10-second group too. False: out
 * of memory. */
bool aggregate_text(const struct aggregate *a, const struct findings *found,
                    const struct report_text_options *options, FILE *f, struct err *e);

/* What is in it, without results: for `info`. Appends to *s. */
void aggregate_sheet_info(struct sheet *s, const struct aggregate *a);

/* Writes it as a page. Of *o label (NULL: the file's name) and command count. Without gnuplot there
 * are no charts but the timeline, and the page says so. */
bool aggregate_html(const struct aggregate *a, const struct findings *found,
                    const struct report_html_options *o, FILE *f, struct err *e);

#endif
