/* Reads profile.proto (github.com/google/pprof, proto/profile.proto). The input is hostile: each
 * count, index and length is checked. It refuses what `go tool pprof` refuses. */
#include "analyze/tools/profile/profile_internal.h"
#include "libcommon/mem.h"

#include <string.h>

/* ---- Protocol buffers ----
 *
 * Reads the wire format of profile.proto. Nothing is copied; slices point into the message.
 *
 * A text says what the fields of a message are, a letter for each number from 0 on: 'n' a number,
 * 's' one that stands for a string, 'm' a message or a text, 'r' numbers, packed or not, and '-'
 * what is passed over, as are all fields behind. A field of another kind is damage. */

/* A message that is being read, and its current field. */
struct wire {
    const unsigned char *p, *end;
    const char *fields;
    size_t n_fields;
    const char *fault;  /* not NULL: the message is damaged; says how */
    size_t number;      /* of the field */
    uint64_t value;     /* of a number */
    struct slice bytes; /* of the field as it stands there */
};

enum { VARINT = 0, EIGHT_BYTES = 1, BYTES = 2, FOUR_BYTES = 5 };

/* Starts before the first field of a message, or before the first of packed numbers. */
static struct wire wire_begin(struct slice message, const char *fields)
{
    const unsigned char *p = (const unsigned char *)message.p;

    return (struct wire){
        .p = p, .end = p + message.n, .fields = fields, .n_fields = strlen(fields)};
}

static bool fault(struct wire *w, const char *why)
{
    w->fault = why;
    return false;
}

/* Reads a number: little-endian, seven bits a byte, at most ten bytes. Bits past the 64th are
 * lost. */
static bool varint(struct wire *w, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < 10 && w->p < w->end; i++) {
        unsigned char c = *w->p++;
        *value |= (uint64_t)(c & 0x7f) << (7 * i);
        if ((c & 0x80) == 0)
            return true;
    }
    return fault(w, "a number without an end");
}

/* Reads what follows the tag of a field. */
static bool read_field(struct wire *w, unsigned type)
{
    const unsigned char *from = w->p;
    uint64_t n = type == EIGHT_BYTES ? 8 : 4;

    if (type == VARINT) {
        if (!varint(w, &w->value))
            return false;
        w->bytes = (struct slice){(const char *)from, (size_t)(w->p - from)};
        return true;
    }
    if (type != EIGHT_BYTES && type != BYTES && type != FOUR_BYTES)
        return fault(w, "a field of an unknown kind");
    if (type == BYTES && !varint(w, &n))
        return false;
    if (n > (uint64_t)(w->end - w->p))
        return fault(w, "a field is longer than what is left");
    w->bytes = (struct slice){(const char *)w->p, (size_t)n};
    w->p += n;
    return true;
}

/* Goes to the next field. False: the message has ended, or is damaged (fault). */
static bool wire_next(struct wire *w)
{
    char kind = '-';
    unsigned type = VARINT;

    while (kind == '-') {
        uint64_t tag;

        if (w->fault != NULL || w->p == w->end || !varint(w, &tag))
            return false;
        type = tag & 7;
        w->number = tag >> 3;
        kind = w->number < w->n_fields ? w->fields[w->number] : '-';
        if (!read_field(w, type))
            return false;
    }
    /* Profiles have no numbers of a fixed size. */
    bool fits = type == VARINT ? kind != 'm' : type == BYTES && (kind == 'm' || kind == 'r');
    return fits || fault(w, "a field is of the wrong kind");
}

/* Reads the next of packed numbers, or the only one of a field that is a number. False as for
 * wire_next. */
static bool wire_number(struct wire *w, uint64_t *value)
{
    return w->fault == NULL && w->p < w->end && varint(w, value);
}

/* Returns whether the message was not damaged; else *e says how it is. */
static bool wire_end(const struct wire *w, struct err *e)
{
    return w->fault == NULL || err_set(e, "%s", w->fault);
}

/* ---- Profiles ---- */

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
    COMMENT = 13,
    DEFAULT_TYPE = 14,
    DOC_URL = 15,
    N_FIELDS,
};
#define FIELDS "-mmmmmmnnnnmnrnn" /* what they are */

