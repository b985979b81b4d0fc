#include "loadgen/work/workload.h"

#include "libcommon/mem.h"
#include "libcommon/splitmix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The stream of random numbers for the size of each object. */
#define SIZES_STREAM (UINT64_C(1) << 60)

#define STEP_INVERSE UINT64_C(0xf1de83e19937733d) /* of SPLITMIX_STEP, modulo 2^64 */

/* The preparation gives up if at least this many uploads, and at least twice as many as there are
 * workers, have ended without any success. */
#define FIRST_UPLOADS 100u

/* Up to this maximum the distribution is uniform. */
#define UNIFORM_MAX 256

/* The distribution is logarithmic over this many doublings below the maximum... */
#define DOUBLINGS 8

/* ...but never below 2^7. */
#define MIN_LOG2 7.0

uint64_t sizes_random(struct rng *r, uint64_t max_bytes)
{
    if (max_bytes <= UNIFORM_MAX)
        return max_bytes == 0 ? 0 : 1 + rng_below(r, max_bytes);

    double top = log2((double)(max_bytes - 1));
    double bottom = fmax(MIN_LOG2, top - DOUBLINGS);
    double x = rng_unit(r) * (top - bottom);
    double less_one = x > 1 ? exp2(bottom + x) : x * exp2(bottom + 1);
    uint64_t size = 1 + (uint64_t)less_one;

    /* exp2(log2()) may round up to the next integer. */
    return size < max_bytes ? size : max_bytes;
}

struct sizes_range sizes_range(struct rng *r, uint64_t size_bytes, uint64_t length_bytes)
{
    if (length_bytes == 0 && size_bytes > 2)
        length_bytes = sizes_random(r, size_bytes - 2);
    if (length_bytes == 0 || length_bytes >= size_bytes)
        return (struct sizes_range){0, size_bytes};
    return (struct sizes_range){rng_below(r, size_bytes - length_bytes + 1), length_bytes};
}

static uint64_t n_versions(const struct work *k)
{
    return k->kind->versions && k->o->data.n_versions > 0 ? (uint64_t)k->o->data.n_versions : 1;
}

uint64_t work_n_prepare(const struct work *k)
{
    return (uint64_t)k->o->data.n_objects * n_versions(k);
}

/* Ranks take objects in turn: rank r uploads each version of objects r, r + n_ranks, ... */
static uint64_t n_own_objects(const struct work *k)
{
    uint64_t n = (uint64_t)k->o->data.n_objects;
    unsigned rank = k->engine->rank;

    return n > rank ? (n - rank - 1) / k->engine->n_ranks + 1 : 0;
}

uint64_t work_n_prepare_own(const struct work *k)
{
    return n_own_objects(k) * n_versions(k);
}

/* Returns this rank's part of n; the parts of all ranks add up to n. n = 0 means no limit. */
static uint64_t share_of(int64_t n, const struct engine *g)
{
    return n == 0 ? UINT64_MAX : (uint64_t)n / g->n_ranks + (g->rank < (uint64_t)n % g->n_ranks);
}

bool work_init(struct work *k, const struct workload *kind, const struct options *o,
               struct engine *g, struct err *e)
{
    *k = (struct work){.kind = kind,
                       .o = o,
                       .engine = g,
                       .n_workers = (unsigned)o->load.n_workers,
                       .max_requests = share_of(o->load.n_requests, g),
                       .max_bytes = share_of(o->load.n_bytes, g)};
    pthread_mutex_init(&k->lock, NULL);
    k->start_ns = clock_real_ns();
    snprintf(k->root, sizeof k->root, "%ss3load-%s/", o->prefix, o->run_id);
    k->first_dir = g->rank * k->n_workers;
    return mem_cleared(&k->own, k->n_workers, e) && (kind->init == NULL || kind->init(k, e));
}

static void free_object(struct work_object *o)
{
    free(o->version);
    free(o->key);
}

