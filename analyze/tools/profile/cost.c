#include "analyze/tools/profile/show.h"

#include "libcommon/mem.h"
#include "libcommon/units.h"

#include <math.h>

#define SHARE_NAMED 0.15 /* least share of a change for a part to be named */
#define MOST_NAMED  3
#define MOST_PARTS  12 /* rows of the table */

/* Parts of a server by words in the names of their functions. The innermost function of a stack
 * that is listed here decides: a copy within TLS is copying. */
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

/* In each pair, [0] is of the profile, [1] of its base. */
struct part {
    const char *name;
    double cpu_ns[2];
    double weight; /* to sort by */
};

struct cost {
    struct part *parts;
    size_t n_parts;
    struct intern names; /* names of the parts */
    double cpu_ns[2], n_samples[2];
};

/* Returns the part that a function's name belongs to. NULL: none. */
static const char *part_of(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(name, known[i].holds) != NULL)
            return known[i].part;
    return NULL;
}

/* Returns the length of the package that a function's name begins with, or of the whole name if it
 * has no package. */
static size_t package_length(const char *name)
{
    const char *slash = strrchr(name, '/'), *from = slash != NULL ? slash : name;
    size_t n = strcspn(from, ".(:[");

    return n > 0 ? (size_t)(from - name) + n : strlen(name);
}

/* Whether a function may work for any part: those of Go's library, whose packages have no dot in
 * their names, and those without a package. */
static bool is_helper(const char *name)
{
    size_t n = package_length(name), first = strcspn(name, "/");

    return strncmp(name, "main.", 5) != 0 && memchr(name, '.', first < n ? first : n) == NULL;
}

/* Returns the part of a stack: that of the innermost function with a known part. The search ends at
 * the server's own code, whose package then is the part; without such code it is the package of the
 * innermost function. */
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
static bool add_sample(struct cost *to, struct slice name, double cpu_ns, bool is_base)
{
    size_t n = to->names.n;
    uint32_t id = intern_add(&to->names, name);

    if (id == INTERN_NONE || (id == n && !mem_more(&to->parts, n, NULL)))
        return false;
    if (id == n)
        to->parts[to->n_parts++] = (struct part){.name = to->names.strings[id].p};
    to->parts[id].cpu_ns[is_base] += cpu_ns;
    to->cpu_ns[is_base] += cpu_ns;
    return true;
}

/* Returns the type of CPU time. SIZE_MAX: the profile has none. */
static size_t cpu_type(const struct profile *p)
{
    for (size_t i = 0; i < p->n_types; i++)
        if (strcmp(p->types[i].name, "cpu") == 0 && strcmp(p->types[i].unit, "nanoseconds") == 0)
            return i;
    return SIZE_MAX;
}

/* Adds up the CPU time, if the profile has it. The caller calls cost_fini. False: there is none, or
 * out of memory, which makes the sheet fail. */
static bool cost_init(struct cost *c, const struct profile *p, struct sheet *s)
{
    size_t type = cpu_type(p);
    const char **part_of_frame;

    *c = (struct cost){0};
    if (type == SIZE_MAX)
        return false;
    bool ok = mem_new(&part_of_frame, p->frame_keys.n, NULL);
    for (size_t i = 0; ok && i < p->frame_keys.n; i++)
        part_of_frame[i] = part_of(p->shown[i]);
    for (size_t i = 0; ok && i < p->n_samples; i++) {
        const struct profile_sample *x = &p->samples[i];

        ok = add_sample(c, part_of_stack(p, x, part_of_frame),
                        fabs((double)profile_value(p, i, type)), x->is_base);
        c->n_samples[x->is_base] += fabs((double)profile_value(p, i, 0));
    }
    free(part_of_frame);
    s->failed |= !ok;
    return ok;
}

static void cost_fini(struct cost *c)
{
    free(c->parts);
    intern_fini(&c->names);
}

