/* Buckets, objects, versions and uploads in memory. The caller holds the store's lock around every
 * call, and as long as it uses the results. Blobs need no lock while the caller has a reference. */
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

/* Returns a blob with room for `size` bytes and one reference; NULL: out of memory. These functions
 * need no lock. */
struct blob *blob_new(size_t size);
void blob_unref(struct blob *b);
struct blob *blob_ref(struct blob *b);

struct bucket *store_bucket(struct store *s, const char *name);

/* Makes a bucket; NULL: out of memory. */
struct bucket *store_create(struct store *s, const char *name);
void store_remove(struct store *s, struct bucket *b);

/* Returns the index of the first object whose key is `key` or comes after it; n_objects: there is
 * none. */
size_t store_from(const struct bucket *b, const char *key);
struct object *store_object(const struct bucket *b, const char *key);

/* Returns the version with this id, or the latest one if id is NULL; NULL: there is none. */
struct version *store_version(const struct object *o, const char *id);

/* Stores v as the latest version of key, and owns it; gives it an id, and drops the version that it
 * replaces. False: out of memory (v is freed). */
bool store_put(struct store *s, struct bucket *b, const char *key, struct version *v);

/* Removes a version, and the object if it was the last one. */
void store_drop(struct bucket *b, const char *key, struct version *v);

/* Begins an upload; NULL: out of memory. */
struct upload *store_start_upload(struct store *s, struct bucket *b, const char *key);
struct upload *store_upload(const struct bucket *b, const char *key, const char *id);
void store_end_upload(struct bucket *b, struct upload *u);

/* Stores a part, replacing the one with the same number; takes its own reference to the blob. */
bool upload_put(struct upload *u, int number, struct blob *blob);

#endif
