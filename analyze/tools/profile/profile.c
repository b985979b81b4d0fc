#include "analyze/tools/profile/profile.h"

#include "analyze/tools/profile/profile_internal.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/suggest.h"
#include "libcommon/visible.h"

#include <string.h>
#include <zlib.h>

void profile_free(struct profile *p)
{
    free(p->comments);
    free(p->shown);
    free(p->samples);
    free(p->values);
    free(p->stack);
    intern_fini(&p->names);
    intern_fini(&p->frame_keys);
    *p = (struct profile){0};
}

/* ---- Names ---- */

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

/* ---- Frames ---- */

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

uint32_t profile_frame(struct profile *p, const char *name, const char *program, uint64_t line,
                       struct err *e)
{
    const struct {
        const char *name, *program;
        uint64_t line;
    } named = {name, NULL, 0}, without = {NULL, program, line};
    size_t n = p->frame_keys.n;
    const void *key = *name != '\0' ? &named : &without;
    uint32_t id = intern_add(&p->frame_keys, (struct slice){key, sizeof named});

    if (id == INTERN_NONE)
        mem_none(e);
    if (id == INTERN_NONE || id < n)
        return id;
    if (!mem_more(&p->shown, n, e))
        return INTERN_NONE;
    p->shown[id] = *name != '\0' ? name : unnamed(p, program, e);
    return p->shown[id] != NULL ? id : INTERN_NONE;
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

bool profile_put_call(struct profile *p, uint32_t frame, bool is_inlined, struct err *e)
{
    if (p->n_stack >= PROFILE_MAX_STACK)
        return err_set(e, "more than %u functions in its stacks", PROFILE_MAX_STACK);
    if (!mem_fit(&p->stack, &p->cap_stack, p->n_stack + 1, e))
        return false;
    p->stack[p->n_stack++] = (struct profile_call){frame, is_inlined};
    return true;
}

bool profile_end_sample(struct profile *p, const int64_t *values, bool is_base, struct err *e)
{
    struct profile_sample *x = &p->next;
    size_t n = p->n_samples;

    if (n >= PROFILE_MAX_SAMPLES)
        return err_set(e, "more than %u samples", PROFILE_MAX_SAMPLES);
    if (!mem_more(&p->samples, n, e) ||
        !mem_fit(&p->values, &p->cap_values, (n + 1) * p->n_types + 1, e))
        return false;
    for (size_t i = 0; i < p->n_types; i++) {
        int64_t v = values[i];
        if (v > PROFILE_MAX_VALUE || v < -PROFILE_MAX_VALUE ||
            __builtin_add_overflow(p->sums[i], llabs(v), &p->sums[i]))
            return err_set(e, "the values add up to more than 64 bits hold");
        p->has_negative |= v < 0;
        /* `go tool pprof` negates by way of floating point. */
        p->values[n * p->n_types + i] = is_base ? -(int64_t)(double)v : v;
    }
    x->n_stack = (uint32_t)(p->n_stack - x->stack);
    x->is_base |= is_base;
    p->has_base |= x->is_base;
    p->samples[p->n_samples++] = *x;
    *x = (struct profile_sample){.stack = p->n_stack};
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

/* ---- Formats ---- */

/* Unpacks gzip into a new array. False: it is damaged, or larger than PROFILE_MAX_BYTES. */
static bool gunzip(const unsigned char *bytes, size_t n, char **to, size_t *n_to, struct err *e)
{
    const uInt room = PROFILE_MAX_BYTES + 1;
    z_stream z = {.next_in = (unsigned char *)bytes, .avail_in = (uInt)n, .avail_out = room};

    if (!mem_new(to, room, e))
        return false;
    z.next_out = (unsigned char *)*to;
    int status = inflateInit2(&z, 15 + 16);
    while (status == Z_OK) {
        status = inflate(&z, Z_NO_FLUSH);
        /* A gzip file of several members is one text. */
        if (status == Z_STREAM_END && z.avail_in > 0)
            status = inflateReset(&z);
    }
    inflateEnd(&z);
    *n_to = room - z.avail_out;
    if (z.avail_out == 0)
        return err_set(e, "more than %u MiB when unpacked", PROFILE_MAX_BYTES >> 20);
    if (status == Z_MEM_ERROR)
        return mem_none(e);
    return status == Z_STREAM_END || err_set(e, "its compressed data are damaged, or cut");
}

bool profile_add(struct profile *p, const unsigned char *bytes, size_t n, bool is_base,
                 struct err *e)
{
    char *unpacked = NULL;
    struct slice text = {(const char *)bytes, n};
    bool ok = true;

    if (n > PROFILE_MAX_BYTES)
        return err_set(e, "more than %u MiB", PROFILE_MAX_BYTES >> 20);
    if (n >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
        ok = gunzip(bytes, n, &unpacked, &text.n, e);
        text.p = unpacked;
    }
    p->n_bytes += text.n;
    if (ok && p->n_bytes > PROFILE_MAX_ALL_BYTES)
        ok = err_set(e, "with the profiles before it more than %zu MiB when unpacked",
                     PROFILE_MAX_ALL_BYTES >> 20);
    else if (ok && text.n == 0)
        ok = err_set(e, "it is empty");
    else if (ok && text.n >= 4 && memcmp(text.p, "\x28\xb5\x2f\xfd", 4) == 0)
        ok = err_set(e, "no profile: it is compressed by zstd, as captures are");
    else if (ok)
        ok = perf_script_is(text) ? perf_script_add(p, text, is_base, e)
                                  : proto_add(p, text, is_base, e);
    free(unpacked);
    p->has_base |= is_base;
    p->n_profiles++;
    /* A total adds up absolute values: with negative ones, equal samples would have to be added
     * first. */
    if (ok && p->has_negative && p->n_profiles > 1)
        ok = err_set(e, "a saved difference cannot be added to other profiles");
    return ok;
}
