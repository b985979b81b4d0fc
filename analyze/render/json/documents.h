/* JSON documents of a run, a comparison, a plan and an archive. Write errors stay in `f`: whoever
 * closes it checks. */
#ifndef S3_ANALYZE_RENDER_JSON_DOCUMENTS_H
#define S3_ANALYZE_RENDER_JSON_DOCUMENTS_H

#include "analyze/read/recfile.h"
#include "analyze/render/report/archive.h"
#include "analyze/tools/compare/compare.h"
#include "analyze/tools/plan/plan.h"
#include "analyze/write/json.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes the whole document, schema s3analyze/analysis/1 (docs/json-statistics.md). Memory does not
 * grow with the number of hosts. Returns false if out of memory. */
bool report_json(const struct analysis *a, FILE *f, struct err *e);

/* These are called through pointers, so their model is a pointer to void. They return false if out
 * of memory. */

/* Writes a struct compare, schema s3analyze/compare/1. */
bool compare_json(const void *compare, FILE *f, struct err *e);
/* Writes a struct columns_table, schema s3analyze/table/1; its cells, schema s3analyze/across/1. */
bool archive_table_json(const void *table, FILE *f, struct err *e);
/* Writes what a struct plan has found, schema s3analyze/plan-state/1. */
bool plan_json(const void *plan, FILE *f, struct err *e);
/* Writes the changes in a struct trend, schema s3analyze/trend/1. */
bool trend_json(const void *trend, FILE *f, struct err *e);

/* ---- Members that documents share ---- */

/* Writes the array "findings" into the open object, worst first. */
void findings_json_put(struct json_out *w, const struct findings *all);

/* Writes why rows of a capture were dropped: a list of reasons, each with a number of rows and the
 * first of them. */
void json_capture_dropped(struct json_out *w, const struct recfile_info *info);

#endif
