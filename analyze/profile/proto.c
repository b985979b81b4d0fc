/* Reads profile.proto (github.com/google/pprof, proto/profile.proto). The input is hostile: each
 * count, index and length is checked. It refuses what the reference tool refuses. */
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

/* The fields that are messages or texts. The others are numbers. */
static const struct {
    const char *what;
    size_t most; /* how many there may be */
    /* For messages with an id: their number of fields and, as bit masks, which fields are indices
     * into the table of strings, and which are no numbers. */
    size_t n_fields;
    unsigned names, others;
} parts_of[N_FIELDS] = {
    [TYPE] = {"sample types", .most = PROFILE_MAX_TYPES},
    [SAMPLE] = {"samples", .most = PROFILE_MAX_SAMPLES},
    [MAPPING] = {"mappings", PROFILE_MAX_ENTRIES, 6, .names = 1 << 5 | 1 << 6},
    [LOCATION] = {"locations", PROFILE_MAX_ENTRIES, 5, .others = 1 << 4},
    [FUNCTION] = {"functions", PROFILE_MAX_ENTRIES, 5, .names = 1 << 2 | 1 << 3 | 1 << 4},
    [STRING] = {"strings", .most = 4 * PROFILE_MAX_ENTRIES},
    [PERIOD_TYPE] = {"types of its period", .most = PROFILE_MAX_TYPES},
    [COMMENT] = {"comments", .most = PROFILE_MAX_COMMENTS},
};

/* A mapping, location or function. */
struct entry {
    uint64_t v[7]; /* its numbers by field; 1 is the id */
    struct slice body;
    const char *name;  /* of a function */
    uint32_t location; /* of a location: its number in the profile */
};

struct parts {
    struct slice *v;
    size_t n;
    struct entry *entries; /* of messages with an id, sorted by id */
};

struct raw {
    struct parts parts[N_FIELDS];
    uint64_t v[N_FIELDS]; /* numbers */
    const char **names;   /* by string: NULL until it is used */
};

static void raw_free(struct raw *r)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        free(r->parts[i].v);
        free(r->parts[i].entries);
    }
    free(r->names);
}

/* ---- First step: finding the messages ---- */

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
    if (w->number == TIME && r->v[TIME] != 0)
        return err_set(e, "two profiles follow each other in one file");
    r->v[w->number] = w->value;
    return !is_part || put_part(r, w, e);
}

/* ---- Second step: reading the messages ---- */

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

/* Reads the messages of a kind that has ids, and makes all of their names available in r->names. */
static bool read_entries(struct profile *p, struct raw *r, size_t field, struct err *e)
{
    size_t n = r->parts[field].n, n_fields = parts_of[field].n_fields;
    struct entry *v;

    if (!mem_cleared(&v, n, e))
        return false;
    r->parts[field].entries = v;
    for (size_t i = 0; i < n; i++) {
        v[i].body = r->parts[field].v[i];
        if (!wire_numbers(v[i].body, v[i].v, n_fields, parts_of[field].others, e))
            return false;
    }
    qsort(v, n, sizeof *v, by_id);
    for (size_t i = 0; i < n; i++)
        if (v[i].v[1] == 0 || (i > 0 && v[i - 1].v[1] == v[i].v[1]))
            return err_set(e, "two %s have the same id, or one has none", parts_of[field].what);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 1; k <= n_fields; k++)
            if ((parts_of[field].names >> k & 1) != 0 && name_at(p, r, v[i].v[k], e) == NULL)
                return false;
    return true;
}

/* Returns the entry with that id. NULL: there is none. */
static const struct entry *entry_of(const struct parts *x, uint64_t id)
{
    const struct entry wanted = {.v = {0, id}};

    if (id > 0 && id <= x->n && x->entries[id - 1].v[1] == id)
        return &x->entries[id - 1];
    return bsearch(&wanted, x->entries, x->n, sizeof *x->entries, by_id);
}

/* Removes pairs of brackets with what is between them. Stops where they do not match. */
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

/* Shortens a name that looks like C++: removes the parameters of functions and of templates. */
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
    bool ok = read_entries(p, r, FUNCTION, e);

    for (size_t i = 0; ok && i < r->parts[FUNCTION].n; i++) {
        struct entry *f = &r->parts[FUNCTION].entries[i];
        const char *name = r->names[f->v[2]], *symbol = r->names[f->v[3]];

        f->name = *name == '\0' || name == symbol ? simplified(p, symbol, e) : name;
        ok = f->name != NULL;
    }
    return ok;
}

/* Begins the key of a location: its address within its mapping, independent of where that was
 * loaded. */
static const char *key_location(struct key *k, struct raw *r, const struct entry *location)
{
    const struct entry *m = entry_of(&r->parts[MAPPING], location->v[2]);

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
    const struct entry *f = entry_of(&r->parts[FUNCTION], v[1]);
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

static bool add_location(struct profile *p, struct raw *r, struct entry *location,
                         struct lines *lines, struct err *e)
{
    struct wire w = wire_begin(location->body);
    const char *program = key_location(&lines->key, r, location);

    lines->n = 0;
    while (wire_next(&w)) {
        if (w.number != 4)
            continue;
        if (!w.is_bytes)
            return err_set(e, "a field is of the wrong kind");
        if (!add_line(p, r, lines, w.bytes, program, e))
            return false;
    }
    /* A location without functions counts as the whole program. */
    if (lines->n == 0) {
        if (!mem_fit(&lines->frames, &lines->cap, 1, e))
            return false;
        lines->frames[0] = profile_frame(p, "", program, 0, e);
        if (lines->frames[lines->n++] == INTERN_NONE)
            return false;
    }
    location->location = profile_location(p, &lines->key, lines->frames, (uint32_t)lines->n, e);
    return location->location != INTERN_NONE;
}

static bool add_locations(struct profile *p, struct raw *r, struct err *e)
{
    struct lines lines = {0};
    bool ok = read_entries(p, r, LOCATION, e);

    for (size_t i = 0; ok && i < r->parts[LOCATION].n; i++)
        ok = add_location(p, r, &r->parts[LOCATION].entries[i], &lines, e);
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
    const struct entry *location = entry_of(&r->parts[LOCATION], id);
    struct profile_reading *s = &x->sample;

    if (location == NULL)
        return err_set(e, "a sample names a location that is not there");
    if (!mem_fit(&s->locations, &x->cap_locations, s->n_locations + 1, e))
        return false;
    s->locations[s->n_locations++] = location->location;
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

/* Adds the fields about the whole profile: the first profile that has one decides. */
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
    /* The first mapping is of the program itself. */
    if (p->file == NULL && r->parts[MAPPING].n > 0) {
        uint64_t v[7];

        if (!wire_numbers(r->parts[MAPPING].v[0], v, 6, 0, e))
            return false;
        p->file = r->names[v[5]];
        p->build_id = r->names[v[6]];
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
         read_functions(p, &r, e) && read_entries(p, &r, MAPPING, e) && add_locations(p, &r, e) &&
         add_header(p, &r, is_base, e) && add_samples(p, &r, is_base, e);
    raw_free(&r);
    return ok;
}