/* The fields of which there may be many. */
static const struct {
    const char *what;
    size_t most;
    const char *fields; /* for messages with an id: their fields that are numbers */
} parts_of[N_FIELDS] = {
    [TYPE] = {"sample types", PROFILE_MAX_TYPES, NULL},
    [SAMPLE] = {"samples", PROFILE_MAX_SAMPLES, NULL},
    [MAPPING] = {"mappings", PROFILE_MAX_ENTRIES, "-nnnnss"},
    [LOCATION] = {"locations", PROFILE_MAX_ENTRIES, "-nnn-n"},
    [FUNCTION] = {"functions", PROFILE_MAX_ENTRIES, "-nsssn"},
    [STRING] = {"strings", 4 * PROFILE_MAX_ENTRIES, NULL},
    [COMMENT] = {"comments", PROFILE_MAX_COMMENTS, NULL},
};

/* A mapping, location or function. */
struct entry {
    uint64_t v[7]; /* its numbers by field; 1 is the id */
    struct slice body;
    const char *name; /* of a function */
    size_t frames, n; /* of a location: its functions in raw.frames, the innermost first */
};

struct raw {
    struct slice bytes;
    size_t n[N_FIELDS];   /* how many there are */
    uint64_t v[N_FIELDS]; /* numbers */
    struct slice *strings;
    const char **names; /* by string: NULL until it is used */
    uint32_t *frames;   /* of the locations */
    size_t n_frames, cap_frames;
    struct entry *entries[N_FIELDS]; /* of messages with an id, sorted by id */
};

static void raw_free(struct raw *r)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        free(r->entries[i]);
    free(r->strings);
    free(r->names);
    free(r->frames);
}

/* ---- First step: finding the messages ---- */

static bool put_field(struct raw *r, const struct wire *w, struct err *e)
{
    size_t most = parts_of[w->number].most, n = r->n[w->number]++;

    if (most > 0 && n >= most)
        return err_set(e, "more than %zu %s", n, parts_of[w->number].what);
    if (w->number == STRING && n == 0 && w->bytes.n > 0)
        return err_set(e, "its first string is not empty");
    if (w->number == STRING && !mem_more(&r->strings, n, e))
        return false;
    if (w->number == STRING)
        r->strings[n] = w->bytes;
    if (w->number == TIME && r->v[TIME] != 0)
        return err_set(e, "two profiles follow each other in one file");
    r->v[w->number] = w->value;
    return true;
}

/* ---- Second step: reading the messages ---- */

/* Starts before the first field of this number; all others are passed over. Their kinds were
 * checked before. */
static struct wire each(const struct raw *r, size_t field)
{
    static const char passed_over[] = "---------------r"; /* as many as the largest number */

    return wire_begin(r->bytes, passed_over + sizeof passed_over - 2 - field);
}

static const char *name_at(struct profile *p, struct raw *r, uint64_t i, struct err *e)
{
    if (i >= r->n[STRING]) {
        err_set(e, "it names a string that is not there");
        return NULL;
    }
    if (r->names[i] == NULL)
        r->names[i] = profile_name(p, r->strings[i], e);
    return r->names[i];
}

/* Reads the fields of a message of numbers into v, by their number: 0 if a field is missing, the
 * last value if it is repeated. Makes the names of those that stand for strings available in
 * r->names. False: *e says what is wrong. */
static bool read_numbers(struct profile *p, struct raw *r, struct slice message, const char *fields,
                         uint64_t *v, struct err *e)
{
    struct wire w = wire_begin(message, fields);

    memset(v, 0, w.n_fields * sizeof *v);
    while (wire_next(&w))
        v[w.number] = w.value;
    for (size_t k = 0; k < w.n_fields; k++)
        if (fields[k] == 's' && name_at(p, r, v[k], e) == NULL)
            return false;
    return wire_end(&w, e);
}

static int by_id(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return (x->v[1] > y->v[1]) - (x->v[1] < y->v[1]);
}

/* Reads the messages of a kind that has ids. */
static bool read_entries(struct profile *p, struct raw *r, size_t field, struct err *e)
{
    const char *fields = parts_of[field].fields;
    size_t n = 0;
    struct entry *v;

    if (!mem_cleared(&v, r->n[field], e))
        return false;
    r->entries[field] = v;
    for (struct wire w = each(r, field); wire_next(&w); n++) {
        v[n].body = w.bytes;
        if (!read_numbers(p, r, w.bytes, fields, v[n].v, e))
            return false;
    }
    qsort(v, n, sizeof *v, by_id);
    for (size_t i = 0; i < n; i++)
        if (v[i].v[1] == 0 || (i > 0 && v[i - 1].v[1] == v[i].v[1]))
            return err_set(e, "two %s have the same id, or one has none", parts_of[field].what);
    return true;
}

