/* The pages of a listing: what they hold, where the next one begins, and that they come to an end.
 */
#ifndef S3_LOADGEN_S3_PAGES_H
#define S3_LOADGEN_S3_PAGES_H

#include "loadgen/s3/xml.h"

/* Starts as zeros. */
struct pages {
    struct strbuf token; /* where the next one begins: its token and its id, each with a NUL */
    struct strbuf mark;  /* the token of a page some pages ago */
    struct strbuf last;  /* the last key of the page before, with a NUL */
    struct strbuf now;   /* likewise of this one, so far */
    uint64_t n;          /* pages whose next one is known */
    unsigned n_empty;    /* of these, the last ones in a row */
};

/* Forgets and frees them. */
void pages_clear(struct pages *p);

/* A page begins, for the first time or again. */
void pages_begin(struct pages *p);

/* Takes an entry. False: *e says that its key is outside of the prefix, or not behind the keys that
 * were listed before. */
bool pages_take(struct pages *p, const char *prefix, const struct xml_entry *entry, struct err *e);

/* The page is complete and not the last one. False: it does not say where the next one begins, or
 * the listing would never end, as its tokens come again or many of its pages are empty. */
bool pages_next(struct pages *p, const struct xml *x, struct err *e);

/* Where the next page begins, as S3 wants it back; NULL: at the start. */
const char *pages_token(const struct pages *p);
const char *pages_token_id(const struct pages *p); /* of versions and uploads */

#endif
