/* Reads profile.proto (github.com/google/pprof, proto/profile.proto). The input is hostile: each
 * count, index and length is checked, and what is refused is what the reference tool refuses. */
#include "analyze/profile/profile_internal.h"
#include "analyze/profile/wire.h"
#include "libcommon/mem.h"

#include <string.h>

/* The fields of the message Profile. */
enum {
    TYPE = 1,
    SAMPLE,
    MAPPING,
    LOCATION,
    FUNCTION,
    STRING,
    TIME = 9,
    DURATION = 10,
    PERIOD_TYPE = 11,
    COMMENT = 13,
    DEFAULT_TYPE = 14,
    DOC_URL = 15,
    N_FIELDS,
};

/* Those that are messages or texts, and how many there may be. The others are numbers. */
static const struct {
    size_t most;
    const char *what;
} parts_of[N_FIELDS] = {
    [TYPE] = {PROFILE_MAX_TYPES, "sample types"},
    [SAMPLE] = {PROFILE_MAX_SAMPLES, "samples"},
    [MAPPING] = {PROFILE_MAX_ENTRIES, "mappings"},
    [LOCATION] = {PROFILE_MAX_ENTRIES, "locations"},
    [FUNCTION] = {PROFILE_MAX_ENTRIES, "functions"},
    [STRING] = {4 * PROFILE_MAX_ENTRIES, "strings"},
    [PERIOD_TYPE] = {PROFILE_MAX_TYPES, "types of its period"},
    [COMMENT] = {PROFILE_MAX_COMMENTS, "comments"},
};

struct parts {
    struct slice *v;
    size_t n;
};

/* A mapping, location or function: its numbers by field (1 is the id), and the message. */
struct entry {
    uint64_t v[7];
    struct slice body;
    const char *name; /* of a function */
};

struct entries {
    struct entry *v; /* sorted by id */
    size_t n;
    uint32_t *ids; /* of locations: what they became, in the profile */
};

struct raw {
    struct parts parts[N_FIELDS];
    uint64_t v[N_FIELDS]; /* numbers */
    bool has_time;
    struct entries mappings, locations, functions;
    const char **names;             /* by string: NULL until it is used */
    const char *program, *build_id; /* of the first mapping */
};

static void raw_free(struct raw *r)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        free(r->parts[i].v);
    free(r->mappings.v);
    free(r->locations.v);
    free(r->locations.ids);
    free(r->functions.v);
    free(r->names);
}

/* ---- First: what messages there are ---- */

static bool put_part(struct raw *r, const struct wire *w, struct err *e)
{
    struct parts *to = &r->parts[w->number];

    if (to->n >= parts_of[w->number].most)
        return err_set(e, "more than %zu %s", to->n, parts_of[w->number].what);
    if (w->number == STRING && to->n == 0 && w->bytes.n > 0)
        return err_set(e, "its first string is not empty");
    if (!mem_more(&to->v, to->n, e))
        return false;
    to->v[to->n++] = w->bytes;
    return true;
}

static bool put_field(struct raw *r, const struct wire *w, struct err *e)
{
    if (w->number == 0 || w->number >= N_FIELDS)
        return true;
    bool is_part = parts_of[w->number].most > 0;
    /* Comments are numbers, packed or not. */
    if (is_part ? !w->is_bytes && !(w->number == COMMENT && w->is_varint) : !w->is_varint)
        return err_set(e, "a field is of the wrong kind");
    if (w->number == TIME && r->has_time && r->v[TIME] != 0)
        return err_set(e, "two profiles follow each other in one file");
    r->has_time |= w->number == TIME;
    r->v[w->number] = w->value;
    return !is_part || put_part(r, w, e);
}

/* ---- Then: what they mean ---- */

static const char *name_at(struct profile *p, struct raw *r, uint64_t i, struct err *e)
{
    if (i >= r->parts[STRING].n) {
        err_set(e, "it names a string that is not there");
        return NULL;
    }
    if (r->names[i] == NULL)
        r->names[i] = profile_name(p, r->parts[STRING].v[i], e);
    return r->names[i];
}

static int by_id(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return (x->v[1] > y->v[1]) - (x->v[1] < y->v[1]);
}

