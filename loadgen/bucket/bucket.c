#include "loadgen/bucket/bucket.h"

#include "libcommon/mem.h"

/* Objects of others are counted only up to this number. */
#define COUNT_MAX 10000

enum versioning { UNKNOWN, UNVERSIONED, ENABLED, SUSPENDED };

static enum versioning versioning(struct control *c, struct err *e)
{
    const struct s3op op = {.kind = S3OP_BUCKET_VERSIONING};

    if (!control_run(c, &op, e))
        return UNKNOWN;
    const char *status = xml_text(c->result.xml, XML_STATUS);
    return strcmp(status, "Enabled") == 0     ? ENABLED
           : strcmp(status, "Suspended") == 0 ? SUSPENDED
                                              : UNVERSIONED;
}

/* Whether the server does not know this kind of request. It answers with an error, or ignores the
 * query and sends a list of objects, or nothing. */
static bool is_unsupported(const struct worker_result *r)
{
    return r->status == 501 || r->status == 405 ||
           (r->status == 200 && !r->cut &&
            (r->xml->root == XML_LIST || r->xml->root == XML_NOTHING));
}

/* Returns a hint for --lookup host, with which the server may not look for the bucket in the host's
 * name; else "". */
static const char *lookup_hint(const struct s3op_style *style)
{
    return style->lookup != S3OP_LOOKUP_HOST
               ? ""
               : "; --lookup host sends the bucket as a part of the host's name, for which the "
                 "server must know its own domain (MinIO: MINIO_DOMAIN, Ceph: rgw_dns_name, "
                 "versitygw: --virtual-domain) and --host must be a name in it; --lookup path "
                 "needs neither";
}

static bool no_answer(struct err *e, const struct engine *g, const struct err *cause)
{
    char host[NAMES_HOST_MAX];
    bool has_port = name_split(g->hosts.host[0].peer, host) != NULL;

    return err_set(e, "no server answers a request for bucket '%s': %s%s%s%s", g->op_style.bucket,
                   cause->msg, has_port ? "" : "; --host names no port: it is ",
                   has_port          ? ""
                   : g->op_style.tls ? "443"
                                     : "80",
                   lookup_hint(&g->op_style));
}

bool bucket_listing(struct control *c, const char *prefix, enum s3op_kind *kind, struct err *e)
{
    struct s3op op = {.kind = S3OP_LIST_VERSIONS, .one_page = true};
    const struct worker_result *r = &c->result;
    struct err state = {0};
    struct err list = {0};
    enum versioning now = versioning(c, &state);
    bool unsupported = is_unsupported(r);

    *kind = now == UNVERSIONED ? S3OP_LIST : S3OP_LIST_VERSIONS;
    s3op_set_key(&op, prefix);
    if (now != UNKNOWN)
        return true;
    const struct s3op_style *style = &c->crew.engine->op_style;
    if (r->status == 0 && !r->cut) {
        *kind = S3OP_LIST;
        return no_answer(e, c->crew.engine, &state);
    }
    bool listed = control_run(c, &op, &list);
    /* A server that knows no versions may answer with any list, even an empty one. */
    if (listed && (!unsupported || r->xml->n_entries > 0))
        return true;
    *kind = S3OP_LIST;
    if (unsupported && (listed || is_unsupported(r)))
        return true;
    if (r->status == 404)
        return err_set(e, "cannot list bucket '%s': %s", style->bucket, list.msg);
    return err_set(e,
                   "bucket '%s' does not say whether it keeps versions (%s), and these cannot be "
                   "listed (%s)",
                   style->bucket, state.msg, list.msg);
}

static bool set_versioning(struct control *c, struct err *e)
{
    static const char body[] = "<VersioningConfiguration " S3OP_NAMESPACE
                               "><Status>Enabled</Status></VersioningConfiguration>";
    struct err cause = {0};
    const struct s3op op = {
        .kind = S3OP_BUCKET_SET_VERSIONING, .body = body, .n_body = sizeof body - 1};

    return control_run(c, &op, &cause) || err_set(e, "cannot switch on versions in bucket '%s': %s",
                                                  c->crew.engine->op_style.bucket, cause.msg);
}

/* Whether a listing shows that the bucket is empty. */
static bool is_empty(struct control *c)
{
    const struct s3op op = {.kind = S3OP_LIST, .one_page = true, .max_keys = 1};

    return control_run(c, &op, NULL) && c->result.xml->n_entries == 0 &&
           !c->result.xml->is_truncated;
}

/* Switches versioning on only in a bucket that this run has made, in one that is empty and never
 * had versions, or if the user says so: elsewhere others may rely on it being off. */
static bool need_versions(struct control *c, const struct work *k, bool made, struct err *e)
{
    enum versioning now = made ? UNVERSIONED : versioning(c, NULL);

    if (now == ENABLED)
        return true;
    if (made || k->o->data.enable_versioning || (now == UNVERSIONED && is_empty(c)))
        return set_versioning(c, e);
    return err_set(e,
                   "bucket '%s' %s: name a new one with --bucket, which s3load makes with "
                   "versioning, or let it change this one with --enable-versioning",
                   k->o->bucket,
                   now == UNKNOWN     ? "does not say whether it keeps versions"
                   : now == SUSPENDED ? "has its versioning suspended"
                                      : "holds objects and keeps no versions");
}

