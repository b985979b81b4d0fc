#include "analyze/profile/cost.h"

#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>

#define SHARE_NAMED 0.15 /* of a change, for a part to be named */
#define MOST_NAMED  3
#define MOST_PARTS  12 /* of the table */

/* Parts of a server by what the names of their functions hold. The innermost function of a stack
 * that stands here says which part it is: a copy within TLS is copying. */
static const struct {
    const char *holds, *part;
} known[] = {
    {"crc64", "crc64"},
    {"crc32", "crc32"},
    {"sha256", "SHA-256"},
    {"SHA256", "SHA-256"},
    {"md5", "MD5"},
    {"highwayhash", "HighwayHash"},
    {"reedsolomon", "erasure coding"},
    {"crypto/tls.", "TLS"},
    {"SSL_", "TLS"},
    {"minio/sio", "encryption"},
    {"runtime.gcBgMarkWorker", "garbage collection"},
    {"runtime.gcDrain", "garbage collection"},
    {"runtime.gcAssist", "garbage collection"},
    {"runtime.bgsweep", "garbage collection"},
    {"runtime.mallocgc", "allocation"},
    {"malloc", "allocation"},
    {"runtime.memclrNoHeapPointers", "clearing memory"},
    {"runtime.memmove", "copying"},
    {"memcpy", "copying"},
    {"Syscall6", "system calls"},
    {"syscall.", "system calls"},
    {"runtime.futex", "scheduling"},
    {"runtime.schedule", "scheduling"},
    {"runtime.findRunnable", "scheduling"},
    {"encoding/json.", "JSON"},
    {"encoding/xml.", "XML"},
    {"tinylib/msgp", "metadata"},
    {"regexp.", "regular expressions"},
    {"compress/", "compression"},
    {"net/http.", "HTTP"},
};

struct part {
    const char *name;
    double after, before; /* ns */
    double weight;        /* to sort by */
};

struct parts {
    struct part *v;
    size_t n;
    struct intern names;
};

/* Returns the part that a function's name tells. NULL: none. */
static const char *part_of(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(name, known[i].holds) != NULL)
            return known[i].part;
    return NULL;
}

/* Returns the length of the package that a function's name begins with; of a name without one, all
 * of it. */
static size_t package_length(const char *name)
{
    const char *slash = strrchr(name, '/'), *from = slash != NULL ? slash : name;
    size_t n = strcspn(from, ".(:[");

    return n > 0 ? (size_t)(from - name) + n : strlen(name);
}

/* Whether a function may work for any part: those of Go's library, whose packages have no dot, and
 * of no package. */
static bool is_helper(const char *name)
{
    size_t n = package_length(name), first = strcspn(name, "/");

    return strncmp(name, "main.", 5) != 0 && memchr(name, '.', first < n ? first : n) == NULL;
}

/* Returns the part of a stack: the innermost that is known, up to the server's own code; else the
 * package of that, or of the innermost function. */
static struct slice part_of_stack(const struct profile *p, const struct profile_sample *s,
                                  const char *const *part_of_frame)
{
    const char *innermost = NULL;

    for (size_t i = s->stack; i < s->stack + s->n_stack; i++) {
        const char *name = p->shown[p->stack[i].frame];
        const char *part = part_of_frame[p->stack[i].frame];

        if (part != NULL)
            return slice_of(part);
        if (!is_helper(name))
            return (struct slice){name, package_length(name)};
        innermost = innermost != NULL ? innermost : name;
    }
    if (innermost == NULL)
        return slice_of("(no stack)");
    return (struct slice){innermost, package_length(innermost)};
}

/* Adds a sample to its part. False: out of memory. */
static bool add_sample(struct parts *to, struct slice name, double value, bool is_base)
{
    size_t n = to->names.n;
    uint32_t id = intern_add(&to->names, name);

    if (id == INTERN_NONE || (id == n && !mem_more(&to->v, n, NULL)))
        return false;
    if (id == n)
        to->v[to->n++] = (struct part){.name = to->names.strings[id].p};
    *(is_base ? &to->v[id].before : &to->v[id].after) += fabs(value);
    return true;
}

/* False: out of memory. */
static bool find_parts(struct parts *to, const struct profile *p, size_t type)
{
    const char **part_of_frame;
    bool ok = mem_new(&part_of_frame, p->frame_keys.n, NULL);

    for (size_t i = 0; ok && i < p->frame_keys.n; i++)
        part_of_frame[i] = part_of(p->shown[i]);
    for (size_t i = 0; ok && i < p->n_samples; i++)
        ok = add_sample(to, part_of_stack(p, &p->samples[i], part_of_frame),
                        (double)profile_value(p, i, type), p->samples[i].is_base);
    free(part_of_frame);
    return ok;
}

static void parts_fini(struct parts *x)
{
    free(x->v);
    intern_fini(&x->names);
}

/* Returns the type of CPU time. SIZE_MAX: it has none. */
static size_t cpu_type(const struct profile *p)
{
    for (size_t i = 0; i < p->n_types; i++)
        if (strcmp(p->types[i].name, "cpu") == 0 && strcmp(p->types[i].unit, "nanoseconds") == 0)
            return i;
    return SIZE_MAX;
}

/* Sums of one side. */
struct side {
    double cpu_ns, n_samples;
};

static struct side sum_side(const struct profile *p, size_t type, bool is_base)
{
    struct side x = {0, 0};

    for (size_t i = 0; i < p->n_samples; i++)
        if (p->samples[i].is_base == is_base) {
            x.cpu_ns += fabs((double)profile_value(p, i, type));
            x.n_samples += fabs((double)profile_value(p, i, 0));
        }
    return x;
}

