/* What the workers of a command do: they upload objects, use them, and delete them. Each command
 * (loadgen/cmd) has its own struct workload; struct work is the state of one run. */
#ifndef S3_LOADGEN_WORK_WORKLOAD_H
#define S3_LOADGEN_WORK_WORKLOAD_H

#include "loadgen/load/load.h"
#include "loadgen/options/options.h"
#include "loadgen/util/util.h"

#include <pthread.h>
#include <stdatomic.h>

/* The order of operations in a mix: a shuffled deck of 1000 cards, which is refilled and shuffled
 * when it is empty. After every deck the numbers of cards are as near to the shares as whole
 * numbers can be. */

#define DECK_CARDS 1000
#define DECK_KINDS 4

struct deck {
    struct rng rng;
    double frac[DECK_KINDS];  /* shares, sum 1 */
    double carry[DECK_KINDS]; /* cards owed by earlier decks, in (-1, 1) */
    size_t n_left;
    uint8_t cards[DECK_CARDS];
};

/* Makes a deck. The shares are normalised; none is negative, and not all are 0. */
void deck_init(struct deck *d, const double shares[DECK_KINDS], struct rng rng);

/* Returns the kind of the next request, 0..DECK_KINDS-1. A kind with share 0 is never dealt. */
size_t deck_deal(struct deck *d);

/* Records that a card of kind `want` is played in place of the card of kind `have` that was dealt.
 * The next decks compensate for it, so the shares stay exact over time. False: the mix has no cards
 * of kind `want`. */
bool deck_exchange(struct deck *d, size_t have, size_t want);

/* Sizes of objects and of ranges. */

/* Returns a random size in 1..max_bytes (0 if max_bytes is 0), with the distribution of
 * --obj.randsize: as many objects in each of the eight largest doublings, and uniform below them;
 * uniform throughout up to a maximum of 256. The mean tends to 0.1794 max_bytes. */
uint64_t sizes_random(struct rng *r, uint64_t max_bytes);

/* A part of an object: `length` bytes from `offset` on. */
struct sizes_range {
    uint64_t offset;
    uint64_t length;
};

/* Returns a random part of an object. Its length is length_bytes (--range-size) or, if that is 0, a
 * length by sizes_random up to size_bytes - 2 (--range); its offset is uniform over what is
 * possible. Returns the whole object if that is not longer than length_bytes, or has at most 2
 * bytes. */
struct sizes_range sizes_range(struct rng *r, uint64_t size_bytes, uint64_t length_bytes);

struct work;
struct bench;

/* What a command's workers do: the ctx of its struct cli_command. */
struct workload {
    bool prepares;    /* uploads objects first */
    bool versions;    /* needs a versioned bucket */
    bool object_lock; /* needs a bucket with object lock */
    bool uploads;     /* uploads in parts */
    bool no_payload;  /* no request has bytes of objects */
    bool mixed;       /* several kinds of requests; those of the preparation are not recorded */
    /* The functions of the same names in struct phase. */
    enum phase_next (*next)(struct work *k, struct worker *w, struct s3op *op);
    void (*done)(struct work *k, struct worker *w, const struct s3op *op,
                 const struct worker_result *r); /* may be NULL */
    bool (*init)(struct work *k, struct err *e); /* may be NULL */
    int (*instead)(struct bench *b); /* rank 0 runs this, and no benchmark; may be NULL */
};

/* An object, or one version of it. */
struct work_object {
    uint64_t id;   /* determines its name */
    uint64_t seed; /* of its content */
    uint64_t size_bytes;
    uint32_t dir;  /* number of the folder that it is in */
    bool gone;     /* cleaning has seen that it is not there */
    char *version; /* NULL: none */
    char *key;     /* key of an object that existed before the run, else NULL */
};

/* Objects that were stored and that no pool keeps; objects that cleaning has found in a listing. */
enum work_noted { WORK_STORED, WORK_LISTED, WORK_N_NOTED };

/* A worker's state for its workload. */
struct work_own {
    struct strbuf body;
    struct strbuf upload_id, etags;  /* multipart */
    struct work_object object;       /* in use */
    atomic_uint_fast64_t n_uploaded; /* objects of the preparation in the worker's folder */
    unsigned part;
    int step;
    size_t first; /* place of the first object of a request to delete several */
    bool waiting; /* for an object */
    uint64_t n_gets;
};

struct work {
    const struct workload *kind;
    const struct options *o;
    struct engine *engine;
    char root[S3OP_KEY_MAX + 1]; /* all keys of this run begin with it */
    struct work_own *own;        /* by worker */
    unsigned n_workers;
    uint32_t first_dir; /* first folder of this rank's workers; those of the next rank follow */

    pthread_mutex_t lock; /* protects the members up to first_error */
    struct work_object *objects;
    size_t n_objects, cap_objects;
    struct work_object *kept; /* their deletion was not acknowledged */
    size_t n_kept, cap_kept;
    unsigned n_waiting;      /* workers that wait for an object */
    uint64_t n_object_waits; /* how often a worker had to wait */
    unsigned n_vain_uploads; /* uploads in a row that failed while the pool was empty */
    struct deck deck;
    struct err error; /* the first failure of preparing or cleaning */
    uint64_t n_failed;
    struct err first_error;          /* the first failure of the benchmark */
    uint64_t (*noted)[WORK_N_NOTED]; /* a bit for each id of an object, from 0 on */
    size_t n_noted;                  /* words of each kind */
    uint64_t n_ids;                  /* of all ranks; 0: not yet known */

