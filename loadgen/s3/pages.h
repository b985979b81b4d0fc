/* Reads a listing page by page: checks the keys, finds where the next page begins, and makes sure
 * that the listing ends. */
#ifndef S3_LOADGEN_S3_PAGES_H
#define S3_LOADGEN_S3_PAGES_H

#include "loadgen/s3/xml.h"

/* Starts as zeros. */
struct pages {
    struct strbuf token; /* where the next page begins: its token and its id, each with a NUL */
    struct strbuf mark;  /* the token of an earlier page */
    struct strbuf last;  /* the last key of the previous page, with a NUL */
    struct strbuf now;   /* the last key so far of this page, with a NUL */
    uint64_t n;          /* pages that were followed by another one */
    unsigned n_empty;    /* empty pages in a row, up to now */
};

/* Clears and frees everything. */
void pages_clear(struct pages *p);

/* Begins a page: a new page, or a repetition of the same one. */
void pages_begin(struct pages *p);

/* Takes an entry. Fails if its key is outside of the prefix, or not after the keys listed before;
 * *e says which. */
bool pages_take(struct pages *p, const char *prefix, const struct xml_entry *entry, struct err *e);

/* Ends a page that is not the last one. Fails if the page does not say where the next one begins,
 * or if the listing would never end: tokens repeat, or too many pages are empty. */
bool pages_next(struct pages *p, const struct xml *x, struct err *e);

/* Return where the next page begins, in the form that S3 expects; NULL: at the start. */
const char *pages_token(const struct pages *p);
const char *pages_token_id(const struct pages *p); /* for versions and uploads */

#endif
