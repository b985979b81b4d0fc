/* Buckets, objects, versions and uploads in memory. The caller holds the store's lock around every
 * call and for as long as it uses what a call returned, but for blobs, which it may reference. */
#ifndef S3_STORE_H
#define S3_STORE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of an object or a part; immutable once stored. */
struct blob {
    atomic_size_t n_refs;
    size_t size;
    unsigned char md5[16];
    char data[];
};

struct version {
    struct version *older;
    char id[20]; /* "null" where versioning is not enabled */
    bool is_marker;
    struct blob *blob; /* NULL for a delete marker */
    char etag[44];     /* without quotes */
    int64_t time_s;
    bool sse_s3;
    char sse_c_key_md5[32];
    char storage_class[32];
    char retain_mode[16]; /* GOVERNANCE, COMPLIANCE or empty */
    int64_t retain_until_s;
};

struct object {
    char *key;
    struct version *latest; /* never NULL */
};

struct part {
    int number;
    struct blob *blob;
};

struct upload {
    struct upload *next;
    char id[20];
    char *key;
    int64_t time_s;
    struct part *parts; /* by number */
    size_t n_parts;
};

enum versioning { VERSIONING_OFF, VERSIONING_ENABLED, VERSIONING_SUSPENDED };

struct bucket {
    struct bucket *next;
    char *name;
    enum versioning versioning;
    bool object_lock;
    char *policy, *lifecycle; /* as they were put; NULL: none */
    struct object **objects;  /* by key, in byte order */
    size_t n_objects;
    size_t cap;
    struct upload *uploads;
};

struct store {
    pthread_mutex_t lock;
    struct bucket *buckets;
    uint64_t last_id;
};

void store_init(struct store *s);
void store_fini(struct store *s);

/* A blob with room for `size` bytes and one reference, or NULL. These two need no lock. */
struct blob *blob_new(size_t size);
void blob_unref(struct blob *b);
struct blob *blob_ref(struct blob *b);

struct bucket *store_bucket(struct store *s, const char *name);

/* NULL: out of memory. */
struct bucket *store_create(struct store *s, const char *name);
void store_remove(struct store *s, struct bucket *b);

/* The first object whose key is `key` or after it, as an index; n_objects: none. */
size_t store_from(const struct bucket *b, const char *key);
struct object *store_object(const struct bucket *b, const char *key);

/* The version with this id, or the latest if id is NULL; NULL: none. */
struct version *store_version(const struct object *o, const char *id);

/* Stores v, which the store then owns, as the latest version of key; gives it an id, and drops what
 * it replaces. False: out of memory (v is freed). */
bool store_put(struct store *s, struct bucket *b, const char *key, struct version *v);

/* Removes one version, and the object with its last one. */
void store_drop(struct bucket *b, const char *key, struct version *v);

void version_free(struct version *v);

/* NULL: out of memory. */
struct upload *store_start_upload(struct store *s, struct bucket *b, const char *key);
struct upload *store_upload(const struct bucket *b, const char *key, const char *id);
void store_end_upload(struct bucket *b, struct upload *u);

/* Stores the part, replacing one with its number; owns a reference of its own. */
bool upload_put(struct upload *u, int number, struct blob *blob);

#endif
