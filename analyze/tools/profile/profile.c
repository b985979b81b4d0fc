#include "analyze/tools/profile/profile.h"

#include "analyze/tools/profile/profile_internal.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/suggest.h"
#include "libcommon/visible.h"

#include <string.h>

void profile_free(struct profile *p)
{
    free(p->comments);
    free(p->shown);
    free(p->locations);
    free(p->frames);
    free(p->samples);
    free(p->values);
    free(p->stack);
    free(p->labels);
    free(p->key.v);
    intern_fini(&p->names);
    intern_fini(&p->frame_keys);
    intern_fini(&p->location_keys);
    intern_fini(&p->sample_keys);
    *p = (struct profile){0};
}

/* ---- Keys and names ---- */

static void key_bytes(struct key *k, const void *bytes, size_t n)
{
    k->failed = k->failed || !mem_fit(&k->v, &k->cap, k->n + n + 1, NULL);
    if (k->failed)
        return;
    memcpy(k->v + k->n, bytes, n);
    k->n += n;
}

void key_put(struct key *k, uint64_t x)
{
    key_bytes(k, &x, sizeof x);
}

void key_text(struct key *k, const char *text)
{
    key_bytes(k, text, strlen(text) + 1);
}

static uint32_t key_add(const struct key *k, struct intern *to, struct err *e)
{
    uint32_t id = k->failed ? INTERN_NONE : intern_add(to, (struct slice){k->v, k->n});

    if (id == INTERN_NONE)
        mem_none(e);
    return id;
}

const char *profile_name(struct profile *p, struct slice text, struct err *e)
{
    char *copy = strndup(text.p, text.n);
    char *shown = copy != NULL ? visible_copy(copy, NULL) : NULL;
    uint32_t id = shown != NULL ? intern_add(&p->names, slice_of(shown)) : INTERN_NONE;

    free(shown);
    free(copy);
    if (id != INTERN_NONE)
        return p->names.strings[id].p;
    mem_none(e);
    return NULL;
}

/* ---- Frames and locations ---- */

struct slice profile_base(const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    const char *slash = n > 1 ? memrchr(path, '/', n) : NULL;
    const char *base = slash != NULL ? slash + 1 : path;
    return (struct slice){base, (size_t)(path + n - base)};
}

/* Returns a text for a function without a name: the program's file, as "[minio]". */
static const char *unnamed(struct profile *p, const char *program, struct err *e)
{
    struct slice base = profile_base(program);
    char *text;

    if (base.n == 0)
        return profile_name(p, slice_of("<unknown>"), e);
    if (!mem_format(&text, e, "[%.*s]", (int)base.n, base.p))
        return NULL;
    const char *name = profile_name(p, slice_of(text), e);
    free(text);
    return name;
}

/* Returns the frame of a function. INTERN_NONE: out of memory, or too many. */
static uint32_t frame_of(struct profile *p, const char *name, const char *program, uint64_t line,
                         struct err *e)
{
    size_t n = p->frame_keys.n;
    struct key k = {0};

    key_text(&k, name);
    if (*name == '\0') {
        key_text(&k, program);
        key_put(&k, line);
    }
    uint32_t id = key_add(&k, &p->frame_keys, e);
    free(k.v);
    if (id == INTERN_NONE || id < n)
        return id;
    if (n >= PROFILE_MAX_FRAMES)
        err_set(e, "more than %u functions", PROFILE_MAX_FRAMES);
    if (n >= PROFILE_MAX_FRAMES || !mem_more(&p->shown, n, e))
        return INTERN_NONE;
    p->shown[id] = *name != '\0' ? name : unnamed(p, program, e);
    return p->shown[id] != NULL ? id : INTERN_NONE;
}

void profile_place_fini(struct profile_place *x)
{
    free(x->key.v);
    free(x->frames);
}

