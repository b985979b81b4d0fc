/* Warnings and notes: what a reader of figures should know beside them. */
#ifndef S3_ANALYZE_BASE_NOTES_H
#define S3_ANALYZE_BASE_NOTES_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>

struct note {
    const char *code; /* static */
    const char *op;   /* borrowed; NULL: concerns the whole run */
    char *message;
};

/* Starts zeroed. */
struct notes {
    struct note *v;
    size_t n;
};

/* Appends one. False: out of memory. */
bool notes_add(struct notes *notes, struct err *e, const char *code, const char *op,
               const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void notes_free(struct notes *notes);

#endif
