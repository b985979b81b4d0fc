#include "loadgen/run/cleanup.h"

#include "loadgen/util/clock.h"

#include <string.h>

/* A server that is away or overloaded is asked again so much later. */
#define PAUSE_NS (200 * CLOCK_NS_PER_MS)

enum step { LIST, BATCH, SINGLES, DONE };

void cleanup_begin(struct work *k, const char *prefix, enum work_scope scope, enum s3op_kind kind)
{
    k->clean_prefix = prefix;
    k->clean_scope = scope;
    k->clean_kind = kind;
    for (unsigned i = 0; i < k->n_workers; i++) {
        k->own[i].step = scope == WORK_DIRS || i == 0 ? LIST : DONE;
        strbuf_clear(&k->own[i].previous);
    }
}

/* Keeps an entry of a page, and whether it is the first one of the page before: what was deleted is
 * still there. */
static bool on_entry(void *user, const struct xml_entry *entry, struct err *e)
{
    struct worker *w = user;
    const struct work *k = w->services->phase->ctx;
    struct work_own *own = &k->own[w->thread];
    size_t n = own->page.n;

    if (entry->kind == XML_PREFIX ||
        strncmp(entry->key, k->clean_prefix, strlen(k->clean_prefix)) != 0)
        return true;
    if (entry->n_key > S3OP_KEY_MAX)
        return err_set(e, "a key is longer than %d bytes", S3OP_KEY_MAX);
    strbuf_put(&own->page, entry->key, entry->n_key + 1);
    strbuf_put(&own->page, entry->version_id, strlen(entry->version_id) + 1);
    if (n == 0 && !own->page.failed) {
        if (own->previous.n == own->page.n &&
            memcmp(own->previous.s, own->page.s, own->page.n) == 0)
            return err_set(e, "the server lists '%s' after it was deleted", entry->key);
        strbuf_clear(&own->previous);
        strbuf_put(&own->previous, own->page.s, own->page.n);
    }
    return (!own->page.failed && !own->previous.failed) || err_set(e, "out of memory");
}

/* Reads the entry at *at of a page; false: there is none. */
static bool take_entry(const struct strbuf *page, size_t *at, const char **key, const char **id)
{
    if (*at >= page->n)
        return false;
    *key = page->s + *at;
    *id = *key + strlen(*key) + 1;
    *at = (size_t)(*id + strlen(*id) + 1 - page->s);
    return true;
}

/* Makes a request to delete all of the page that fits into one; false: nothing does. */
static bool next_batch(struct work *k, struct work_own *own, struct s3op *op)
{
    struct strbuf *b = &own->body;
    const char *key = NULL;
    const char *id = NULL;

    strbuf_clear(b);
    strbuf_puts(b, "<Delete><Quiet>true</Quiet>");
    op->n_objects = 0;
    for (size_t at = 0; take_entry(&own->page, &at, &key, &id);) {
        if (!strbuf_fits_xml(key, strlen(key)))
            continue;
        op->n_objects++;
        strbuf_puts(b, "<Object><Key>");
        strbuf_xml(b, key, strlen(key));
        strbuf_puts(b, *id != '\0' ? "</Key><VersionId>" : "</Key>");
        strbuf_xml(b, id, strlen(id));
        strbuf_puts(b, *id != '\0' ? "</VersionId></Object>" : "</Object>");
    }
    strbuf_puts(b, "</Delete>");
    op->kind = S3OP_DELETE_BATCH;
    op->body = b->s;
    op->n_body = b->n;
    if (b->failed)
        work_fail(k, "out of memory");
    return op->n_objects > 0 && !b->failed;
}

/* Makes a request to delete the next one that was in no batch; false: there is none. */
static bool next_single(const struct work *k, struct work_own *own, struct s3op *op)
{
    const char *key = NULL;
    const char *id = NULL;

    while (take_entry(&own->page, &own->at, &key, &id)) {
        if (own->batched && strbuf_fits_xml(key, strlen(key)))
            continue;
        op->kind = k->clean_kind == S3OP_LIST_UPLOADS ? S3OP_ABORT : S3OP_DELETE;
        op->n_objects = 1;
        op->n_key = strlen(key);
        memcpy(op->key, key, op->n_key + 1);
        *(op->kind == S3OP_ABORT ? &op->upload_id : &op->version_id) = *id != '\0' ? id : NULL;
        return true;
    }
    return false;
}

