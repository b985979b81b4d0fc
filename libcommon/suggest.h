/* "Did you mean ...?": the nearest of several names to one that was not found, or all of them. */
#ifndef S3_LIBCOMMON_SUGGEST_H
#define S3_LIBCOMMON_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

struct suggest {
    const char *name; /* what was typed, n bytes */
    size_t n;
    size_t distance;  /* of best */
    const char *best; /* the nearest name offered so far; NULL: none is near */
};

/* suggest_init begins with a name of n bytes; suggest_offer compares it with one candidate, which
 * is nearest if other tools call it by the name. Both borrow the names. */
void suggest_init(struct suggest *s, const char *name, size_t n);
void suggest_offer(struct suggest *s, const char *candidate);

/* Appends a name to a list, "a, b", of `size` bytes; what does not fit is cut. */
void suggest_list(char *list, size_t size, const char *name);

/* Returns what to do instead of a command or an option (without dashes) of another tool; NULL:
 * there is no hint. */
const char *suggest_for_foreign(const char *name, size_t n);

#endif