bool profile_put_frame(struct profile *p, struct profile_place *to, const char *name,
                       const char *program, uint64_t line, struct err *e)
{
    uint32_t frame = frame_of(p, name, program, line, e);

    if (frame == INTERN_NONE || !mem_fit(&to->frames, &to->cap, to->n + 1, e))
        return false;
    to->frames[to->n++] = frame;
    return true;
}

uint32_t profile_location(struct profile *p, struct profile_place *x, struct err *e)
{
    size_t n_before = p->location_keys.n, n = x->n;
    uint32_t id = key_add(&x->key, &p->location_keys, e);

    x->n = x->key.n = 0;
    if (id == INTERN_NONE || id < n_before)
        return id;
    if (!mem_more(&p->locations, n_before, e) ||
        !mem_fit(&p->frames, &p->cap_frames, p->n_frames + n, e))
        return INTERN_NONE;
    p->locations[id] = (struct profile_location){p->n_frames, (uint32_t)n};
    memcpy(p->frames + p->n_frames, x->frames, n * sizeof *x->frames);
    p->n_frames += n;
    return id;
}

/* ---- Samples ---- */

bool profile_set_types(struct profile *p, const struct profile_type *types, size_t n, struct err *e)
{
    if (p->n_types == 0) {
        memcpy(p->types, types, n * sizeof *types);
        p->n_types = n;
        return true;
    }
    for (size_t i = 0; i < n && n == p->n_types; i++)
        if (p->types[i].name != types[i].name || p->types[i].unit != types[i].unit)
            return err_set(e, "it counts %s in %s, where others count %s in %s", types[i].name,
                           types[i].unit, p->types[i].name, p->types[i].unit);
    return n == p->n_types ||
           err_set(e, "it counts %zu things, where others count %zu", n, p->n_types);
}

bool profile_put_location(struct profile *p, uint32_t location, struct err *e)
{
    const struct profile_location *l = &p->locations[location];

    if (p->n_stack + l->n_frames > PROFILE_MAX_STACK)
        return err_set(e, "more than %u functions in its stacks", PROFILE_MAX_STACK);
    if (!mem_fit(&p->stack, &p->cap_stack, p->n_stack + l->n_frames, e))
        return false;
    for (uint32_t i = 0; i < l->n_frames; i++)
        p->stack[p->n_stack++] =
            (struct profile_call){p->frames[l->frames + i], i + 1 < l->n_frames};
    if (p->is_sum)
        key_put(&p->key, location);
    return true;
}

bool profile_put_label(struct profile *p, struct profile_label label, struct err *e)
{
    if (label.text != NULL && strcmp(label.key, "pprof::base") == 0) {
        p->next.is_base |= strcmp(label.text, "true") == 0;
        return true;
    }
    if (p->n_labels >= PROFILE_MAX_LABELS)
        return err_set(e, "a sample has more than %u labels", PROFILE_MAX_LABELS);
    if (!mem_fit(&p->labels, &p->cap_labels, p->n_labels + 1, e))
        return false;
    p->labels[p->n_labels++] = label;
    return true;
}

static int label_order(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct profile_label));
}

/* Returns the number of the sample: that of an equal earlier one, else a new number. */
static uint32_t sample_of(struct profile *p, struct err *e)
{
    if (!p->is_sum)
        return (uint32_t)p->n_samples;
    if (p->n_labels > 0) {
        qsort(p->labels, p->n_labels, sizeof *p->labels, label_order);
        key_bytes(&p->key, p->labels, p->n_labels * sizeof *p->labels);
    }
    key_put(&p->key, p->n_labels);
    key_put(&p->key, p->next.is_base);
    return key_add(&p->key, &p->sample_keys, e);
}

