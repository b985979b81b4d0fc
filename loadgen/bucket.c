#include "bucket.h"

#include <stdlib.h>
#include <string.h>

/* Foreign objects are counted up to here. */
#define COUNT_MAX 10000

static const char VERSIONING[] = "<VersioningConfiguration "
                                 "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                                 "<Status>Enabled</Status></VersioningConfiguration>";

static bool set_versioning(struct control *c, struct err *e)
{
    struct worker_result r;
    struct err cause = {""};
    const struct s3op op = {
        .kind = S3OP_BUCKET_VERSIONING, .body = VERSIONING, .n_body = sizeof VERSIONING - 1};

    return control_run(c, &op, &r, &cause) ||
           err_set(e, "cannot switch on versions in bucket '%s': %s",
                   c->loop.engine->op_style.bucket, cause.msg);
}

static bool create(struct control *c, const struct s3op_style *style, struct err *e)
{
    struct strbuf body = {0};
    struct worker_result r;
    struct s3op op = {.kind = S3OP_BUCKET_CREATE};
    struct err cause = {""};

    /* us-east-1 is where buckets are made if nothing is said; it must not be named. */
    if (strcmp(style->region, "us-east-1") != 0) {
        strbuf_puts(&body, "<CreateBucketConfiguration "
                           "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                           "<LocationConstraint>");
        if (!strbuf_xml(&body, style->region, strlen(style->region)) || body.failed) {
            strbuf_fini(&body);
            return err_set(e, "the region cannot be named in XML");
        }
        strbuf_puts(&body, "</LocationConstraint></CreateBucketConfiguration>");
        op.body = body.s;
        op.n_body = body.n;
    }
    bool ok = control_run(c, &op, &r, &cause);
    strbuf_fini(&body);
    /* Another process of the same run may have been faster. */
    if (!ok && strstr(cause.msg, "BucketAlreadyOwnedByYou") != NULL)
        ok = true;
    return ok || err_set(e, "cannot make bucket '%s': %s", style->bucket, cause.msg);
}

static bool check_lock(struct control *c, const struct s3op_style *style, struct err *e)
{
    struct worker_result r;
    struct err cause = {""};
    const struct s3op op = {.kind = S3OP_BUCKET_LOCK};

    if (control_run(c, &op, &r, &cause))
        return true;
    return err_set(e,
                   "bucket '%s' was made without object lock, which cannot be added (%s): name "
                   "another one with --bucket, and it will be made with it",
                   style->bucket, cause.msg);
}

/* A HEAD has no error but its status: a listing tells why the bucket cannot be used. */
static void ask_why(struct control *c, struct err *cause)
{
    const struct s3op op = {.kind = S3OP_LIST, .one_page = true};
    struct worker_result r;
    struct err why = {""};

    if (!control_run(c, &op, &r, &why))
        *cause = why;
}

bool bucket_make(struct control *c, const struct work *k, struct err *e)
{
    const struct s3op_style *style = &k->engine->op_style;
    struct worker_result r;
    struct err cause = {""};
    const struct s3op op = {.kind = S3OP_BUCKET_STAT};
    bool exists = control_run(c, &op, &r, &cause);

    if (!exists && r.status != 404 && r.status != 0)
        ask_why(c, &cause);
    if (!exists && r.status != 404)
        return err_set(e, "%s '%s': %s",
                       r.status == 0 ? "no server answers a request for bucket"
                                     : "cannot use bucket",
                       style->bucket, cause.msg);
    if (!exists && k->o->list_existing)
        return err_set(e, "there is no bucket '%s'", style->bucket);
    if (!exists && !create(c, style, e))
        return false;
    if (k->kind->object_lock)
        return check_lock(c, style, e);
    return !k->kind->versions || set_versioning(c, e);
}

/* ---- What it holds ---- */

/* "s3load-RUNID/": the prefix of a run. */
static bool is_of_a_run(const char *key)
{
    return strncmp(key, "s3load-", 7) == 0 && strchr(key, '/') != NULL;
}

static bool count_entry(void *user, const struct xml_entry *entry, struct err *e)
{
    struct bucket_content *content = user;

    (void)e;
    if (!is_of_a_run(entry->key))
        content->n_foreign++;
    else if (entry->kind == XML_PREFIX)
        content->n_runs++;
    return true;
}

/* Lists one page after another, from `after` on, until none is left or `enough` is counted. */
static bool list_some(struct control *c, const char *delimiter, const char *after,
                      struct bucket_content *content, bool *more, struct err *e)
{
    struct worker_result r;
    const struct s3op op = {
        .kind = S3OP_LIST,
        .one_page = true,
        .delimiter = delimiter,
        .start_after = after,
        .on_entry = count_entry,
        .user = content,
    };

    if (!control_run(c, &op, &r, e))
        return false;
    *more = r.xml->is_truncated;
    return true;
}

/* The last key of a page, to go on after it. */
struct counting {
    struct bucket_content content;
    char last[S3OP_KEY_MAX + 1];
};

static bool count_and_keep(void *user, const struct xml_entry *entry, struct err *e)
{
    struct counting *n = user;

    snprintf(n->last, sizeof n->last, "%.*s", S3OP_KEY_MAX, entry->key);
    return count_entry(&n->content, entry, e);
}

/* Counts the objects themselves, up to COUNT_MAX. */
static bool count_foreign(struct control *c, struct bucket_content *content, struct err *e)
{
    struct counting n = {.last = ""};
    bool more = true;

    while (more && n.content.n_foreign < COUNT_MAX) {
        struct worker_result r;
        char after[S3OP_KEY_MAX + 1];
        strcpy(after, n.last);
        const struct s3op op = {
            .kind = S3OP_LIST,
            .one_page = true,
            .start_after = *after != '\0' ? after : NULL,
            .on_entry = count_and_keep,
            .user = &n,
        };
        if (!control_run(c, &op, &r, e))
            return false;
        /* A server that does not know start-after gives the first page for ever. */
        more = r.xml->is_truncated && strcmp(after, n.last) != 0;
    }
    content->n_foreign = n.content.n_foreign;
    content->more_foreign = more;
    return true;
}

bool bucket_look(struct control *c, struct bucket_content *content, struct err *e)
{
    bool more = false;
    struct err cause = {""};

    /* What lies on top is little where runs are the only content. */
    *content = (struct bucket_content){0};
    if (!list_some(c, "/", NULL, content, &more, &cause) ||
        (content->n_foreign > 0 && !count_foreign(c, content, &cause)))
        return err_set(e, "cannot list bucket '%s': %s", c->loop.engine->op_style.bucket,
                       cause.msg);
    /* A page full of runs: what follows may be foreign. */
    if (content->n_foreign == 0 && more) {
        struct bucket_content all = {.n_runs = content->n_runs};
        if (!count_foreign(c, &all, &cause))
            return err_set(e, "cannot list bucket '%s': %s", c->loop.engine->op_style.bucket,
                           cause.msg);
        *content = all;
    }
    return true;
}

/* ---- Existing objects ---- */

struct taking {
    struct work *k;
    uint64_t max;
};

static bool take_entry(void *user, const struct xml_entry *entry, struct err *e)
{
    struct taking *t = user;
    struct work_object o = {.size_bytes = entry->size_bytes};

    if (entry->kind != XML_OBJECT || (t->max > 0 && t->k->n_objects >= t->max))
        return true;
    if (entry->n_key > S3OP_KEY_MAX)
        return err_set(e, "a key is longer than %d bytes", S3OP_KEY_MAX);
    o.key = strdup(entry->key);
    if (o.key == NULL || !work_add(t->k, &o, "")) {
        free(o.key);
        return err_set(e, "out of memory");
    }
    return true;
}

bool bucket_list(struct control *c, struct work *k, uint64_t max, struct err *e)
{
    struct taking t = {k, max};
    struct worker_result r;
    struct err cause = {""};
    struct s3op op = {.kind = S3OP_LIST, .on_entry = take_entry, .user = &t};

    op.n_key = strlen(k->o->prefix);
    memcpy(op.key, k->o->prefix, op.n_key + 1);
    if (!control_run(c, &op, &r, &cause))
        return err_set(e, "cannot list bucket '%s': %s", k->engine->op_style.bucket, cause.msg);
    if (k->n_objects == 0)
        return err_set(e, "bucket '%s' holds no object%s%s", k->engine->op_style.bucket,
                       *k->o->prefix != '\0' ? " that begins with " : "", k->o->prefix);
    return true;
}
