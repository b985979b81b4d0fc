/* Judges the answer to a worker's request. The verdict says what to do; ending the request is the
 * caller's task. */
#ifndef S3_LOADGEN_LOAD_ANSWER_H
#define S3_LOADGEN_LOAD_ANSWER_H

#include "loadgen/load/worker.h"

enum answer {
    ANSWER_MORE,      /* the answer is not complete */
    ANSWER_DONE,      /* the worker's result and `keep` are set */
    ANSWER_NEXT_PAGE, /* as ANSWER_DONE, but the listing continues with another page */
    ANSWER_BROKEN     /* the connection ended too early, or sent no HTTP: http.err says what */
};

/* Prepares for the answer to a request, or for the next page of a listing. On failure the result
 * has an error. */
bool answer_expect(struct worker *w);

/* Takes n bytes of the answer; n = 0: the connection has ended. */
enum answer answer_feed(struct worker *w, const char *data, size_t n);

/* Returns how many bytes to receive next, at most LOOP_READ_BYTES. *skip: they are only counted, as
 * they are of a body of known length that nobody verifies. */
size_t answer_wants(const struct worker *w, bool *skip);

/* Sets the result of a request whose connection broke. */
void answer_break(struct worker *w, const char *why);

/* Makes the request fail. Later errors are ignored, since the first one is the cause. Always
 * returns false. */
bool answer_set_error(struct worker *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns the pages of the current listing. */
static inline struct pages *answer_pages(struct worker *w)
{
    return w->op.pages != NULL ? w->op.pages : &w->pages;
}

#endif
