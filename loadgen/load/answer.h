/* What the answer to a worker's request means. It ends no request: a verdict says what is to be
 * done. */
#ifndef S3_LOADGEN_LOAD_ANSWER_H
#define S3_LOADGEN_LOAD_ANSWER_H

#include "loadgen/load/worker.h"

enum answer {
    ANSWER_MORE,      /* more of it is to come */
    ANSWER_DONE,      /* the worker's result and `keep` are set */
    ANSWER_NEXT_PAGE, /* the same, and the listing goes on with another page */
    ANSWER_BROKEN     /* the connection ended too early, or brought no HTTP: http.err says what */
};

/* Gets ready for the answer to a request, or for the next page of a listing. False: the result has
 * an error. */
bool answer_expect(struct worker *w);

/* Takes n bytes of it; 0: the connection has ended. */
enum answer answer_feed(struct worker *w, const char *data, size_t n);

/* Sets the result of a request whose connection broke down. */
void answer_break(struct worker *w, const char *why);

/* Makes the request a failed one; the first error, which is the cause, stays. Always false. */
bool answer_set_error(struct worker *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The pages of the present listing. */
static inline struct pages *answer_pages(struct worker *w)
{
    return w->op.pages != NULL ? w->op.pages : &w->pages;
}

#endif
