#include "tests/target/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct blob *blob_new(size_t size)
{
    struct blob *b = malloc(sizeof *b + size);

    if (b != NULL) {
        atomic_init(&b->n_refs, 1);
        b->size = size;
    }
    return b;
}

struct blob *blob_ref(struct blob *b)
{
    atomic_fetch_add(&b->n_refs, 1);
    return b;
}

void blob_unref(struct blob *b)
{
    if (b != NULL && atomic_fetch_sub(&b->n_refs, 1) == 1)
        free(b);
}

static void version_free(struct version *v)
{
    blob_unref(v->blob);
    free(v);
}

static void object_free(struct object *o)
{
    while (o->latest != NULL) {
        struct version *v = o->latest;
        o->latest = v->older;
        version_free(v);
    }
    free(o->key);
    free(o);
}

void store_init(struct store *s)
{
    *s = (struct store){0};
    pthread_mutex_init(&s->lock, NULL);
}

void store_fini(struct store *s)
{
    while (s->buckets != NULL)
        store_remove(s, s->buckets);
    pthread_mutex_destroy(&s->lock);
}

struct bucket *store_bucket(struct store *s, const char *name)
{
    struct bucket *b = s->buckets;

    while (b != NULL && strcmp(b->name, name) != 0)
        b = b->next;
    return b;
}

struct bucket *store_create(struct store *s, const char *name)
{
    struct bucket *b = calloc(1, sizeof *b);

    if (b == NULL || (b->name = strdup(name)) == NULL) {
        free(b);
        return NULL;
    }
    b->next = s->buckets;
    s->buckets = b;
    return b;
}

void store_remove(struct store *s, struct bucket *b)
{
    struct bucket **at = &s->buckets;

    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    for (size_t i = 0; i < b->n_objects; i++)
        object_free(b->objects[i]);
    while (b->uploads != NULL)
        store_end_upload(b, b->uploads);
    free(b->objects);
    free(b->policy);
    free(b->lifecycle);
    free(b->name);
    free(b);
}

size_t store_from(const struct bucket *b, const char *key)
{
    size_t lo = 0;
    size_t hi = b->n_objects;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (strcmp(b->objects[mid]->key, key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct object *store_object(const struct bucket *b, const char *key)
{
    size_t i = store_from(b, key);

    return i < b->n_objects && strcmp(b->objects[i]->key, key) == 0 ? b->objects[i] : NULL;
}

struct version *store_version(const struct object *o, const char *id)
{
    struct version *v = o->latest;

    while (id != NULL && v != NULL && strcmp(v->id, id) != 0)
        v = v->older;
    return v;
}

/* Inserts an object without versions, in order of keys. */
static struct object *add_object(struct bucket *b, const char *key)
{
    size_t at = store_from(b, key);

    if (b->n_objects == b->cap) {
        size_t cap = b->cap == 0 ? 64 : 2 * b->cap;
        struct object **bigger = realloc(b->objects, cap * sizeof(struct object *));
        if (bigger == NULL)
            return NULL;
        b->objects = bigger;
        b->cap = cap;
    }
    struct object *o = calloc(1, sizeof *o);
    if (o == NULL || (o->key = strdup(key)) == NULL) {
        free(o);
        return NULL;
    }
    memmove(b->objects + at + 1, b->objects + at, (b->n_objects - at) * sizeof(struct object *));
    b->objects[at] = o;
    b->n_objects++;
    return o;
}

/* Makes an id of a version or an upload. Ids do not sort by time, so that nobody relies on that. */
static void new_id(struct store *s, char id[static 20])
{
    uint64_t x = ++s->last_id * 0x9e3779b97f4a7c15u;

    snprintf(id, 20, "v%016llx", (unsigned long long)x);
}

bool store_put(struct store *s, struct bucket *b, const char *key, struct version *v)
{
    struct object *o = store_object(b, key);

    if (o == NULL)
        o = add_object(b, key);
    if (o == NULL) {
        version_free(v);
        return false;
    }
    if (b->versioning == VERSIONING_ENABLED) {
        new_id(s, v->id);
    } else {
        strcpy(v->id, "null");
        for (struct version **at = &o->latest; *at != NULL; at = &(*at)->older) {
            if (strcmp((*at)->id, "null") == 0) {
                struct version *replaced = *at;
                *at = replaced->older;
                version_free(replaced);
                break;
            }
        }
    }
    v->older = o->latest;
    o->latest = v;
    return true;
}

void store_drop(struct bucket *b, const char *key, struct version *v)
{
    size_t i = store_from(b, key);
    struct object *o = b->objects[i];
    struct version **at = &o->latest;

    while (*at != v)
        at = &(*at)->older;
    *at = v->older;
    version_free(v);
    if (o->latest == NULL) {
        object_free(o);
        b->n_objects--;
        memmove(b->objects + i, b->objects + i + 1, (b->n_objects - i) * sizeof(struct object *));
    }
}

struct upload *store_start_upload(struct store *s, struct bucket *b, const char *key)
{
    struct upload *u = calloc(1, sizeof *u);

    if (u == NULL || (u->key = strdup(key)) == NULL) {
        free(u);
        return NULL;
    }
    new_id(s, u->id);
    u->time_s = time(NULL);
    u->next = b->uploads;
    b->uploads = u;
    return u;
}

struct upload *store_upload(const struct bucket *b, const char *key, const char *id)
{
    struct upload *u = b->uploads;

    while (u != NULL && (strcmp(u->id, id) != 0 || strcmp(u->key, key) != 0))
        u = u->next;
    return u;
}

void store_end_upload(struct bucket *b, struct upload *u)
{
    struct upload **at = &b->uploads;

    while (*at != u)
        at = &(*at)->next;
    *at = u->next;
    for (size_t i = 0; i < u->n_parts; i++)
        blob_unref(u->parts[i].blob);
    free(u->parts);
    free(u->key);
    free(u);
}

bool upload_put(struct upload *u, int number, struct blob *blob)
{
    size_t at = 0;

    while (at < u->n_parts && u->parts[at].number < number)
        at++;
    if (at < u->n_parts && u->parts[at].number == number) {
        blob_unref(u->parts[at].blob);
        u->parts[at].blob = blob_ref(blob);
        return true;
    }
    struct part *bigger = realloc(u->parts, (u->n_parts + 1) * sizeof *bigger);
    if (bigger == NULL)
        return false;
    u->parts = bigger;
    memmove(bigger + at + 1, bigger + at, (u->n_parts - at) * sizeof *bigger);
    bigger[at] = (struct part){number, blob_ref(blob)};
    u->n_parts++;
    return true;
}
