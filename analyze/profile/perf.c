/* Reads what `perf script` prints: a line for each sample, then its stack, then an empty line.
 *
 *     minio  4242 [001] 12345.678901:   1000000 cpu-clock:pppH:
 *             55d0c0a1b2c3 crc64_update+0x43 (/usr/bin/server)
 *
 * Times count from the start of the machine, so they only show how long the recording was. If there
 * are several events, only the first is read. */
#include "analyze/profile/profile_internal.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <ctype.h>

#define MAX_DEPTH 4096u /* frames of a stack; perf stops at 127 by default */

struct heading {
    struct slice event; /* without what follows a colon */
    int64_t time_ns, period;
};

/* Takes the next line of a text. False: there is none. */
static bool next_line(struct slice *text, struct slice *line)
{
    if (text->n == 0)
        return false;
    const char *newline = memchr(text->p, '\n', text->n);
    *line = (struct slice){text->p, newline != NULL ? (size_t)(newline - text->p) : text->n};
    *text = slice_from(*text, line->n + (newline != NULL));
    line->n -= line->n > 0 && line->p[line->n - 1] == '\r';
    return true;
}

static struct slice without_blanks(struct slice s)
{
    while (s.n > 0 && isspace((unsigned char)*s.p))
        s = slice_from(s, 1);
    while (s.n > 0 && isspace((unsigned char)s.p[s.n - 1]))
        s.n--;
    return s;
}

/* Takes the next word of a line, up to a blank. */
static struct slice word(struct slice *line)
{
    struct slice w = without_blanks(*line);

    *line = w;
    for (w.n = 0; w.n < line->n && !isspace((unsigned char)w.p[w.n]);)
        w.n++;
    *line = slice_from(*line, w.n);
    return w;
}

/* Parses "12345.678901:". */
static bool parse_time(struct slice w, int64_t *time_ns)
{
    return w.n > 1 && w.p[w.n - 1] == ':' && memchr(w.p, '.', w.n) != NULL &&
           slice_decimal((struct slice){w.p, w.n - 1}, 9, time_ns);
}

/* Parses the line of a sample: program, thread, perhaps a CPU, time, perhaps a period, event. */
static bool parse_heading(struct slice line, struct heading *h)
{
    struct slice w = word(&line);

    while (w.n > 0 && !parse_time(w, &h->time_ns))
        w = word(&line);
    if (w.n == 0)
        return false;
    h->event = word(&line);
    h->period = 1;
    if (slice_decimal(h->event, 0, &h->period))
        h->event = word(&line);
    const char *colon = h->event.n > 0 ? memchr(h->event.p, ':', h->event.n) : NULL;
    h->event.n = colon != NULL ? (size_t)(colon - h->event.p) : 0;
    return h->event.n > 0;
}

bool perf_script_is(struct slice text)
{
    struct slice line;
    struct heading h;

    text.n = text.n < 4096 ? text.n : 4096;
    if (memchr(text.p, '\0', text.n) != NULL)
        return false;
    while (next_line(&text, &line))
        if (without_blanks(line).n > 0 && *line.p != '#')
            return parse_heading(line, &h);
    return false;
}

/* A stack that is being read. */
struct stack {
    struct profile_reading sample;
    uint32_t locations[MAX_DEPTH], frames[MAX_DEPTH];
    size_t n_frames; /* frames inlined into the next one */
    struct key key;
};

/* Splits the line of a frame: "ADDRESS SYMBOL+0xOFFSET (PROGRAM)". */
static void parse_frame(struct slice line, struct slice *address, struct slice *name,
                        struct slice *program)
{
    *address = word(&line);
    *name = without_blanks(line);
    *program = (struct slice){"", 0};
    const char *open = name->n > 0 ? memrchr(name->p, '(', name->n) : NULL;
    if (open != NULL && name->p[name->n - 1] == ')') {
        size_t at = (size_t)(open - name->p);
        *program = (struct slice){open + 1, name->n - at - 2};
        *name = without_blanks((struct slice){name->p, at});
    }
    const char *offset = name->n > 0 ? memrchr(name->p, '+', name->n) : NULL;
    if (offset != NULL && name->p + name->n - offset > 3 && memcmp(offset, "+0x", 3) == 0)
        name->n = (size_t)(offset - name->p);
    if (slice_is(*name, "[unknown]"))
        name->n = 0;
}