    int64_t start_ns; /* start of the run, wall clock */
    bool warms_up;    /* requests make no rows, count for no limit, and may fail */

    atomic_uint_fast64_t n_begun; /* uploads in preparation */
    atomic_uint_fast64_t n_done;
    atomic_bool uploaded;       /* an upload has succeeded */
    atomic_uint_fast64_t n_new; /* number of objects made by the benchmark */
    atomic_bool saw_version;    /* the bucket keeps versions, or did once */
    atomic_bool drained;        /* no object is left, and none will come: the run ends */

    /* Limits that end the benchmark: requests begun, and bytes moved; UINT64_MAX: no limit. */
    uint64_t max_requests, max_bytes;
    atomic_uint_fast64_t n_asked, n_moved; /* requests begun and bytes moved so far */
};

/* Sets up the work. kind, o and g are borrowed. Call work_fini in any case. */
bool work_init(struct work *k, const struct workload *kind, const struct options *o,
               struct engine *g, struct err *e);
void work_fini(struct work *k);

/* The uploads of the preparation: next and done of a struct phase. */
enum phase_next work_prepare_next(void *ctx, struct worker *w, struct s3op *op);
void work_prepare_done(void *ctx, struct worker *w, const struct s3op *op,
                       const struct worker_result *r);
uint64_t work_n_prepare(const struct work *k);     /* of all ranks */
uint64_t work_n_prepare_own(const struct work *k); /* of this one */

/* The benchmark: next and done of a struct phase. */
enum phase_next work_bench_next(void *ctx, struct worker *w, struct s3op *op);
void work_bench_done(void *ctx, struct worker *w, const struct s3op *op,
                     const struct worker_result *r);

/* Returns true once the limits of requests or bytes are reached: no further request begins. */
bool work_is_done(const struct work *k);

/* Ends the warm-up, for which the caller has set warms_up. */
void work_end_warm_up(struct work *k);

/* For workloads. */
static inline struct work_own *work_own(struct work *k, const struct worker *w)
{
    return &k->own[w->thread];
}

/* Returns a new object: the next number, in the worker's folder. */
struct work_object work_new_object(struct work *k, const struct worker *w);

/* Makes the folder `dir` below `root` the key of op. Each worker has a folder of its own. */
void work_set_dir(struct s3op *op, const char *root, uint32_t dir);

/* Puts the object's key into op. */
void work_set_key(const struct work *k, const struct work_object *o, struct s3op *op);

/* Make op a request: of a kind, for an object or its version; an upload; a download (of a part with
 * --range). */
void work_ask(const struct work *k, enum s3op_kind kind, const struct work_object *o,
              struct s3op *op);
void work_put(const struct work *k, const struct work_object *o, struct s3op *op);
void work_get(struct work *k, struct worker *w, const struct work_object *o, struct s3op *op);

/* Gives the request this body. PHASE_END: out of memory. */
enum phase_next work_set_body(struct work *k, const struct strbuf *body, struct s3op *op);

/* Add an object (version "": none) to the body of a request that deletes several objects; end the
 * body. The body starts empty. XML must be able to hold the key (strbuf_fits_xml). */
void work_add_to_batch(struct strbuf *body, const char *key, const char *version, struct s3op *op);
enum phase_next work_end_batch(struct work *k, struct strbuf *body, struct s3op *op);

/* Adds an object to the pool; `version` (or "") is copied. False: out of memory, which is recorded
 * as an error. */
bool work_add(struct work *k, const struct work_object *o, const char *version);

/* Returns an object to the pool. It cannot fail if the object was taken out of it. */
bool work_return(struct work *k, const struct work_object *o);

/* Ends the deletion of an object that was taken out of the pool. If the answer does not say that
 * the object is gone, keeps it. Cleaning then puts it back into the pool, counts it, and deletes it
 * by name. */
void work_end_delete(struct work *k, const struct work_object *o, const struct s3op *op,
                     const struct worker_result *r);

/* Begins to note what cleaning lists, and puts kept objects back into the pool. max_new is the
 * largest number of objects that any rank's benchmark has made. */
bool work_begin_listing(struct work *k, uint64_t max_new, struct err *e);
/* Notes that an object was listed. `name` is its key below the root. */
void work_note_listed(struct work *k, const char *name);

/* Returns how many names of objects this rank has stored and not deleted; with `unlisted` only
 * those that are neither listed nor gone. An upload counts if it succeeded. A deletion counts if it
 * succeeded, or if a plain DELETE got 404. A batch counts only if all its deletions succeeded. */
uint64_t work_count_stored(struct work *k, bool unlisted);

/* Counts a failure, and keeps the first one's reason. */
void work_fail(struct work *k, const char *why);

#endif
