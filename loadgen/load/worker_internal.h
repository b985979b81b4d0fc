/* What worker.c (requests) and worker_answer.c (responses) share. */
#ifndef S3_LOADGEN_LOAD_WORKER_INTERNAL_H
#define S3_LOADGEN_LOAD_WORKER_INTERNAL_H

#include "loadgen/load/worker.h"

/* Makes the request a failed one; the first error, which is the cause, stays. Always false. */
bool worker_set_error(struct worker *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The request has ended at end_ns: makes its row. `keep` its connection. */
void worker_finish(struct worker *w, int64_t end_ns, bool keep);

/* Makes ready for the answer to a request, or to the next page of a listing. False: an error is
 * set. */
bool worker_expect_answer(struct worker *w);

/* A server may close an idle connection while a request is on its way to it: if nothing else came,
 * sends it once more, on a fresh connection, in the same row, and counts it. False: it did not. */
bool worker_resend(struct worker *w);

/* Those of the present listing. */
static inline struct pages *worker_pages(struct worker *w)
{
    return w->op.pages != NULL ? w->op.pages : &w->pages;
}

/* Asks for the next page of a listing, in the same row and up to the same deadline. */
void worker_next_page(struct worker *w, bool keep);

/* Reads what has come. */
void worker_read(struct worker *w);

#endif
