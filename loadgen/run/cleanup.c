#include "loadgen/run/cleanup.h"

#include "loadgen/run/bench_setup.h"
#include "loadgen/bucket/bucket.h"
#include "loadgen/util/clock.h"

#include <string.h>

/* A server that is away or overloaded is asked again so much later. */
#define PAUSE_NS (200 * CLOCK_NS_PER_MS)

/* What one pass could not delete, a later one may. */
#define PASSES 3

enum step { LIST, BATCH, SINGLES, DONE };

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
    const char *key = NULL;
    const char *id = NULL;

    strbuf_clear(&own->body);
    op->n_objects = 0;
    for (size_t at = 0; take_entry(&own->page, &at, &key, &id);)
        if (strbuf_fits_xml(key, strlen(key)))
            work_add_to_batch(&own->body, key, id, op);
    return work_end_batch(k, &own->body, op) == PHASE_OP && op->n_objects > 0;
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
        s3op_set_key(op, key);
        *(op->kind == S3OP_ABORT ? &op->upload_id : &op->version_id) = *id != '\0' ? id : NULL;
        return true;
    }
    return false;
}

static enum phase_next next(void *ctx, struct worker *w, struct s3op *op)
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
    int_fast64_t since_ns = 0;
    if (atomic_compare_exchange_strong(&k->failing_since_ns, &since_ns, r->end_ns))
        since_ns = r->end_ns;
    if (!worker_may_pass(r) || r->end_ns - since_ns >= k->o->give_up_ns)
        return false;
    own->retry_ns = r->end_ns + PAUSE_NS;
    own->step = LIST;
    strbuf_clear(&own->previous);
    return true;
}

static void done(void *ctx, struct worker *w, const struct s3op *op, const struct worker_result *r)
{
    struct work *k = ctx;
    struct work_own *own = work_own(k, w);
    bool own_upload = op->kind == S3OP_ABORT && own->upload_id.n > 0;

    /* An upload that ended meanwhile needs no end. */
    bool ok = r->error[0] == '\0' || (op->kind == S3OP_ABORT && r->status == 404);
    /* The server takes no batches, or not this one: then keys are deleted one by one. */
    bool refused = op->kind == S3OP_DELETE_BATCH && r->status >= 400 && !worker_may_pass(r);

    /* A server that lists, and deletes nothing, has not come back. */
    if (ok && !(s3op_does(op->kind, S3OP_LISTS) && own->page.n > 0))
        atomic_store(&k->failing_since_ns, 0);
    if (!ok && !refused && waits(k, own, r))
        return;
    if (own_upload)
        strbuf_clear(&own->upload_id);
    if (refused) {
        atomic_store(&k->no_batches, true);
        own->batched = false;
    } else if (!ok) {
        /* One that cannot be deleted alone keeps no other; it ends the pass when it is listed
         * again. */
        work_fail(k, r->error);
        own->step = own->step == SINGLES && !own->batched ? SINGLES : DONE;
    } else if (s3op_does(op->kind, S3OP_LISTS)) {
        own->step = own->page.n > 0 ? BATCH : DONE;
    } else if (!own_upload &&
               atomic_fetch_add(&k->n_deleted, r->n_objects) + r->n_objects > k->most_deleted) {
        work_fail(k, "the server lists ever more than this run can have stored");
        own->step = DONE;
    }
}

/* ---- The passes ---- */

/* Deletes what listings of that kind show. */
static bool run_pass(struct bench *b, const char *prefix, enum work_scope scope,
                     enum s3op_kind kind, struct err *e)
{
    struct work *k = &b->work;

    k->n_failed = 0;
    err_clear(&k->error);
    err_clear(&b->error);
    b->cleaning = true;
    k->clean_prefix = prefix;
    k->clean_scope = scope;
    k->clean_kind = kind;
    for (unsigned i = 0; i < k->n_workers; i++) {
        k->own[i].step = scope == WORK_DIRS || i == 0 ? LIST : DONE;
        strbuf_clear(&k->own[i].previous);
    }
    b->phase =
        (struct phase){.next = next, .done = done, .ctx = k, .end_ns = CLOCK_NEVER, .closes = true};
    bool ok = bench_run_phase(b, e);
    b->cleaning = false;
    return ok && (k->n_failed == 0 || err_set(e, "%s", k->error.msg));
}