/* Reads the numbers 1 .. n of messages; those in the mask `others` are no numbers. */
static bool read_entries(struct entries *to, const struct raw *r, size_t field, size_t n,
                         unsigned others, struct err *e)
{
    to->n = r->parts[field].n;
    if (!mem_cleared(&to->v, to->n, e))
        return false;
    for (size_t i = 0; i < to->n; i++) {
        to->v[i].body = r->parts[field].v[i];
        if (!wire_numbers(to->v[i].body, to->v[i].v, n, others, e))
            return false;
    }
    qsort(to->v, to->n, sizeof *to->v, by_id);
    for (size_t i = 0; i < to->n; i++)
        if (to->v[i].v[1] == 0 || (i > 0 && to->v[i - 1].v[1] == to->v[i].v[1]))
            return err_set(e, "two %s have one number, or one has none", parts_of[field].what);
    return true;
}

/* Returns the entry with that id. NULL: there is none. */
static const struct entry *entry_of(const struct entries *x, uint64_t id)
{
    const struct entry wanted = {.v = {0, id}};

    if (id > 0 && id <= x->n && x->v[id - 1].v[1] == id)
        return &x->v[id - 1];
    return x->n > 0 ? bsearch(&wanted, x->v, x->n, sizeof *x->v, by_id) : NULL;
}

/* Removes what stands between a pair of brackets, and the brackets. Stops where they do not match.
 */
static void remove_within(char *name, char start, char end)
{
    const char both[] = {start, end, '\0'};
    char *first = name;
    size_t depth = 0;

    for (char *s = name; (s = strpbrk(s, both)) != NULL; s++) {
        if (*s == start) {
            first = depth++ == 0 ? s : first;
        } else if (depth == 0) {
            return;
        } else if (--depth == 0) {
            memmove(first, s + 1, strlen(s + 1) + 1);
            s = first - 1;
        }
    }
}

/* Shortens a name that looks like one of C++: without parameters, of functions and of templates. */
static const char *simplified(struct profile *p, const char *name, struct err *e)
{
    char *copy;

    if (strstr(name, ".<") != NULL || strstr(name, "]).") != NULL ||
        (strpbrk(name, "<>[]") == NULL && strstr(name, "::") == NULL))
        return name;
    if (!mem_text(&copy, name, e))
        return NULL;
    remove_within(copy, '(', ')');
    remove_within(copy, '<', '>');
    name = profile_name(p, slice_of(copy), e);
    free(copy);
    return name;
}

static bool read_functions(struct profile *p, struct raw *r, struct err *e)
{
    if (!read_entries(&r->functions, r, FUNCTION, 5, 0, e))
        return false;
    for (size_t i = 0; i < r->functions.n; i++) {
        struct entry *f = &r->functions.v[i];
        const char *name = name_at(p, r, f->v[2], e), *symbol = name_at(p, r, f->v[3], e);

        if (name == NULL || symbol == NULL || name_at(p, r, f->v[4], e) == NULL)
            return false;
        f->name = *name == '\0' || name == symbol ? simplified(p, symbol, e) : name;
        if (f->name == NULL)
            return false;
    }
    return true;
}

static bool read_mappings(struct profile *p, struct raw *r, struct err *e)
{
    if (!read_entries(&r->mappings, r, MAPPING, 6, 0, e))
        return false;
    for (size_t i = 0; i < r->mappings.n; i++) {
        const struct entry *m = &r->mappings.v[i];
        const char *program = name_at(p, r, m->v[5], e), *build_id = name_at(p, r, m->v[6], e);

        if (program == NULL || build_id == NULL)
            return false;
        if (m->body.p == r->parts[MAPPING].v[0].p) {
            r->program = program;
            r->build_id = build_id;
        }
    }
    return true;
}

/* Begins the key of a location: its address within its mapping, wherever that was loaded. */
static const char *key_location(struct key *k, struct raw *r, const struct entry *location)
{
    const struct entry *m = entry_of(&r->mappings, location->v[2]);

    k->n = 0;
    key_put(k, location->v[5] != 0);
    if (m == NULL) {
        key_put(k, location->v[3]);
        return "";
    }
    const char *program = r->names[m->v[5]], *build_id = r->names[m->v[6]];
    uint64_t pages = (m->v[3] - m->v[2] + 0xfff) / 0x1000;
    key_put(k, location->v[3] - m->v[2]);
    key_put(k, pages);
    key_put(k, m->v[4]);
    key_text(k, *build_id != '\0' ? build_id : program);
    return program;
}

/* The functions of one location. */
struct lines {
    uint32_t *frames;
    size_t n, cap;
    struct key key;
};