/* Returns the entry with that id. NULL: there is none. */
static struct entry *entry_of(const struct raw *r, size_t field, uint64_t id)
{
    struct entry *v = r->entries[field];
    size_t n = r->n[field];

    if (id > 0 && id <= n && v[id - 1].v[1] == id)
        return &v[id - 1];
    const struct entry wanted = {.v = {0, id}};
    return bsearch(&wanted, v, n, sizeof *v, by_id);
}

/* Removes pairs of brackets with what is between them. Stops where they do not match. */
static void remove_within(char *name, char start, char end)
{
    char *to = name, *first = name;
    const char *s = name;

    for (size_t depth = 0; *s != '\0' && (*s != end || depth > 0); s++) {
        if (*s == start && depth++ == 0)
            first = to;
        *to++ = *s;
        if (*s == end && --depth == 0)
            to = first;
    }
    memmove(to, s, strlen(s) + 1);
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

    for (size_t i = 0; ok && i < r->n[FUNCTION]; i++) {
        struct entry *f = &r->entries[FUNCTION][i];
        const char *name = r->names[f->v[2]], *symbol = r->names[f->v[3]];

        f->name = *name == '\0' || name == symbol ? simplified(p, symbol, e) : name;
        ok = f->name != NULL;
    }
    return ok;
}

static bool add_frame(struct profile *p, struct raw *r, const char *name, const char *program,
                      uint64_t line, struct err *e)
{
    uint32_t frame = profile_frame(p, name, program, line, e);

    if (frame == INTERN_NONE || !mem_fit(&r->frames, &r->cap_frames, r->n_frames + 1, e))
        return false;
    r->frames[r->n_frames++] = frame;
    return true;
}

/* Adds the function of a line to the last location. */
static bool add_line(struct profile *p, struct raw *r, struct slice line, const char *program,
                     struct err *e)
{
    uint64_t v[4];

    if (!read_numbers(p, r, line, "-nnn", v, e))
        return false;
    const struct entry *f = entry_of(r, FUNCTION, v[1]);
    if (f == NULL)
        return err_set(e, "it names a function that is not there");
    return add_frame(p, r, f->name, program, f->v[5], e);
}

static bool add_location(struct profile *p, struct raw *r, struct entry *location, struct err *e)
{
    const struct entry *mapping = entry_of(r, MAPPING, location->v[2]);
    const char *program = mapping != NULL ? r->names[mapping->v[5]] : "";
    struct wire w = wire_begin(location->body, "----m");

    location->frames = r->n_frames;
    while (wire_next(&w))
        if (!add_line(p, r, w.bytes, program, e))
            return false;
    /* A location without functions counts as the whole program. */
    if (!wire_end(&w, e) ||
        (r->n_frames == location->frames && !add_frame(p, r, "", program, 0, e)))
        return false;
    location->n = r->n_frames - location->frames;
    return true;
}

static bool add_locations(struct profile *p, struct raw *r, struct err *e)
{
    bool ok = read_entries(p, r, LOCATION, e);

    for (size_t i = 0; ok && i < r->n[LOCATION]; i++)
        ok = add_location(p, r, &r->entries[LOCATION][i], e);
    return ok;
}

static bool add_types(struct profile *p, struct raw *r, struct err *e)
{
    struct profile_type types[PROFILE_MAX_TYPES];
    size_t n = 0;

    for (struct wire w = each(r, TYPE); wire_next(&w); n++) {
        uint64_t v[3];
        if (!read_numbers(p, r, w.bytes, "-ss", v, e))
            return false;
        types[n] = (struct profile_type){r->names[v[1]], r->names[v[2]]};
    }
    return (n > 0 || err_set(e, "it does not say what it counts")) &&
           profile_set_types(p, types, n, e);
}

/* ---- Samples ---- */

/* Reads a label: of all that there are, one says that a sample belongs to the base of a difference
 * that was saved. */
static bool read_label(struct profile *p, struct raw *r, struct slice body, struct err *e)
{
    uint64_t v[5];

    if (!read_numbers(p, r, body, "-ssns", v, e))
        return false;
    p->next.is_base |=
        strcmp(r->names[v[1]], "pprof::base") == 0 && strcmp(r->names[v[2]], "true") == 0;
    return true;
}