enum phase_next cleanup_next(void *ctx, struct worker *w, struct s3op *op)
{
    struct work *k = ctx;
    struct work_own *own = work_own(k, w);

    if (own->retry_ns > clock_now_ns())
        return PHASE_WAIT;
    op->recorded = false;
    if (own->upload_id.n > 0) {
        /* An upload that the end of the run left open. */
        op->kind = S3OP_ABORT;
        op->upload_id = own->upload_id.s;
        work_set_key(k, &own->object, op);
        return PHASE_OP;
    }
    if (own->step == BATCH) {
        own->batched = !atomic_load(&k->no_batches) && k->clean_kind != S3OP_LIST_UPLOADS &&
                       next_batch(k, own, op);
        own->at = 0;
        own->step = SINGLES;
        if (own->batched)
            return PHASE_OP;
    }
    if (own->step == SINGLES) {
        if (next_single(k, own, op))
            return PHASE_OP;
        own->step = LIST;
    }
    if (own->step == DONE)
        return PHASE_END;
    op->kind = k->clean_kind;
    op->n_objects = 0;
    /* Of a bucket's first page nothing may be ours. */
    op->one_page = k->clean_scope != WORK_BUCKET;
    op->on_entry = on_entry;
    op->user = w;
    strbuf_clear(&own->page);
    const char *prefix = k->clean_scope == WORK_BUCKET ? "" : k->clean_prefix;
    int n = k->clean_scope == WORK_DIRS
                ? snprintf(op->key, sizeof op->key, "%s%04x/", prefix, k->first_dir + w->thread)
                : snprintf(op->key, sizeof op->key, "%s", prefix);
    op->n_key = (size_t)n;
    return PHASE_OP;
}

/* A server that is restarted, or asks for patience, must not cost what is to be deleted: the worker
 * lists again, for as long as a run waits for its servers. */
static bool waits(struct work *k, struct work_own *own, const struct worker_result *r)
{
    bool may_pass = r->status == 0 || r->status == 429 || r->status >= 500;

    int_fast64_t since_ns = 0;
    if (atomic_compare_exchange_strong(&k->failing_since_ns, &since_ns, r->end_ns))
        since_ns = r->end_ns;
    if (!may_pass || r->end_ns - since_ns >= k->o->give_up_ns)
        return false;
    own->retry_ns = r->end_ns + PAUSE_NS;
    own->step = LIST;
    strbuf_clear(&own->previous);
    return true;
}

/* Whether the server does not take batches, or not this one: then keys are deleted one by one. */
static bool is_refused(const struct s3op *op, int status)
{
    return op->kind == S3OP_DELETE_BATCH &&
           ((status >= 400 && status < 500 && status != 408 && status != 429) || status == 501);
}

void cleanup_done(void *ctx, struct worker *w, const struct s3op *op, const struct worker_result *r)
{
    struct work *k = ctx;
    struct work_own *own = work_own(k, w);
    bool own_upload = op->kind == S3OP_ABORT && own->upload_id.n > 0;

    /* An upload that ended meanwhile needs no end. */
    bool ok = r->error[0] == '\0' || (op->kind == S3OP_ABORT && r->status == 404) ||
              s3op_has_no_uploads(op->kind, r->status);

    /* A server that lists, and deletes nothing, has not come back. */
    if (ok && !(s3op_is_listing(op->kind) && own->page.n > 0))
        atomic_store(&k->failing_since_ns, 0);
    if (!ok && !is_refused(op, r->status) && waits(k, own, r))
        return;
    if (own_upload)
        strbuf_clear(&own->upload_id);
    if (is_refused(op, r->status)) {
        atomic_store(&k->no_batches, true);
        own->batched = false;
    } else if (!ok) {
        /* One that cannot be deleted alone keeps no other; it ends the pass when it is listed
         * again. */
        work_fail(k, r->error);
        own->step = own->step == SINGLES && !own->batched ? SINGLES : DONE;
    } else if (s3op_is_listing(op->kind)) {
        own->step = own->page.n > 0 ? BATCH : DONE;
    } else if (!own_upload) {
        atomic_fetch_add(&k->n_deleted, r->n_objects);
    }
}
