#include "cleanup.h"

#include "clock.h"

#include <string.h>

/* A server that is away or overloaded is asked again so much later. */
#define PAUSE_NS (200 * CLOCK_NS_PER_MS)

enum step { LIST, DELETE, DONE };

void cleanup_begin(struct work *k, const char *prefix, bool dirs, bool versions)
{
    k->clean_prefix = prefix;
    k->clean_dirs = dirs;
    k->clean_versions = versions;
    for (unsigned i = 0; i < k->n_workers; i++) {
        k->own[i].step = dirs || i == 0 ? LIST : DONE;
        strbuf_clear(&k->own[i].previous);
        strbuf_clear(&k->own[i].unfit);
    }
}

/* Keeps the key and version of an entry, each with its NUL. */
static void keep(struct strbuf *b, const struct xml_entry *entry)
{
    strbuf_clear(b);
    strbuf_put(b, entry->key, entry->n_key + 1);
    strbuf_put(b, entry->version_id, strlen(entry->version_id) + 1);
}

static bool is_same(const struct strbuf *kept, const struct xml_entry *entry)
{
    return kept->n > 0 && strcmp(kept->s, entry->key) == 0 &&
           strcmp(kept->s + entry->n_key + 1, entry->version_id) == 0;
}

/* Adds a key to the batch, or keeps it to be deleted alone if XML cannot hold it. */
static bool on_entry(void *user, const struct xml_entry *entry, struct err *e)
{
    struct work_own *own = user;
    struct strbuf *b = &own->body;

    if (entry->kind == XML_PREFIX)
        return true;
    if (own->part == 0 && own->unfit.n == 0) {
        /* The same page again: what was deleted is still there. */
        if (is_same(&own->previous, entry))
            return err_set(e, "the server lists '%s' after it was deleted", entry->key);
        keep(&own->previous, entry);
        strbuf_clear(b);
        strbuf_puts(b, "<Delete><Quiet>true</Quiet>");
    }
    size_t n = b->n;
    strbuf_puts(b, "<Object><Key>");
    if (!strbuf_xml(b, entry->key, entry->n_key)) {
        b->n = n;
        if (own->unfit.n == 0)
            keep(&own->unfit, entry);
        return (!b->failed && !own->unfit.failed) || err_set(e, "out of memory");
    }
    own->part++;
    strbuf_puts(b, "</Key>");
    if (entry->version_id[0] != '\0') {
        strbuf_puts(b, "<VersionId>");
        strbuf_xml(b, entry->version_id, strlen(entry->version_id));
        strbuf_puts(b, "</VersionId>");
    }
    strbuf_puts(b, "</Object>");
    return !b->failed || err_set(e, "out of memory");
}

static bool check_entry(void *user, const struct xml_entry *entry, struct err *e)
{
    struct worker *w = user;
    const char *prefix = w->op.key;

    /* Whatever a server lists: what is not below the prefix is not ours. */
    if (strncmp(entry->key, prefix, strlen(prefix)) != 0)
        return err_set(e, "the server lists '%s', which is not below the prefix asked for",
                       entry->key);
    if (entry->n_key > S3OP_KEY_MAX)
        return err_set(e, "a key is longer than %d bytes", S3OP_KEY_MAX);
    return on_entry(w->own, entry, e);
}

/* Deletes a key that does not fit into a batch. */
static void delete_unfit(const struct work_own *own, struct s3op *op)
{
    op->kind = S3OP_DELETE;
    op->n_key = strlen(own->unfit.s);
    memcpy(op->key, own->unfit.s, op->n_key + 1);
    if (own->unfit.s[op->n_key + 1] != '\0')
        op->version_id = own->unfit.s + op->n_key + 1;
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
    if (own->step == DONE)
        return PHASE_END;
    if (own->step == DELETE && own->unfit.n > 0) {
        delete_unfit(own, op);
        return PHASE_OP;
    }
    if (own->step == DELETE) {
        strbuf_puts(&own->body, "</Delete>");
        if (own->body.failed) {
            work_fail(k, "out of memory");
            return PHASE_END;
        }
        op->kind = S3OP_DELETE_BATCH;
        op->body = own->body.s;
        op->n_body = own->body.n;
        op->n_objects = own->part;
        return PHASE_OP;
    }
    op->kind = k->clean_versions ? S3OP_LIST_VERSIONS : S3OP_LIST;
    op->n_objects = 0;
    op->one_page = true;
    op->on_entry = check_entry;
    op->user = w;
    w->own = own;
    own->part = 0;
    int n = k->clean_dirs ? snprintf(op->key, sizeof op->key, "%s%04x/", k->clean_prefix, w->thread)
                          : snprintf(op->key, sizeof op->key, "%s", k->clean_prefix);
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
    strbuf_clear(&own->unfit);
    return true;
}

void cleanup_done(void *ctx, struct worker *w, const struct s3op *op, const struct worker_result *r)
{
    struct work *k = ctx;
    struct work_own *own = work_own(k, w);

    if (r->error[0] != '\0' && waits(k, own, r))
        return;
    if (op->kind == S3OP_ABORT)
        strbuf_clear(&own->upload_id);
    if (r->error[0] == '\0')
        atomic_store(&k->failing_since_ns, 0);
    if (r->error[0] != '\0') {
        work_fail(k, r->error);
        own->step = DONE;
    } else if (op->kind == S3OP_ABORT) {
        return;
    } else if (own->step == DELETE) {
        atomic_fetch_add(&k->n_deleted, r->n_objects);
        own->step = op->kind == S3OP_DELETE && own->part > 0 ? DELETE : LIST;
        strbuf_clear(&own->unfit);
    } else {
        own->step = own->part > 0 || own->unfit.n > 0 ? DELETE : DONE;
    }
}