static bool read_location(struct profile *p, const struct raw *r, uint64_t id, struct err *e)
{
    const struct entry *location = entry_of(r, LOCATION, id);
    bool ok = location != NULL || err_set(e, "a sample names a location that is not there");

    for (size_t i = 0; ok && i < location->n; i++)
        ok = profile_put_call(p, r->frames[location->frames + i], i + 1 < location->n, e);
    return ok;
}

static bool read_sample(struct profile *p, struct raw *r, struct slice body, bool is_base,
                        struct err *e)
{
    enum { LOCATIONS = 1, VALUES, LABEL };
    struct wire w = wire_begin(body, "-rrm");
    int64_t values[PROFILE_MAX_TYPES];
    size_t n = 0;

    while (wire_next(&w)) {
        struct wire numbers = wire_begin(w.bytes, "");
        uint64_t x;

        if (w.number == LABEL && !read_label(p, r, w.bytes, e))
            return false;
        while (w.number != LABEL && wire_number(&numbers, &x)) {
            if (w.number == LOCATIONS && !read_location(p, r, x, e))
                return false;
            if (w.number == VALUES && n >= PROFILE_MAX_TYPES)
                return err_set(e, "a sample has more values than there are types");
            if (w.number == VALUES)
                values[n++] = (int64_t)x;
        }
        if (!wire_end(&numbers, e))
            return false;
    }
    if (!wire_end(&w, e))
        return false;
    if (n != p->n_types)
        return err_set(e, "a sample has %zu values, but there are %zu types", n, p->n_types);
    return profile_end_sample(p, values, is_base, e);
}

static bool add_samples(struct profile *p, struct raw *r, bool is_base, struct err *e)
{
    for (struct wire w = each(r, SAMPLE); wire_next(&w);)
        if (!read_sample(p, r, w.bytes, is_base, e))
            return false;
    return true;
}

/* ---- The whole ---- */

static bool add_comments(struct profile *p, struct raw *r, struct err *e)
{
    for (struct wire w = each(r, COMMENT); wire_next(&w);) {
        struct wire numbers = wire_begin(w.bytes, "");
        uint64_t x;

        while (wire_number(&numbers, &x)) {
            const char *text = name_at(p, r, x, e);
            if (text == NULL || !profile_put_comment(p, text, e))
                return false;
        }
        if (!wire_end(&numbers, e))
            return false;
    }
    return true;
}

/* Adds the fields about the whole profile: the first profile that has one decides. */
static bool add_header(struct profile *p, struct raw *r, bool is_base, struct err *e)
{
    const char *default_type = name_at(p, r, r->v[DEFAULT_TYPE], e);
    const char *doc_url = name_at(p, r, r->v[DOC_URL], e);
    struct wire mappings = each(r, MAPPING);

    if (default_type == NULL || doc_url == NULL)
        return false;
    if (p->default_type == NULL || *p->default_type == '\0')
        p->default_type = default_type;
    if (p->doc_url == NULL || *p->doc_url == '\0')
        p->doc_url = doc_url;
    /* The first mapping is of the program itself. */
    if (p->file == NULL && wire_next(&mappings)) {
        uint64_t v[7];

        if (!read_numbers(p, r, mappings.bytes, parts_of[MAPPING].fields, v, e))
            return false;
        p->file = r->names[v[5]];
        p->build_id = r->names[v[6]];
    }
    profile_put_time(p, (int64_t)r->v[TIME], (int64_t)r->v[DURATION], is_base);
    return add_comments(p, r, e);
}

bool proto_add(struct profile *p, struct slice bytes, bool is_base, struct err *e)
{
    struct wire w = wire_begin(bytes, FIELDS);
    struct raw r = {.bytes = bytes};
    bool ok = true;

    while (ok && wire_next(&w))
        ok = put_field(&r, &w, e);
    if (ok && (w.fault != NULL || r.n[STRING] == 0))
        ok = err_set(e, "no profile%s%s", w.fault != NULL ? ": " : "",
                     w.fault != NULL ? w.fault : "");
    ok = ok && mem_cleared(&r.names, r.n[STRING], e) && add_types(p, &r, e) &&
         read_functions(p, &r, e) && read_entries(p, &r, MAPPING, e) && add_locations(p, &r, e) &&
         add_header(p, &r, is_base, e) && add_samples(p, &r, is_base, e);
    raw_free(&r);
    return ok;
}