static bool add_sample(struct profile *p, struct err *e)
{
    if (p->n_samples >= PROFILE_MAX_SAMPLES)
        return err_set(e, "more than %u samples", PROFILE_MAX_SAMPLES);
    if (!mem_more(&p->samples, p->n_samples, e) ||
        !mem_fit(&p->values, &p->cap_values, (p->n_samples + 1) * p->n_types + 1, e))
        return false;
    p->has_base |= p->next.is_base;
    memset(p->values + p->n_samples * p->n_types, 0, p->n_types * sizeof *p->values);
    p->samples[p->n_samples++] = p->next;
    p->next.stack = p->n_stack;
    return true;
}

bool profile_end_sample(struct profile *p, const int64_t *values, bool is_base, struct err *e)
{
    p->next.n_stack = (uint32_t)(p->n_stack - p->next.stack);
    p->next.is_base |= is_base;
    uint32_t id = sample_of(p, e);
    p->key.n = p->n_labels = 0;
    if (id == INTERN_NONE || (id == p->n_samples && !add_sample(p, e)))
        return false;
    /* An equal earlier sample has this stack. */
    p->n_stack = p->next.stack;
    p->next.is_base = false;
    for (size_t i = 0; i < p->n_types; i++) {
        int64_t v = values[i];
        if (v > PROFILE_MAX_VALUE || v < -PROFILE_MAX_VALUE ||
            __builtin_add_overflow(p->sums[i], llabs(v), &p->sums[i]))
            return err_set(e, "the values add up to more than 64 bits hold");
        /* `go tool pprof` negates by way of floating point. */
        p->values[id * p->n_types + i] += is_base ? -(int64_t)(double)v : v;
    }
    return true;
}

/* ---- The whole ---- */

void profile_put_time(struct profile *p, int64_t time_ns, int64_t duration_ns, bool is_base)
{
    struct profile_window *w = &p->windows[is_base];
    int64_t end_ns, sum_ns;

    /* A missing time counts as the earliest, as in `go tool pprof`. */
    if (p->time_ns == 0 || time_ns < p->time_ns)
        p->time_ns = time_ns;
    if (!__builtin_add_overflow(p->duration_ns, duration_ns, &sum_ns))
        p->duration_ns = sum_ns;
    if (time_ns <= 0 || duration_ns <= 0 || __builtin_add_overflow(time_ns, duration_ns, &end_ns))
        return;
    w->start_ns = w->start_ns == 0 ? time_ns : int64_min(w->start_ns, time_ns);
    w->end_ns = int64_max(w->end_ns, end_ns);
}

bool profile_put_comment(struct profile *p, const char *text, struct err *e)
{
    for (size_t i = 0; i < p->n_comments; i++)
        if (p->comments[i] == text)
            return true;
    if (p->n_comments >= PROFILE_MAX_COMMENTS)
        return err_set(e, "more than %u comments", PROFILE_MAX_COMMENTS);
    if (!mem_more(&p->comments, p->n_comments, e))
        return false;
    p->comments[p->n_comments++] = text;
    return true;
}

size_t profile_type_index(const struct profile *p, const char *name, struct err *e)
{
    bool is_named = name != NULL && *name != '\0';
    const char *wanted = is_named ? name : p->default_type;
    char known[256] = "";

    for (size_t i = 0; i < p->n_types; i++)
        if (*wanted != '\0' && strcmp(p->types[i].name, wanted) == 0)
            return i;
    if (!is_named)
        return p->n_types > 0 ? p->n_types - 1 : (err_set(e, "it holds no samples"), SIZE_MAX);
    for (size_t i = 0; i < p->n_types; i++)
        suggest_list(known, sizeof known, p->types[i].name);
    err_set(e, "no sample type %s; there is %s", name, known);
    return SIZE_MAX;
}

int64_t profile_total(const struct profile *p, size_t type)
{
    int64_t all = 0, base = 0;

    for (size_t i = 0; i < p->n_samples; i++) {
        int64_t v = llabs(profile_value(p, i, type));
        all += v;
        base += p->samples[i].is_base ? v : 0;
    }
    return base > 0 ? base : all;
}