static bool create(struct control *c, const struct s3op_style *style, bool *made, struct err *e)
{
    char text[1024];
    struct strbuf body = strbuf_on(text, sizeof text);
    struct s3op op = {.kind = S3OP_BUCKET_CREATE,
                      .header = "x-amz-bucket-object-lock-enabled",
                      .header_value = style->object_lock ? "true" : NULL};
    struct err cause = {0};

    /* us-east-1 is the default, and S3 refuses a request that names it. */
    if (strcmp(style->region, "us-east-1") != 0) {
        strbuf_puts(&body, "<CreateBucketConfiguration " S3OP_NAMESPACE "><LocationConstraint>");
        strbuf_xml(&body, style->region, strlen(style->region));
        strbuf_puts(&body, "</LocationConstraint></CreateBucketConfiguration>");
        op.body = body.s;
        op.n_body = body.n;
    }
    if (body.failed)
        return err_set(e, "the region's name is too long");
    bool ok = control_run(c, &op, &cause);
    *made = ok;
    /* Another process may have made it first, or our own request that was sent again. */
    op = (struct s3op){.kind = S3OP_BUCKET_STAT};
    if (!ok && c->result.status == 409)
        ok = control_run(c, &op, NULL);
    return ok || err_set(e, "cannot make bucket '%s': %s%s", style->bucket, cause.msg,
                         lookup_hint(style));
}

bool bucket_is_locked(struct control *c, bool made, struct err *e)
{
    struct err cause = {0};
    const struct s3op op = {.kind = S3OP_BUCKET_LOCK};

    return control_run(c, &op, &cause) ||
           err_set(e,
                   !made && strstr(cause.msg, "ObjectLockConfigurationNotFound") != NULL
                       ? "bucket '%s' was made without object lock, which cannot be added (%s): "
                         "name a new one with --bucket, and it will be made with it"
                       : "the server shows no object lock of bucket '%s' (%s), and retention "
                         "needs it",
                   c->crew.engine->op_style.bucket, cause.msg);
}

/* Finds out why the bucket cannot be used: the answer to a HEAD has no text, that to a listing
 * does. True if it can be used: a policy may allow to list only what begins with the prefix. */
static bool may_list(struct control *c, const char *prefix, int status, struct err *cause)
{
    struct s3op op = {.kind = S3OP_LIST, .one_page = true};
    struct err why = {0};

    s3op_set_key(&op, prefix);
    if (control_run(c, &op, &why))
        return status == 403;
    err_clear(cause);
    if (c->result.status == status)
        return err_set(cause, "%s", why.msg);
    return err_set(cause, "HTTP %d, and to a listing %s", status, why.msg);
}

bool bucket_make(struct control *c, const struct work *k, bool *made, struct err *e)
{
    const struct s3op_style *style = &k->engine->op_style;
    struct err cause = {0};
    const struct s3op op = {.kind = S3OP_BUCKET_STAT};
    bool exists = control_run(c, &op, &cause);
    int status = c->result.status;

    if (!exists && status != 404 && status != 0)
        exists = may_list(c, k->o->prefix, status, &cause);
    if (!exists && status == 0)
        return no_answer(e, c->crew.engine, &cause);
    if (!exists && status != 404)
        return err_set(e, "cannot use bucket '%s': %s%s", style->bucket, cause.msg,
                       lookup_hint(style));
    if (!exists && k->o->data.list_existing)
        return err_set(e, "there is no bucket '%s'", style->bucket);
    *made = false;
    return exists || create(c, style, made, e);
}

bool bucket_ready(struct control *c, const struct work *k, bool made, struct err *e)
{
    if (k->kind->object_lock)
        return bucket_is_locked(c, made, e);
    return !k->kind->versions || need_versions(c, k, made, e);
}

/* ---- Listings ---- */

bool bucket_list_all(struct control *c, enum s3op_kind kind, const char *prefix,
                     xml_entry_fn *on_entry, void *user, const bool *enough, struct err *e)
{
    struct pages pages = {0};
    struct s3op op = {
        .kind = kind, .on_entry = on_entry, .user = user, .one_page = true, .pages = &pages};
    const struct worker_result *r = &c->result;
    struct err cause = {0};
    bool ok = true;
    bool more = true;

    s3op_set_key(&op, prefix);
    while (ok && more) {
        ok = control_run(c, &op, &cause);
        more = ok && r->xml->is_truncated && (enough == NULL || !*enough);
        ok = ok && (!more || pages_next(&pages, r->xml, &cause));
    }
    pages_clear(&pages);
    return ok ||
           err_set(e, "cannot list bucket '%s': %s", c->crew.engine->op_style.bucket, cause.msg);
}

