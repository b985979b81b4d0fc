#include "loadgen/bucket/bucket.h"

#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

/* The pause before a retry if a server is down or overloaded. */
#define PAUSE_NS (200 * NS_PER_MS)

#define BATCH_MAX 1000 /* as many as S3 allows */

/* A later pass may delete what an earlier one could not. */
#define PASSES 3

struct sweeper {
    enum { LIST, LIST_ALL, BATCH, SINGLES, DONE } step;
    struct strbuf page;     /* keys, each followed by its version or upload id, all with a NUL */
    struct strbuf previous; /* first entry of the previous page */
    size_t at;              /* offset in page of the next key to delete */
    bool batched;           /* the keys that fit into a batch are deleted */
    int64_t retry_ns;       /* the server was down: do not retry before this time */
};

/* Keeps an entry of a page, if it is ours. Fails if the page begins like the previous one: then the
 * server still lists what was deleted. */
static bool on_entry(void *user, const struct xml_entry *entry, struct err *e)
{
    struct worker *w = user;
    struct sweep *s = w->loop->phase->ctx;
    struct sweeper *own = &s->sweeper[w->thread];
    size_t n = own->page.n;

    if (strncmp(entry->key, s->root, strlen(s->root)) != 0)
        return true;
    if (entry->n_key > S3OP_KEY_MAX)
        return err_set(e, "a key is longer than %d bytes", S3OP_KEY_MAX);
    const char *name = entry->key + strlen(s->root);
    if (*s->root != '\0' && !bucket_is_name(name))
        /* Of several workers none tells: one worker lists everything once more. */
        return s->scope == SWEEP_DIRS || !err_set(&s->other, "%s", entry->key);
    if (entry->kind == XML_OBJECT || entry->kind == XML_VERSION)
        work_note_listed(s->work, name);
    strbuf_put(&own->page, entry->key, entry->n_key + 1);
    strbuf_put(&own->page, entry->version_id, strlen(entry->version_id) + 1);
    if (n == 0 && !own->page.failed) {
        if (own->previous.n == own->page.n &&
            memcmp(own->previous.s, own->page.s, own->page.n) == 0)
            return err_set(e, "the server lists '%s' after it was deleted", entry->key);
        strbuf_set(&own->previous, own->page.s, own->page.n);
    }
    return (!own->page.failed && !own->previous.failed) || mem_none(e);
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

/* Makes a request that deletes the next keys of the page that XML can hold. False: there are none.
 */
static bool next_batch(struct work *k, struct sweeper *own, struct strbuf *body, struct s3op *op)
{
    const char *key = NULL;
    const char *id = NULL;

    strbuf_clear(body);
    op->n_objects = 0;
    while (op->n_objects < BATCH_MAX && take_entry(&own->page, &own->at, &key, &id))
        if (strbuf_fits_xml(key, strlen(key)))
            work_add_to_batch(body, key, id, op);
    return op->n_objects > 0 && work_end_batch(k, body, op) == PHASE_OP;
}

/* Makes a request that deletes the next key that was in no batch. False: there is no such key. */
static bool next_single(const struct sweep *s, struct sweeper *own, struct s3op *op)
{
    const char *key = NULL;
    const char *id = NULL;

    while (take_entry(&own->page, &own->at, &key, &id)) {
        if (own->batched && strbuf_fits_xml(key, strlen(key)))
            continue;
        op->kind = s->kind == S3OP_LIST_UPLOADS ? S3OP_ABORT : S3OP_DELETE;
        op->n_objects = 1;
        s3op_set_key(op, key);
        *(op->kind == S3OP_ABORT ? &op->upload_id : &op->version_id) = *id != '\0' ? id : NULL;
        return true;
    }
    return false;
}

/* Whether all servers hang: each further request would only last as long. */
static bool is_hung(const struct sweep *s)
{
    return atomic_load(&s->n_late) >= s->work->engine->hosts.n;
}

/* Makes a request for an object of the pool that was not listed. */
static enum phase_next next_name(struct sweep *s, struct s3op *op)
{
    const struct work *k = s->work;

    for (size_t i; (i = atomic_fetch_add(&s->n_named, 1)) < k->n_objects;) {
        struct work_object *o = &k->objects[i];
        if (k->noted[o->id / 64][WORK_LISTED] >> o->id % 64 & 1 ||
            (k->kind->versions && o->version == NULL))
            continue;
        work_ask(k, s->kind, o, op);
        op->user = o;
        return PHASE_OP;
    }
    return PHASE_END;
}

static enum phase_next next(void *ctx, struct worker *w, struct s3op *op)
{
    struct sweep *s = ctx;
    struct sweeper *own = &s->sweeper[w->thread];
    struct work_own *work = work_own(s->work, w);

    if (is_hung(s))
        return PHASE_END;
    if (own->retry_ns > clock_now_ns())
        return PHASE_WAIT;
    op->recorded = false;
    if (work->upload_id.n > 0) {
        /* An upload that the end of the run left open. */
        op->kind = S3OP_ABORT;
        op->upload_id = work->upload_id.s;
        work_set_key(s->work, &work->object, op);
        return PHASE_OP;
    }
    if (s->scope == SWEEP_NAMES)
        return next_name(s, op);
    if (own->step == BATCH) {
        own->batched = !atomic_load(&s->no_batches) && s->kind != S3OP_LIST_UPLOADS;
        if (own->batched && next_batch(s->work, own, &work->body, op))
            return PHASE_OP;
        own->at = 0;
        own->step = SINGLES;
    }
    if (own->step == SINGLES) {
        if (next_single(s, own, op))
            return PHASE_OP;
        own->step = LIST;
    }
    if (own->step == DONE)
        return PHASE_END;
    op->kind = s->kind;
    op->n_objects = 0;
    /* The first page of a whole bucket may have nothing of ours, so read all pages. */
    op->one_page = own->step == LIST && s->scope != SWEEP_BUCKET;
    op->on_entry = on_entry;
    op->user = w;
    strbuf_clear(&own->page);
    own->at = 0;
    if (s->scope == SWEEP_DIRS)
        work_set_dir(op, s->root, s->work->first_dir + w->thread);
    else
        s3op_set_key(op, s->scope == SWEEP_BUCKET ? "" : s->root);
    return PHASE_OP;
}

/* Makes the worker list again after a pause, for as long as --give-up-after says: nothing may be
 * left behind because a server restarts or is overloaded. False: waiting does not help. */
static bool waits(struct sweep *s, struct sweeper *own, const struct worker_result *r)
{
    int_fast64_t since_ns = 0;
    if (atomic_compare_exchange_strong(&s->failing_since_ns, &since_ns, r->end_ns))
        since_ns = r->end_ns;
    if (!worker_may_pass(r) || is_hung(s) || r->end_ns - since_ns >= s->work->o->net.give_up_ns)
        return false;
    own->retry_ns = r->end_ns + PAUSE_NS;
    own->step = LIST;
    strbuf_clear(&own->previous);
    return true;
}

static void done(void *ctx, struct worker *w, const struct s3op *op, const struct worker_result *r)
{
    struct sweep *s = ctx;
    struct sweeper *own = &s->sweeper[w->thread];
    struct strbuf *upload_id = &work_own(s->work, w)->upload_id;
    bool own_upload = op->kind == S3OP_ABORT && upload_id->n > 0;
    bool lists = s3op_does(op->kind, S3OP_LISTS);

    /* An upload that has already ended need not be aborted. */
    bool ok = r->error[0] == '\0' || (op->kind == S3OP_ABORT && r->status == 404);
    /* The server accepts no batches, or not this one: delete the keys one by one. */
    bool refused = op->kind == S3OP_DELETE_BATCH && r->status >= 400 && !worker_may_pass(r);
    /* The keys that a batch could not delete are listed again, with those that follow. */
    bool partly = r->n_refused > 0 && r->n_refused < op->n_objects;

    if (r->status != 0)
        atomic_store(&s->answered_ns, r->end_ns);
    if (r->timed_out && r->start_ns > atomic_load(&s->answered_ns))
        atomic_fetch_add(&s->n_late, 1);
    else if (r->status != 0 && !is_hung(s))
        atomic_store(&s->n_late, 0);
    if (s->scope == SWEEP_NAMES && !own_upload) {
        ((struct work_object *)op->user)->gone = op->kind == S3OP_STAT && r->status == 404;
        return;
    }
    /* A listing alone does not show that the server works again: it must delete as well. */
    if (partly || (ok && !(lists && own->page.n > 0)))
        atomic_store(&s->failing_since_ns, 0);
    if (!ok && !partly && !refused && waits(s, own, r))
        return;
    if (own_upload)
        strbuf_clear(upload_id);
    if (partly) {
        own->step = LIST;
        strbuf_clear(&own->previous);
    }
    if (refused) {
        atomic_store(&s->no_batches, true);
    } else if (!ok && !partly) {
        /* A key that cannot be deleted does not stop the others. The pass ends when it is listed
         * again. */
        work_fail(s->work, r->error);
        own->step = own->step == SINGLES && !own->batched ? SINGLES : DONE;
    } else if (lists) {
        /* A page that has only objects of others hides those that follow. */
        bool hides = own->page.n == 0 && op->one_page && r->xml->is_truncated;
        own->step = own->page.n > 0 ? BATCH : hides ? LIST_ALL : DONE;
    } else if (!own_upload &&
               atomic_fetch_add(&s->n_deleted, r->n_objects) + r->n_objects > s->n_most) {
        work_fail(s->work, "the server lists ever more than this run can have stored");
        own->step = DONE;
    }
}

/* ---- The passes ---- */

bool sweep_is_stopped(const struct sweep *s)
{
    return atomic_load(&s->work->engine->stop) != ENGINE_RUN || s->ended.msg[0] != '\0';
}

bool sweep_pass(struct sweep *s, enum sweep_scope scope, enum s3op_kind kind, struct err *e)
{
    struct work *k = s->work;
    const struct phase phase = {
        .next = next, .done = done, .ctx = s, .end_ns = CLOCK_NEVER, .closes = true};

    if (s->ended.msg[0] != '\0')
        return err_set(e, "%s", s->ended.msg);
    if (s->sweeper == NULL && !mem_cleared(&s->sweeper, k->n_workers, e))
        return false;
    k->n_failed = 0;
    err_clear(&k->error);
    s->scope = scope;
    s->kind = kind;
    atomic_store(&s->n_named, 0);
    for (unsigned i = 0; i < k->n_workers; i++) {
        s->sweeper[i].step = scope == SWEEP_DIRS || i == 0 ? LIST : DONE;
        strbuf_clear(&s->sweeper[i].previous);
    }
    if (!s->run_phase(s->ctx, &phase, &s->ended))
        return err_set(e, "%s", s->ended.msg);
    if (is_hung(s))
        err_set(&s->ended, "%s", k->error.msg);
    return k->n_failed == 0 || err_set(e, "%s", k->error.msg);
}

static bool repeat(struct sweep *s, enum sweep_scope scope, enum s3op_kind kind, struct err *e)
{
    struct err cause = {0};
    bool done = scope == SWEEP_NOTHING;

    if (scope == SWEEP_DIRS) {
        sweep_pass(s, scope, kind, NULL);
        scope = SWEEP_PREFIX;
    }
    for (int i = 0; i < PASSES && !done && !sweep_is_stopped(s); i++) {
        err_clear(&cause);
        done = sweep_pass(s, scope, kind, &cause);
    }
    return (done && !sweep_is_stopped(s)) || err_set(e, "%s",
                                                     cause.msg[0] != '\0'      ? cause.msg
                                                     : s->ended.msg[0] != '\0' ? s->ended.msg
                                                                               : "interrupted");
}

bool sweep_all(struct sweep *s, enum sweep_scope uploads, enum sweep_scope objects,
               enum s3op_kind kind, struct err *e)
{
    err_clear(&s->other);
    bool ok = repeat(s, uploads, S3OP_LIST_UPLOADS, e);

    return repeat(s, objects, kind, e) && ok;
}

void sweep_fini(struct sweep *s)
{
    for (unsigned i = 0; s->sweeper != NULL && i < s->work->n_workers; i++) {
        strbuf_fini(&s->sweeper[i].page);
        strbuf_fini(&s->sweeper[i].previous);
    }
    free(s->sweeper);
}
