#include "loadgen/s3/s3.h"

#include "libcommon/mem.h"

#include <string.h>

/* A page may be empty, for example if all its objects were deleted. A listing with this many empty
 * pages in a row has failed. */
#define EMPTY_MAX 100

void pages_clear(struct pages *p)
{
    strbuf_fini(&p->token);
    strbuf_fini(&p->mark);
    strbuf_fini(&p->last);
    strbuf_fini(&p->now);
    *p = (struct pages){0};
}

void pages_begin(struct pages *p)
{
    strbuf_clear(&p->now);
}

bool pages_take(struct pages *p, const char *prefix, const struct xml_entry *entry, struct err *e)
{
    /* Versions and uploads may repeat the key before them. */
    int least = entry->kind == XML_OBJECT ? 1 : 0;

    if (strncmp(entry->key, prefix, strlen(prefix)) != 0)
        return err_set(e, "the server lists '%s', which is not below the prefix asked for",
                       entry->key);
    if (p->last.n > 0 && strcmp(entry->key, p->last.s) < least)
        return err_set(e, "a page of the listing goes back to '%s', the one before ended with '%s'",
                       entry->key, p->last.s);
    if (p->now.n > 0 && least > 0 && strcmp(entry->key, p->now.s) == 0)
        return err_set(e, "the server lists '%s' twice", entry->key);
    strbuf_set(&p->now, entry->key, entry->n_key + 1);
    return !p->now.failed || mem_none(e);
}

bool pages_next(struct pages *p, const struct xml *x, struct err *e)
{
    const char *token = xml_text(x, x->root == XML_LIST ? XML_NEXT_TOKEN : XML_NEXT_KEY);
    const char *id = xml_text(x, XML_NEXT_ID);

    strbuf_set(&p->token, token, strlen(token) + 1);
    strbuf_put(&p->token, id, strlen(id) + 1);
    p->n_empty = x->n_entries == 0 ? p->n_empty + 1 : 0;
    if (p->token.failed)
        return mem_none(e);
    if (*token == '\0')
        return err_set(e, "the listing is truncated and has no continuation token%s",
                       x->root == XML_LIST ? ": does the server know ListObjectsV2?" : "");
    if (p->token.n == p->mark.n && memcmp(p->token.s, p->mark.s, p->mark.n) == 0)
        return err_set(e, "the listing has the same continuation token twice: it has no end");
    if (p->n_empty == EMPTY_MAX)
        return err_set(e, "%d pages of the listing in a row are empty: it has no end", EMPTY_MAX);
    /* Detect a cycle of tokens of any length (Brent 1980): set the mark anew at each power of two.
     */
    p->n++;
    if ((p->n & (p->n - 1)) == 0)
        strbuf_set(&p->mark, p->token.s, p->token.n);
    if (p->now.n > 0)
        strbuf_set(&p->last, p->now.s, p->now.n);
    return (!p->mark.failed && !p->last.failed) || mem_none(e);
}

const char *pages_token(const struct pages *p)
{
    return p->n > 0 ? p->token.s : NULL;
}

const char *pages_token_id(const struct pages *p)
{
    const char *id = p->n > 0 ? p->token.s + strlen(p->token.s) + 1 : "";

    return *id != '\0' ? id : NULL;
}
