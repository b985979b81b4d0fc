#include "loadgen/cmd/commands.h"

/* The deck's stream of random numbers. The workers have streams of their own. */
#define DECK_STREAM (UINT64_C(1) << 61)

/* The run ends if this many uploads in a row fail while the pool is empty. */
#define MAX_VAIN_UPLOADS 20u

enum card { GET, STAT, PUT, DELETE };

bool cmd_mixed_init(struct work *k, struct err *e)
{
    const double shares[DECK_KINDS] = {
        [GET] = k->o->request.get_share,
        [STAT] = k->o->request.stat_share,
        [PUT] = k->o->request.put_share,
        [DELETE] = k->o->request.delete_share,
    };
    struct rng rng;

    (void)e;
    rng_init(&rng, k->engine->seed, engine_stream(k->engine, DECK_STREAM));
    deck_init(&k->deck, shares, rng);
    return true;
}

/* Gives the worker a card, unless it had to wait and still has one. */
static void deal(struct work *k, struct worker *w)
{
    if (w->card >= 0)
        return;
    pthread_mutex_lock(&k->lock);
    w->card = (int)deck_deal(&k->deck);
    pthread_mutex_unlock(&k->lock);
}

/* Takes a random object out of the pool. False: the pool is empty, and the worker waits with its
 * card. If all other workers wait already, its card becomes an upload, if the mix has uploads. */
static bool take(struct work *k, struct worker *w, struct work_object *o)
{
    struct work_own *own = work_own(k, w);

    pthread_mutex_lock(&k->lock);
    bool found = k->n_objects > 0, is_last = k->n_waiting + !own->waiting == k->n_workers;
    if (!found && is_last && !k->drained && deck_exchange(&k->deck, (size_t)w->card, PUT)) {
        w->card = PUT;
        k->n_waiting -= own->waiting;
        own->waiting = false;
    } else if (found == own->waiting) {
        own->waiting = !found;
        k->n_waiting += found ? -1u : 1u;
        k->n_object_waits += !found;
        k->drained |= k->n_waiting == k->n_workers;
    }
    if (found) {
        size_t i = (size_t)rng_below(&w->rng, k->n_objects);
        *o = k->objects[i];
        k->objects[i] = k->objects[--k->n_objects];
    }
    pthread_mutex_unlock(&k->lock);
    return found;
}

/* Returns a new version of an object of the pool, or a new object if the pool is empty. */
static struct work_object new_version(struct work *k, struct worker *w)
{
    struct work_object o = work_new_object(k, w);

    pthread_mutex_lock(&k->lock);
    if (k->n_objects > 0) {
        const struct work_object *old = &k->objects[rng_below(&w->rng, k->n_objects)];
        o.id = old->id;
        o.dir = old->dir;
    }
    pthread_mutex_unlock(&k->lock);
    return o;
}

/* The pool holds objects or versions. While a request uses one, it is not in the pool. */
enum phase_next cmd_mixed_next(struct work *k, struct worker *w, struct s3op *op)
{
    struct work_object *o = &work_own(k, w)->object;

    deal(k, w);
    if (w->card != PUT && !take(k, w, o) && w->card != PUT)
        return k->drained ? PHASE_END : PHASE_WAIT;
    switch ((enum card)w->card) {
    case GET:
        work_get(k, w, o, op);
        break;
    case STAT:
        work_ask(k, S3OP_STAT, o, op);
        break;
    case DELETE:
        work_ask(k, S3OP_DELETE, o, op);
        break;
    default:
        *o = k->kind->versions ? new_version(k, w) : work_new_object(k, w);
        work_put(k, o, op);
    }
    return PHASE_OP;
}

static void upload_failed(struct work *k)
{
    pthread_mutex_lock(&k->lock);
    if (k->n_objects == 0 && ++k->n_vain_uploads >= MAX_VAIN_UPLOADS)
        k->drained = true;
    pthread_mutex_unlock(&k->lock);
}

/* Returns objects to the pool or adds new ones. After a failed deletion an object may be gone
 * (unless the server only asked to retry), after a failed upload it may exist: the benchmark uses
 * neither again. */
void cmd_mixed_done(struct work *k, struct worker *w, const struct s3op *op,
                    const struct worker_result *r)
{
    struct work_object *o = &work_own(k, w)->object;
    bool put_off = r->error[0] != '\0' && (r->status == 503 || r->status == 429);

    if (op->kind == S3OP_GET || op->kind == S3OP_STAT || (op->kind == S3OP_DELETE && put_off))
        work_return(k, o);
    else if (op->kind == S3OP_DELETE)
        work_end_delete(k, o, op, r);
    else if (r->error[0] == '\0')
        work_add(k, o, k->kind->versions ? r->version : "");
    else
        upload_failed(k);
    o->version = NULL;
}

const struct cli_command cmd_mixed = {
    .name = "mixed",
    .summary = "a mix of downloads, uploads, HEADs and deletions",
    .text = "Uploads --objects objects and works on them until --duration is over. New objects "
            "join the pool, deleted ones leave it; none is deleted while a request reads it. "
            "--get-distrib and the options after it say which share each kind of request has. The "
            "first uploads are "
            "not recorded.",
    COMMAND_GROUPS({"Mix", NULL, options_pool, 0}, {"Mix", NULL, options_shares, 0},
                   {"Objects", NULL, options_size, 0}),
    COMMAND_EXAMPLES({"s3load mixed --duration 1m --rate 500",
                      "500 requests per second, whatever the server does"}),
    COMMAND_DEFAULTS(.data.n_objects = 2500, .data.size_bytes = INT64_C(10) << 20,
                     .request.get_share = 45, .request.stat_share = 30, .request.put_share = 15,
                     .request.delete_share = 10),
    COMMAND_WORKLOAD(.prepares = true, .mixed = true, .next = cmd_mixed_next,
                     .done = cmd_mixed_done, .init = cmd_mixed_init),
};