/* ---- Contents of the bucket ---- */

static size_t n_hex(const char *s)
{
    return strspn(s, "0123456789abcdef");
}

bool bucket_is_run(const char *key)
{
    return strncmp(key, "s3load-", 7) == 0 &&
           strspn(key + 7, OPTIONS_ID_ALPHABET) == OPTIONS_ID_LENGTH &&
           key[OPTIONS_ROOT_LENGTH - 1] == '/';
}

bool bucket_is_name(const char *name)
{
    if (n_hex(name) == 4 && name[4] == '/')
        name += 5;
    return name[0] == '\0' || (n_hex(name) == 16 && name[16] == '\0');
}

/* Returns where our part of a key begins, behind any --prefix; NULL: the key is not ours. */
static const char *find_run(const char *key)
{
    for (const char *p = strstr(key, "s3load-"); p != NULL; p = strstr(p + 1, "s3load-"))
        if (bucket_is_run(p) && bucket_is_name(p + OPTIONS_ROOT_LENGTH))
            return p;
    return NULL;
}

/* The last key seen, after which the listing continues, and the counts. */
struct counting {
    struct bucket_content *content;
    char last[S3OP_KEY_MAX + 1];
};

static bool count_entry(void *user, const struct xml_entry *entry, struct err *e)
{
    struct counting *n = user;
    struct bucket_content *content = n->content;
    const char *run = find_run(entry->key);

    (void)e;
    if (run == NULL) {
        content->n_foreign++;
    } else if (strncmp(n->last, entry->key, (size_t)(run - entry->key) + OPTIONS_ROOT_LENGTH) !=
               0) {
        content->n_runs++;
        if (run > entry->key)
            snprintf(content->prefix, sizeof content->prefix, "%.*s", (int)(run - entry->key),
                     entry->key);
    }
    snprintf(n->last, sizeof n->last, "%.*s", S3OP_KEY_MAX, entry->key);
    return true;
}

/* Counts objects of others up to COUNT_MAX. Reads one page of each of our runs and skips the rest
 * of the run. */
bool bucket_look(struct control *c, struct bucket_content *content, struct err *e)
{
    struct counting n = {.content = content};
    struct err cause = {0};
    bool more = true;

    *content = (struct bucket_content){0};
    while (more && content->n_foreign < COUNT_MAX) {
        char after[S3OP_KEY_MAX + 2];
        const char *run = find_run(n.last);
        size_t n_after =
            run != NULL ? (size_t)(run - n.last) + OPTIONS_ROOT_LENGTH : strlen(n.last);

        /* "g" sorts after all names of a run, which are hexadecimal. */
        snprintf(after, sizeof after, "%.*s%s", (int)n_after, n.last, run != NULL ? "g" : "");
        const struct s3op op = {
            .kind = S3OP_LIST,
            .one_page = true,
            .start_after = *after != '\0' ? after : NULL,
            .on_entry = count_entry,
            .user = &n,
        };
        if (!control_run(c, &op, &cause))
            return err_set(e, "cannot list bucket '%s': %s", c->crew.engine->op_style.bucket,
                           cause.msg);
        /* A server that does not know start-after sends the first page again and again. */
        more = c->result.xml->is_truncated && strcmp(n.last, after) > 0;
    }
    content->more_foreign = more;
    return true;
}

/* ---- Existing objects ---- */

struct taking {
    struct work *k;
    uint64_t max; /* of all ranks; 0: no limit */
    uint64_t n_seen;
    bool enough;
};

static bool take_entry(void *user, const struct xml_entry *entry, struct err *e)
{
    struct taking *t = user;
    struct work_object o = {.size_bytes = entry->size_bytes};

    if (entry->kind != XML_OBJECT || (t->max > 0 && t->n_seen >= t->max))
        return true;
    t->enough = ++t->n_seen == t->max;
    /* Each rank lists all objects, and takes every n_ranks-th. */
    if ((t->n_seen - 1) % t->k->engine->n_ranks != t->k->engine->rank)
        return true;
    if (entry->n_key > S3OP_KEY_MAX)
        return err_set(e, "a key is longer than %d bytes", S3OP_KEY_MAX);
    if (mem_text(&o.key, entry->key, e) && work_add(t->k, &o, ""))
        return true;
    free(o.key);
    return mem_none(e);
}

bool bucket_list(struct control *c, struct work *k, uint64_t max, struct err *e)
{
    struct taking t = {.k = k, .max = max};

    if (!bucket_list_all(c, S3OP_LIST, k->o->prefix, take_entry, &t, &t.enough, e))
        return false;
    if (t.n_seen == 0)
        return err_set(e, "bucket '%s' holds no object%s%s", k->engine->op_style.bucket,
                       *k->o->prefix != '\0' ? " that begins with " : "", k->o->prefix);
    return k->n_objects > 0 || err_set(e, "bucket '%s' holds fewer objects than there are ranks",
                                       k->engine->op_style.bucket);
}
