/* Errors as values: a function that can fail fills a struct err and returns false or NULL. */
#ifndef S3_LIBCOMMON_ERR_H
#define S3_LIBCOMMON_ERR_H

#include <stdbool.h>
#include <stddef.h>

/* Exit codes of both programs. */
enum exit_code { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_UNDECIDED = 3 };

struct err {
    char msg[1024]; /* one line that a terminal may get (visible.h); empty: no error */
    bool is_usage;  /* what was asked for cannot be: exit code EXIT_USAGE */
};

/* Puts a formatted message into e (which may be NULL), unless e already holds one: the first error
 * is the cause. Always returns false, so that a caller can write `return err_set(...)`. */
bool err_set(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Does what err_set does, for something that was asked for and cannot be. */
bool err_usage(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Does what err_set does, and appends ": " and the text of errno value `errnum`. */
bool err_errno(struct err *e, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Takes over another error, unless e already holds one. Returns false. */
bool err_pass(struct err *e, const struct err *from);

/* Clears the message. */
void err_clear(struct err *e);

#endif