/* Adds a frame; "(inlined)" stands in place of the program. */
static bool add_frame(struct profile *p, struct stack *s, struct slice line, struct err *e)
{
    struct slice address, name, program;

    parse_frame(line, &address, &name, &program);
    if (s->sample.n_locations >= MAX_DEPTH || s->n_frames >= MAX_DEPTH)
        return err_set(e, "a stack of more than %u frames", MAX_DEPTH);
    const char *function = profile_name(p, name, e), *file = profile_name(p, program, e);
    if (function == NULL || file == NULL)
        return false;
    uint32_t frame = profile_frame(p, function, file, 0, e);
    s->frames[s->n_frames++] = frame;
    key_put(&s->key, frame);
    if (frame == INTERN_NONE || slice_is(program, "inlined"))
        return frame != INTERN_NONE;
    for (size_t i = 0; i < address.n; i++)
        key_put(&s->key, (unsigned char)address.p[i]);
    uint32_t location = profile_location(p, &s->key, s->frames, (uint32_t)s->n_frames, e);
    s->locations[s->sample.n_locations++] = location;
    s->n_frames = s->key.n = 0;
    return location != INTERN_NONE;
}

/* Sets the two types of an event: the number of its samples, and their periods. */
static bool set_types(struct profile *p, struct slice event, struct err *e)
{
    bool is_time = slice_begins(event, "cpu-clock") || slice_begins(event, "task-clock");
    const struct profile_type types[2] = {
        {profile_name(p, slice_of("samples"), e), profile_name(p, slice_of("count"), e)},
        {profile_name(p, is_time ? slice_of("cpu") : event, e),
         profile_name(p, slice_of(is_time ? "nanoseconds" : "count"), e)}};

    p->default_type = p->doc_url = "";
    return types[0].name != NULL && types[0].unit != NULL && types[1].name != NULL &&
           types[1].unit != NULL && profile_set_types(p, types, 2, e);
}

static bool put_stack(struct profile *p, struct stack *s, const struct heading *h, bool is_base,
                      struct err *e)
{
    s->sample.locations = s->locations;
    s->sample.values[0] = h->period > 0;
    s->sample.values[1] = h->period;
    bool ok = profile_put_sample(p, &s->sample, is_base, e);
    s->sample.n_locations = s->sample.n_labels = s->n_frames = s->key.n = 0;
    return ok;
}

static bool read_samples(struct profile *p, struct stack *s, struct slice text, bool is_base,
                         struct err *e)
{
    struct slice line, event = {NULL, 0};
    struct heading h = {0};
    int64_t first_ns = INT64_MAX, last_ns = 0;
    bool within = false;

    for (size_t number = 1; next_line(&text, &line); number++) {
        bool ok = true;
        if (without_blanks(line).n == 0) {
            ok = !within || put_stack(p, s, &h, is_base, e);
            within = false;
        } else if (within) {
            ok = add_frame(p, s, line, e);
        } else if (*line.p != '#') {
            if (!parse_heading(line, &h))
                return err_set(e, "line %zu: no sample of perf script", number);
            ok = event.n > 0 || set_types(p, h.event, e);
            event = event.n > 0 ? event : h.event;
            within = true;
            first_ns = int64_min(first_ns, h.time_ns);
            last_ns = int64_max(last_ns, h.time_ns);
            if (h.event.n != event.n || memcmp(h.event.p, event.p, event.n) != 0)
                h.period = 0;
        }
        if (!ok)
            return false;
    }
    profile_put_time(p, 0, last_ns > first_ns ? last_ns - first_ns : 0, is_base);
    return !within || put_stack(p, s, &h, is_base, e);
}

bool perf_script_add(struct profile *p, struct slice text, bool is_base, struct err *e)
{
    struct stack *s;
    bool ok = mem_cleared(&s, 1, e) && read_samples(p, s, text, is_base, e);

    if (s != NULL)
        free(s->key.v);
    free(s);
    return ok;
}