static bool sweep(struct bench *b, const char *root, enum s3op_kind kind, enum work_scope scope,
                  struct err *e)
{
    struct err cause = {""};
    bool done = scope == WORK_NOTHING;

    if (scope == WORK_DIRS) {
        run_pass(b, root, scope, kind, NULL);
        scope = WORK_PREFIX;
    }
    for (int i = 0; i < PASSES && !done && atomic_load(&b->engine.stop) == ENGINE_RUN; i++) {
        err_clear(&cause);
        done = run_pass(b, root, scope, kind, &cause);
    }
    return (done && atomic_load(&b->engine.stop) == ENGINE_RUN) ||
           err_set(e, "%s", cause.msg[0] != '\0' ? cause.msg : "interrupted");
}

bool cleanup_sweep(struct bench *b, const struct sweep *s, struct err *e)
{
    bool ok = sweep(b, s->root, S3OP_LIST_UPLOADS, s->uploads, e);

    return sweep(b, s->root, s->kind, s->objects, e) && ok;
}

bool cleanup_clear_bucket(struct bench *b, struct err *e)
{
    struct err cause = {""};
    struct sweep s = {.root = "", .objects = WORK_PREFIX};

    return (bucket_listing(&b->control, "", &s.kind, &cause) && cleanup_sweep(b, &s, &cause)) ||
           err_set(e, "cannot clear bucket '%s': %s", b->o->bucket, cause.msg);
}

/* The most that a run can have made, with room for what is deleted twice, as a server that lists
 * what is gone lets it be. What other ranks made is theirs to know. */
static uint64_t most_of(const struct bench *b)
{
    const struct summary *s = &b->summary;

    if (b->team.size > 1)
        return UINT64_MAX;
    return 1000 + 2 * (s->n_prepared + s->n_not_prepared + s->counts.n_requests + s->n_resent);
}

bool cleanup_run(struct bench *b, struct err *e)
{
    struct sweep s = {.root = b->work.root, .kind = S3OP_LIST};
    struct err cause = {""};
    struct err unknown = {""};

    if (!b->uploaded || b->crew.n_loops == 0 || (b->o->no_clear && !b->kind->uploads))
        return team_meet(&b->team, true, e);
    b->said_finishing = bench_is_interrupted(b);
    b->finishing = true;
    b->work.most_deleted = most_of(b);
    atomic_store(&b->work.n_deleted, 0);
    bool ok = signals_let_finish(&b->signals) || err_set(&cause, "interrupted");
    bool deletes = ok && !b->o->no_clear;
    /* Where an upload was answered with a version, deleting would hide it. */
    if (deletes && !bucket_listing(&b->control, s.root, &s.kind, &unknown))
        deletes = !b->kind->versions && !atomic_load(&b->work.saw_version);
    if (deletes && !b->o->no_prefix)
        run_pass(b, s.root, WORK_DIRS, s.kind, NULL);
    team_meet(&b->team, true, NULL);
    if (b->team.rank > 0)
        return true;
    /* An upload may have begun though its answer was lost. MinIO, which takes the prefix of a list
     * of uploads for the whole key of an object, shows it in a list of the bucket alone. */
    bool lost = b->summary.counts.n_errors > 0 || b->summary.n_resent > 0;
    if (b->kind->uploads)
        s.uploads = lost ? WORK_BUCKET : WORK_PREFIX;
    s.objects = deletes ? WORK_PREFIX : WORK_NOTHING;
    ok = ok && cleanup_sweep(b, &s, &cause) &&
         (unknown.msg[0] == '\0' || err_set(&cause, "%s", unknown.msg));
    return ok || err_set(e,
                         "%s of this run may be left under %s in bucket '%s' (%s): s3load clean "
                         "--run %s, with that bucket and prefix, deletes them",
                         b->o->no_clear ? "unfinished uploads" : "objects", s.root, b->o->bucket,
                         cause.msg, b->o->run_id);
}