static bool add_line(struct profile *p, struct raw *r, struct lines *to, struct slice line,
                     const char *program, struct err *e)
{
    uint64_t v[4];

    if (!wire_numbers(line, v, 3, 0, e))
        return false;
    const struct entry *f = entry_of(&r->functions, v[1]);
    if (f == NULL)
        return err_set(e, "it names a function that is not there");
    if (!mem_fit(&to->frames, &to->cap, to->n + 1, e))
        return false;
    to->frames[to->n] = profile_frame(p, f->name, program, f->v[5], e);
    for (size_t i = 2; i <= 4; i++)
        key_put(&to->key, (uintptr_t)r->names[f->v[i]]);
    key_put(&to->key, f->v[5]);
    key_put(&to->key, v[2]);
    key_put(&to->key, v[3]);
    return to->frames[to->n++] != INTERN_NONE;
}

static bool add_location(struct profile *p, struct raw *r, size_t i, struct lines *lines,
                         struct err *e)
{
    struct wire w = wire_begin(r->locations.v[i].body);
    const char *program = key_location(&lines->key, r, &r->locations.v[i]);

    lines->n = 0;
    while (wire_next(&w)) {
        if (w.number != 4)
            continue;
        if (!w.is_bytes)
            return err_set(e, "a field is of the wrong kind");
        if (!add_line(p, r, lines, w.bytes, program, e))
            return false;
    }
    /* Without functions it stands for the whole program. */
    if (lines->n == 0) {
        if (!mem_fit(&lines->frames, &lines->cap, 1, e))
            return false;
        lines->frames[0] = profile_frame(p, "", program, 0, e);
        if (lines->frames[lines->n++] == INTERN_NONE)
            return false;
    }
    r->locations.ids[i] = profile_location(p, &lines->key, lines->frames, (uint32_t)lines->n, e);
    return r->locations.ids[i] != INTERN_NONE;
}

static bool add_locations(struct profile *p, struct raw *r, struct err *e)
{
    struct lines lines = {0};
    bool ok = read_entries(&r->locations, r, LOCATION, 5, 1u << 4, e) &&
              mem_new(&r->locations.ids, r->locations.n, e);

    for (size_t i = 0; ok && i < r->locations.n; i++)
        ok = add_location(p, r, i, &lines, e);
    free(lines.frames);
    free(lines.key.v);
    return ok;
}

static bool add_types(struct profile *p, struct raw *r, struct err *e)
{
    struct profile_type types[PROFILE_MAX_TYPES];

    for (size_t i = 0; i < r->parts[TYPE].n; i++) {
        uint64_t v[3];
        if (!wire_numbers(r->parts[TYPE].v[i], v, 2, 0, e))
            return false;
        types[i].name = name_at(p, r, v[1], e);
        types[i].unit = name_at(p, r, v[2], e);
        if (types[i].name == NULL || types[i].unit == NULL)
            return false;
    }
    return (r->parts[TYPE].n > 0 || err_set(e, "it does not say what it counts")) &&
           profile_set_types(p, types, r->parts[TYPE].n, e);
}

/* ---- Samples ---- */

/* A sample that is being read. */
struct reading {
    struct profile_reading sample;
    size_t cap_locations, n_values;
};

static bool read_location(struct reading *x, const struct raw *r, uint64_t id, struct err *e)
{
    const struct entry *location = entry_of(&r->locations, id);
    struct profile_reading *s = &x->sample;

    if (location == NULL)
        return err_set(e, "a sample names a location that is not there");
    if (!mem_fit(&s->locations, &x->cap_locations, s->n_locations + 1, e))
        return false;
    s->locations[s->n_locations++] = r->locations.ids[location - r->locations.v];
    return true;
}

static bool read_value(struct reading *x, uint64_t value, struct err *e)
{
    if (x->n_values >= PROFILE_MAX_TYPES)
        return err_set(e, "a sample has more values than there are types");
    x->sample.values[x->n_values++] = (int64_t)value;
    return true;
}

/* Reads a number of a sample, or several that are packed. */
static bool read_numbers(struct reading *s, const struct raw *r, const struct wire *w,
                         struct err *e)
{
    struct wire numbers = wire_begin(w->bytes);
    uint64_t x;

    if (!w->is_varint && !w->is_bytes)
        return err_set(e, "a field is of the wrong kind");
    while (wire_number(&numbers, &x))
        if (w->number == 1 ? !read_location(s, r, x, e) : !read_value(s, x, e))
            return false;
    return numbers.fault == NULL || err_set(e, "%s", numbers.fault);
}