void work_fini(struct work *k)
{
    for (size_t i = 0; i < k->n_objects; i++)
        free_object(&k->objects[i]);
    for (size_t i = 0; i < k->n_kept; i++)
        free_object(&k->kept[i]);
    free(k->objects);
    free(k->kept);
    free(k->noted);
    for (unsigned i = 0; k->own != NULL && i < k->n_workers; i++) {
        struct work_own *own = &k->own[i];
        strbuf_fini(&own->body);
        strbuf_fini(&own->upload_id);
        strbuf_fini(&own->etags);
        free_object(&own->object);
    }
    free(k->own);
    pthread_mutex_destroy(&k->lock);
    *k = (struct work){0};
}

void work_fail(struct work *k, const char *why)
{
    pthread_mutex_lock(&k->lock);
    k->n_failed++;
    err_set(&k->error, "%s", why);
    pthread_mutex_unlock(&k->lock);
}

/* ---- The pool of objects ---- */

/* Returns the size of upload i in bytes, by --obj.size and --obj.randsize. */
static uint64_t size_of(const struct work *k, uint64_t i)
{
    struct rng rng;

    if (!k->o->data.random_sizes)
        return (uint64_t)k->o->data.size_bytes;
    rng_init(&rng, k->engine->seed, SIZES_STREAM + i);
    return sizes_random(&rng, (uint64_t)k->o->data.size_bytes);
}

/* Makes object `id`, with the content and size of upload `i`. */
static struct work_object make_object(const struct work *k, uint64_t id, uint64_t i, uint32_t dir)
{
    return (struct work_object){
        .id = id,
        .seed = payload_seed(k->engine->seed, i),
        .size_bytes = size_of(k, i),
        .dir = dir,
    };
}

struct work_object work_new_object(struct work *k, const struct worker *w)
{
    uint64_t i = atomic_fetch_add(&k->n_new, 1) * k->engine->n_ranks + k->engine->rank;
    uint64_t id = work_n_prepare(k) + i;

    return make_object(k, id, id, k->first_dir + w->thread);
}

static char *put_hex(char *p, uint64_t value, int n_digits)
{
    static const char digits[] = "0123456789abcdef";

    for (int i = n_digits - 1; i >= 0; i--)
        *p++ = digits[value >> 4 * i & 15];
    return p;
}

void work_set_dir(struct s3op *op, const char *root, uint32_t dir)
{
    op->n_key = (size_t)snprintf(op->key, sizeof op->key, "%s%04x/", root, dir);
}

void work_set_key(const struct work *k, const struct work_object *o, struct s3op *op)
{
    if (o->key != NULL) {
        s3op_set_key(op, o->key);
        return;
    }
    char *p = stpcpy(op->key, k->root);
    if (!k->o->data.no_prefix) {
        p = put_hex(p, o->dir, 4);
        *p++ = '/';
    }
    /* Multiplication by an odd number scatters the names, like those of real clients. */
    p = put_hex(p, o->id * SPLITMIX_STEP, 16);
    *p = '\0';
    op->n_key = (size_t)(p - op->key);
}

void work_ask(const struct work *k, enum s3op_kind kind, const struct work_object *o,
              struct s3op *op)
{
    op->kind = kind;
    work_set_key(k, o, op);
    op->version_id = o->version;
}

void work_put(const struct work *k, const struct work_object *o, struct s3op *op)
{
    work_ask(k, S3OP_PUT, o, op);
    op->payload_seed = o->seed;
    op->n_payload = o->size_bytes;
}

void work_get(struct work *k, struct worker *w, const struct work_object *o, struct s3op *op)
{
    const struct options *options = k->o;
    struct sizes_range range = {0, o->size_bytes};

    work_ask(k, S3OP_GET, o, op);
    if (options->request.range)
        range = sizes_range(&w->rng, o->size_bytes, (uint64_t)options->request.range_bytes);
    op->offset = range.offset;
    op->length = range.length;
    op->whole = range.length == o->size_bytes;
    op->payload_seed = o->seed;
    op->verify =
        options->load.verify > 0 && work_own(k, w)->n_gets++ % (uint64_t)options->load.verify == 0;
}

enum phase_next work_set_body(struct work *k, const struct strbuf *body, struct s3op *op)
{
    op->body = body->s;
    op->n_body = body->n;
    if (body->failed)
        work_fail(k, "out of memory");
    return body->failed ? PHASE_END : PHASE_OP;
}