/* Returns the time that one of n takes. */
static struct units_text per(double ns, double n)
{
    return units_duration(ns / n < 1e18 ? llround(ns / n) : INT64_MAX);
}

static const char *who(const struct cost_load *load)
{
    return *load->op != '\0' ? load->op : "The average request of all operations";
}

static int by_weight(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    return (fabs(x->weight) < fabs(y->weight)) - (fabs(x->weight) > fabs(y->weight));
}

/* Names the parts that carry a change, the largest first: ", in crc64 and TLS". Sorts them. */
static void name_changed(struct parts *parts, const struct cost_load *loads, double change_ns,
                         char *to, size_t size)
{
    const char *names[MOST_NAMED];
    size_t n = 0, length = 0;

    *to = '\0';
    for (size_t i = 0; i < parts->n; i++)
        parts->v[i].weight =
            parts->v[i].after / (double)loads[0].n - parts->v[i].before / (double)loads[1].n;
    if (parts->n > 0)
        qsort(parts->v, parts->n, sizeof *parts->v, by_weight);
    for (size_t i = 0; i < parts->n && n < MOST_NAMED; i++)
        if (parts->v[i].weight / change_ns >= SHARE_NAMED)
            names[n++] = parts->v[i].name;
    for (size_t i = 0; i < n && length < size; i++)
        length += (size_t)snprintf(to + length, size - length, "%s%s",
                                   i == 0      ? ", in "
                                   : i + 1 < n ? ", "
                                               : " and ",
                                   names[i]);
}

static void put_change(struct sheet *s, const struct profile *p, size_t type,
                       const struct cost_load *loads, const struct side sides[2])
{
    double after = sides[0].cpu_ns / (double)loads[0].n;
    double before = sides[1].cpu_ns / (double)loads[1].n, change = after / before - 1;

    /* Samples are counted, so each side is known to one over the root of their number. */
    double noise = 2 * sqrt(1 / fmax(1, sides[0].n_samples) + 1 / fmax(1, sides[1].n_samples));
    struct parts parts = {0};
    char where[256] = "";

    if (strcmp(loads[0].op, loads[1].op) != 0) {
        sheet_line(s, TEXT_PLAIN,
                   "%s costs %s of server CPU; the base has other operations, at %s a request",
                   who(&loads[0]), per(after, 1).s, per(before, 1).s);
        return;
    }
    s->failed |= !find_parts(&parts, p, type);
    bool is_change = fabs(change) > noise;
    if (is_change)
        name_changed(&parts, loads, after - before, where, sizeof where);
    sheet_line(s, TEXT_PLAIN, "%s costs %s of server CPU, was %s: %+.0f %%%s%s", who(&loads[0]),
               per(after, 1).s, per(before, 1).s, 100 * change, where,
               is_change ? "" : ", less than the noise of sampling");
    if (loads[0].n_bytes > 0 && loads[1].n_bytes > 0)
        sheet_line(s, TEXT_PLAIN, "A GiB costs %s, was %s",
                   per(sides[0].cpu_ns, loads[0].n_bytes / 0x1p30).s,
                   per(sides[1].cpu_ns, loads[1].n_bytes / 0x1p30).s);
    parts_fini(&parts);
}

void profile_cost_line(struct sheet *s, const struct profile *p, const struct cost_load loads[2])
{
    size_t type = cpu_type(p);

    if (type == SIZE_MAX || loads[0].n == 0 || (p->has_base && loads[1].n == 0))
        return;
    const struct side sides[2] = {sum_side(p, type, false), sum_side(p, type, true)};
    if (p->has_base && sides[1].cpu_ns > 0) {
        put_change(s, p, type, loads, sides);
        return;
    }
    double n = (double)loads[0].n;
    char gib[128] = "";
    if (loads[0].n_bytes > 0)
        snprintf(gib, sizeof gib, ", a GiB %s", per(sides[0].cpu_ns, loads[0].n_bytes / 0x1p30).s);
    sheet_line(s, TEXT_PLAIN, "%s costs %s of server CPU%s (%s requests)", who(&loads[0]),
               per(sides[0].cpu_ns, n).s, gib, units_count((int64_t)loads[0].n).s);
}

void profile_cost_parts(struct sheet *s, const struct profile *p, const struct cost_load loads[2])
{
    size_t type = cpu_type(p);
    struct parts parts = {0};

    if (type == SIZE_MAX)
        return;
    struct side now = sum_side(p, type, false);
    s->failed |= !find_parts(&parts, p, type);
    for (size_t i = 0; i < parts.n; i++)
        parts.v[i].weight = parts.v[i].after + parts.v[i].before;
    if (parts.n > 0) {
        qsort(parts.v, parts.n, sizeof *parts.v, by_weight);
        sheet_table(s, "lrrr", "Parts of the server");
        SHEET_HEADINGS(s, "Part", "Share of CPU", loads[0].n > 0 ? "Of a request" : "",
                       loads[1].n > 0 ? "Was" : "");
    }
    for (size_t i = 0; i < parts.n && i < MOST_PARTS; i++) {
        const struct part *x = &parts.v[i];
        SHEET_ROW(s, TEXT_PLAIN, x->name);
        sheet_cell(s, "%.1f %%", now.cpu_ns > 0 ? 100 * x->after / now.cpu_ns : 0);
        SHEET_CELLS(s, loads[0].n > 0 ? per(x->after, (double)loads[0].n).s : "",
                    loads[1].n > 0 ? per(x->before, (double)loads[1].n).s : "");
    }
    parts_fini(&parts);
}