static bool read_label(struct profile_reading *s, struct profile *p, struct raw *r,
                       const struct wire *w, struct err *e)
{
    uint64_t v[5];

    if (!w->is_bytes)
        return err_set(e, "a field is of the wrong kind");
    if (!wire_numbers(w->bytes, v, 4, 0, e))
        return false;
    struct profile_label x = {.key = name_at(p, r, v[1], e), .number = (int64_t)v[3]};
    x.text = v[2] != 0 ? name_at(p, r, v[2], e) : NULL;
    x.unit = name_at(p, r, v[2] != 0 ? 0 : v[4], e);
    if (x.key == NULL || x.unit == NULL || (v[2] != 0 && x.text == NULL))
        return false;
    if (v[2] == 0 && v[3] == 0 && v[4] == 0)
        return true;
    if (v[2] != 0)
        x.number = 0;
    if (s->n_labels >= PROFILE_MAX_LABELS)
        return err_set(e, "a sample has more than %u labels", PROFILE_MAX_LABELS);
    s->labels[s->n_labels++] = x;
    return true;
}

static bool read_sample(struct reading *x, struct profile *p, struct raw *r, struct slice body,
                        bool is_base, struct err *e)
{
    struct wire w = wire_begin(body);

    x->n_values = x->sample.n_locations = x->sample.n_labels = 0;
    while (wire_next(&w)) {
        if ((w.number == 1 || w.number == 2) && !read_numbers(x, r, &w, e))
            return false;
        if (w.number == 3 && !read_label(&x->sample, p, r, &w, e))
            return false;
    }
    if (w.fault != NULL)
        return err_set(e, "%s", w.fault);
    if (x->n_values != p->n_types)
        return err_set(e, "a sample has %zu values, but there are %zu types", x->n_values,
                       p->n_types);
    return profile_put_sample(p, &x->sample, is_base, e);
}

static bool add_samples(struct profile *p, struct raw *r, bool is_base, struct err *e)
{
    struct reading x = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < r->parts[SAMPLE].n; i++)
        ok = read_sample(&x, p, r, r->parts[SAMPLE].v[i], is_base, e);
    free(x.sample.locations);
    return ok;
}

/* ---- The whole ---- */

static bool add_comments(struct profile *p, struct raw *r, struct err *e)
{
    for (size_t i = 0; i < r->parts[COMMENT].n; i++) {
        struct wire numbers = wire_begin(r->parts[COMMENT].v[i]);
        uint64_t x;

        while (wire_number(&numbers, &x)) {
            const char *text = name_at(p, r, x, e);
            if (text == NULL || !profile_put_comment(p, text, e))
                return false;
        }
        if (numbers.fault != NULL)
            return err_set(e, "%s", numbers.fault);
    }
    return true;
}

/* What is said of the whole comes from the first profile that says it. */
static bool add_header(struct profile *p, struct raw *r, bool is_base, struct err *e)
{
    const char *default_type = name_at(p, r, r->v[DEFAULT_TYPE], e);
    const char *doc_url = name_at(p, r, r->v[DOC_URL], e);

    if (default_type == NULL || doc_url == NULL)
        return false;
    if (p->default_type == NULL || *p->default_type == '\0')
        p->default_type = default_type;
    if (p->doc_url == NULL || *p->doc_url == '\0')
        p->doc_url = doc_url;
    if (p->file == NULL) {
        p->file = r->program;
        p->build_id = r->build_id;
    }
    profile_put_time(p, (int64_t)r->v[TIME], (int64_t)r->v[DURATION], is_base);
    return add_comments(p, r, e);
}

bool proto_add(struct profile *p, struct slice bytes, bool is_base, struct err *e)
{
    struct wire w = wire_begin(bytes);
    struct raw r = {0};
    bool ok = true;

    while (ok && wire_next(&w))
        ok = put_field(&r, &w, e);
    if (ok && (w.fault != NULL || r.parts[STRING].n == 0))
        ok = err_set(e, "no profile%s%s", w.fault != NULL ? ": " : "",
                     w.fault != NULL ? w.fault : "");
    ok = ok && mem_cleared(&r.names, r.parts[STRING].n, e) && add_types(p, &r, e) &&
         read_functions(p, &r, e) && read_mappings(p, &r, e) && add_locations(p, &r, e) &&
         add_header(p, &r, is_base, e) && add_samples(p, &r, is_base, e);
    raw_free(&r);
    return ok;
}
