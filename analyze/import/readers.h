/* The readers of the formats: each reads a file from its first line to its last, and hands its
 * requests to gather_add. False: *e says what is wrong, with file and line. */
#ifndef S3_ANALYZE_IMPORT_READERS_H
#define S3_ANALYZE_IMPORT_READERS_H

#include "analyze/import/gather.h"
#include "analyze/import/lines.h"

bool hey_read(struct import *m, struct lines *l, struct err *e);
bool ab_read(struct import *m, struct lines *l, struct err *e);
bool mc_trace_read(struct import *m, struct lines *l, struct err *e);
bool s3_log_read(struct import *m, struct lines *l, struct err *e);

#endif