void work_add_to_batch(struct strbuf *body, const char *key, const char *version, struct s3op *op)
{
    strbuf_puts(body, op->n_objects++ == 0 ? "<Delete><Quiet>true</Quiet><Object><Key>"
                                           : "<Object><Key>");
    strbuf_xml(body, key, strlen(key));
    strbuf_puts(body, *version != '\0' ? "</Key><VersionId>" : "</Key>");
    strbuf_xml(body, version, strlen(version));
    strbuf_puts(body, *version != '\0' ? "</VersionId></Object>" : "</Object>");
}

enum phase_next work_end_batch(struct work *k, struct strbuf *body, struct s3op *op)
{
    strbuf_puts(body, "</Delete>");
    op->kind = S3OP_DELETE_BATCH;
    return work_set_body(k, body, op);
}

bool work_return(struct work *k, const struct work_object *o)
{
    pthread_mutex_lock(&k->lock);
    bool ok = mem_fit(&k->objects, &k->cap_objects, k->n_objects + 1, NULL);
    if (ok)
        k->objects[k->n_objects++] = *o;
    k->n_vain_uploads = 0;
    pthread_mutex_unlock(&k->lock);
    return ok;
}

bool work_add(struct work *k, const struct work_object *o, const char *version)
{
    struct work_object copy = *o;
    bool ok = true;

    if (*version != '\0') {
        copy.version = strdup(version);
        ok = copy.version != NULL;
    }
    if (ok && work_return(k, &copy))
        return true;
    free(copy.version);
    work_fail(k, "out of memory");
    return false;
}

void work_end_delete(struct work *k, const struct work_object *o, const struct s3op *op,
                     const struct worker_result *r)
{
    if (r->error[0] == '\0' || (op->kind == S3OP_DELETE && r->status == 404)) {
        free(o->version);
        return;
    }
    pthread_mutex_lock(&k->lock);
    bool ok = mem_fit(&k->kept, &k->cap_kept, k->n_kept + 1, NULL);
    if (ok)
        k->kept[k->n_kept++] = *o;
    pthread_mutex_unlock(&k->lock);
    if (!ok)
        work_fail(k, "out of memory");
}

/* ---- What was stored, and what is listed ---- */

/* Sets an object's bit. False: out of memory. */
static bool note(struct work *k, uint64_t id, enum work_noted which)
{
    pthread_mutex_lock(&k->lock);
    size_t old = k->n_noted;
    bool ok = mem_fit(&k->noted, &k->n_noted, id / 64 + 1, NULL);
    if (k->n_noted > old)
        memset(k->noted + old, 0, (k->n_noted - old) * sizeof *k->noted);
    if (ok)
        k->noted[id / 64][which] |= UINT64_C(1) << id % 64;
    pthread_mutex_unlock(&k->lock);
    return ok;
}

bool work_begin_listing(struct work *k, uint64_t max_new, struct err *e)
{
    k->n_ids = work_n_prepare(k) + max_new * k->engine->n_ranks;
    for (; k->n_kept > 0; k->n_kept--)
        if (!work_return(k, &k->kept[k->n_kept - 1]))
            return mem_none(e);
    return note(k, k->n_ids, WORK_LISTED) || mem_none(e);
}

void work_note_listed(struct work *k, const char *name)
{
    size_t n = strlen(name);
    uint64_t id = n < 16 ? UINT64_MAX : strtoull(name + n - 16, NULL, 16) * STEP_INVERSE;

    if (id < k->n_ids)
        note(k, id, WORK_LISTED);
}

uint64_t work_count_stored(struct work *k, bool unlisted)
{
    uint64_t n = 0;

    /* Commands that prepare objects keep all that they have stored in the pool. */
    for (size_t i = 0; i < k->n_noted && k->kind->prepares; i++)
        k->noted[i][WORK_STORED] = 0;
    for (size_t i = 0; i < k->n_objects; i++)
        if (!k->objects[i].gone)
            note(k, k->objects[i].id, WORK_STORED);
    for (size_t i = 0; i < k->n_noted; i++)
        n += (uint64_t)__builtin_popcountll(k->noted[i][WORK_STORED] &
                                            ~(unlisted ? k->noted[i][WORK_LISTED] : 0));
    return n;
}

/* ---- Phases ---- */