/* Returns ns / n, formatted. */
static struct units_text per(double ns, double n)
{
    return units_real_duration(ns / n);
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

static void sort_parts(struct cost *c)
{
    if (c->n_parts > 0)
        qsort(c->parts, c->n_parts, sizeof *c->parts, by_weight);
}

/* Names the parts with a large share of a change, the largest first: ", in crc64 and TLS". */
static void name_changed(struct cost *c, const struct cost_load loads[2], double change_ns,
                         char *to, size_t size)
{
    const char *names[MOST_NAMED];
    size_t n = 0, length = 0;

    for (size_t i = 0; i < c->n_parts; i++) {
        struct part *x = &c->parts[i];
        x->weight = x->cpu_ns[0] / (double)loads[0].n - x->cpu_ns[1] / (double)loads[1].n;
    }
    sort_parts(c);
    for (size_t i = 0; i < c->n_parts && n < MOST_NAMED; i++)
        if (c->parts[i].weight / change_ns >= SHARE_NAMED)
            names[n++] = c->parts[i].name;
    for (size_t i = 0; i < n && length < size; i++)
        length += (size_t)snprintf(to + length, size - length, "%s%s",
                                   i == 0      ? ", in "
                                   : i + 1 < n ? ", "
                                               : " and ",
                                   names[i]);
}

static void put_change(struct sheet *s, struct cost *c, const struct cost_load loads[2])
{
    double after = c->cpu_ns[0] / (double)loads[0].n;
    double before = c->cpu_ns[1] / (double)loads[1].n, change = after / before - 1;

    /* Counts of samples: the standard error of each side is one over the root of their number. */
    double noise = 2 * sqrt(1 / fmax(1, c->n_samples[0]) + 1 / fmax(1, c->n_samples[1]));
    bool is_change = fabs(change) > noise;
    char where[256] = "";

    if (strcmp(loads[0].op, loads[1].op) != 0) {
        sheet_line(s, TEXT_PLAIN,
                   "%s costs %s of server CPU; the base has other operations, at %s a request",
                   who(&loads[0]), per(after, 1).s, per(before, 1).s);
        return;
    }
    if (is_change)
        name_changed(c, loads, after - before, where, sizeof where);
    sheet_line(s, TEXT_PLAIN, "%s costs %s of server CPU, was %s: %s %%%s%s", who(&loads[0]),
               per(after, 1).s, per(before, 1).s, units_change(100 * change).s, where,
               is_change ? "" : ", less than the noise of sampling");
    if (loads[0].n_bytes > 0 && loads[1].n_bytes > 0)
        sheet_line(s, TEXT_PLAIN, "A GiB costs %s, was %s",
                   per(c->cpu_ns[0], loads[0].n_bytes / 0x1p30).s,
                   per(c->cpu_ns[1], loads[1].n_bytes / 0x1p30).s);
}

static void put_cost(struct sheet *s, const struct cost *c, const struct cost_load *load)
{
    char gib[128] = "";

    if (load->n_bytes > 0)
        snprintf(gib, sizeof gib, ", a GiB %s", per(c->cpu_ns[0], load->n_bytes / 0x1p30).s);
    sheet_line(s, TEXT_PLAIN, "%s costs %s of server CPU%s (%s requests)", who(load),
               per(c->cpu_ns[0], (double)load->n).s, gib, units_count((int64_t)load->n).s);
}

void profile_cost_line(struct sheet *s, const struct profile *p, const struct cost_load loads[2])
{
    struct cost c;

    if (loads[0].n == 0 || (p->has_base && loads[1].n == 0))
        return;
    bool known = cost_init(&c, p, s);
    if (known && p->has_base && c.cpu_ns[1] > 0)
        put_change(s, &c, loads);
    else if (known)
        put_cost(s, &c, &loads[0]);
    cost_fini(&c);
}

void profile_cost_parts(struct sheet *s, const struct profile *p, const struct cost_load loads[2])
{
    struct cost c;
    bool known = cost_init(&c, p, s);

    for (size_t i = 0; i < c.n_parts; i++)
        c.parts[i].weight = c.parts[i].cpu_ns[0] + c.parts[i].cpu_ns[1];
    sort_parts(&c);
    if (known && c.n_parts > 0) {
        sheet_table(s, "lrrr", "Parts of the server");
        SHEET_HEADINGS(s, "Part", "Share of CPU", loads[0].n > 0 ? "Of a request" : "",
                       loads[1].n > 0 ? "Was" : "");
    }
    for (size_t i = 0; known && i < c.n_parts && i < MOST_PARTS; i++) {
        const struct part *x = &c.parts[i];
        SHEET_ROW(s, TEXT_PLAIN, x->name,
                  units_frac_cell(c.cpu_ns[0] > 0 ? x->cpu_ns[0] / c.cpu_ns[0] : 0).s,
                  loads[0].n > 0 ? per(x->cpu_ns[0], (double)loads[0].n).s : "",
                  loads[1].n > 0 ? per(x->cpu_ns[1], (double)loads[1].n).s : "");
    }
    cost_fini(&c);
}