static void see_version(struct work *k, const struct worker_result *r)
{
    if (r->version[0] != '\0' && !atomic_load_explicit(&k->saw_version, memory_order_relaxed))
        atomic_store(&k->saw_version, true);
}

/* Returns the object of this rank's upload i. Versions of an object share its name, and differ in
 * content. */
static struct work_object prepared_object(const struct work *k, uint64_t i)
{
    uint64_t n = n_own_objects(k);
    uint64_t id = i % n * k->engine->n_ranks + k->engine->rank;
    uint32_t dir = k->first_dir + (uint32_t)(i % n % k->n_workers);

    return make_object(k, id, i / n * (uint64_t)k->o->data.n_objects + id, dir);
}

enum phase_next work_prepare_next(void *ctx, struct worker *w, struct s3op *op)
{
    struct work *k = ctx;
    uint64_t i = atomic_fetch_add(&k->n_begun, 1);
    uint64_t enough = 2 * (uint64_t)k->n_workers;

    enough = enough > FIRST_UPLOADS ? enough : FIRST_UPLOADS;
    bool hopeless = !atomic_load(&k->uploaded) && atomic_load(&k->n_done) >= enough;
    if (hopeless || i >= work_n_prepare_own(k))
        return PHASE_END;
    work_own(k, w)->object = prepared_object(k, i);
    work_put(k, &work_own(k, w)->object, op);
    op->recorded = !k->kind->mixed;
    return PHASE_OP;
}

void work_prepare_done(void *ctx, struct worker *w, const struct s3op *op,
                       const struct worker_result *r)
{
    struct work *k = ctx;

    (void)op;
    see_version(k, r);
    if (r->error[0] == '\0')
        atomic_store(&k->uploaded, true);
    atomic_fetch_add(&k->n_done, 1);
    if (r->error[0] != '\0') {
        work_fail(k, r->error);
        return;
    }
    atomic_fetch_add(&k->own[work_own(k, w)->object.dir - k->first_dir].n_uploaded, 1);
    work_add(k, &work_own(k, w)->object, k->kind->versions ? r->version : "");
}

bool work_is_done(const struct work *k)
{
    return (k->max_requests < UINT64_MAX && atomic_load(&k->n_asked) >= k->max_requests) ||
           (k->max_bytes < UINT64_MAX && atomic_load(&k->n_moved) >= k->max_bytes);
}

enum phase_next work_bench_next(void *ctx, struct worker *w, struct s3op *op)
{
    struct work *k = ctx;
    bool counts = k->max_requests < UINT64_MAX && !k->warms_up;

    if (k->max_bytes < UINT64_MAX && atomic_load(&k->n_moved) >= k->max_bytes)
        return PHASE_END;
    if (counts && atomic_fetch_add(&k->n_asked, 1) >= k->max_requests)
        return PHASE_END;
    op->bench = op->recorded = !k->warms_up;
    enum phase_next next = k->kind->next(k, w, op);
    if (counts && next != PHASE_OP)
        atomic_fetch_sub(&k->n_asked, 1);
    return next;
}

void work_bench_done(void *ctx, struct worker *w, const struct s3op *op,
                     const struct worker_result *r)
{
    struct work *k = ctx;

    if (k->max_bytes < UINT64_MAX && r->error[0] == '\0' && !k->warms_up)
        atomic_fetch_add(&k->n_moved, r->n_bytes);
    if (r->error[0] != '\0' && !k->warms_up) {
        pthread_mutex_lock(&k->lock);
        err_set(&k->first_error, "%s", r->error);
        pthread_mutex_unlock(&k->lock);
    }
    see_version(k, r);
    w->card = -1;
    if (!k->kind->prepares && r->error[0] == '\0' &&
        (op->kind == S3OP_PUT || op->kind == S3OP_COMPLETE) &&
        !note(k, work_own(k, w)->object.id, WORK_STORED))
        work_fail(k, "out of memory");
    if (k->kind->done != NULL)
        k->kind->done(k, w, op, r);
}

void work_end_warm_up(struct work *k)
{
    k->warms_up = false;
    for (unsigned i = 0; i < k->n_workers; i++)
        k->own[i].waiting = false;
    k->n_waiting = 0;
    k->n_object_waits = 0;
}
