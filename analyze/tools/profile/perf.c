/* Reads what `perf script` prints (Linux, tools/perf/builtin-script.c): a line for each sample,
 * then its stack, then an empty line. Without stacks the place stands on the line of the sample.
 *
 *     minio  4242 [001] 12345.678901:   1000000 cpu-clock:pppH:
 *             55d0c0a1b2c3 crc64_update+0x43 (/usr/bin/server)
 *
 * Times count from the start of the machine, so they only show how long the recording was. Of
 * several events each counts something else: they are refused. */
#include "analyze/tools/profile/profile_internal.h"
#include "libcommon/int64.h"
#include "libcommon/mem.h"

#include <ctype.h>

#define MAX_DEPTH 4096u /* frames of a stack; perf stops at 127 by default */

struct heading {
    struct slice event;      /* without modifiers, which follow a colon */
    int64_t time_ns, period; /* period 0: not printed */
    struct slice place;
};

/* Takes the next word of a line, up to a blank. */
static struct slice word(struct slice *line)
{
    struct slice w = slice_trim(*line);

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

/* Parses the line of a sample: program, thread, perhaps a CPU, time, perhaps a period, event,
 * perhaps a place. */
static bool parse_heading(struct slice line, struct heading *h)
{
    static const char modifiers[] = "ukhGHIpPSDWeb";
    struct slice w = word(&line);

    while (w.n > 0 && !parse_time(w, &h->time_ns))
        w = word(&line);
    if (w.n == 0)
        return false;
    h->event = word(&line);
    h->period = 0;
    if (slice_decimal(h->event, 0, &h->period))
        h->event = word(&line);
    h->place = slice_trim(line);
    if (h->event.n < 2 || h->event.p[--h->event.n] != ':')
        return false;
    size_t n = h->event.n;
    while (n > 1 && strchr(modifiers, h->event.p[n - 1]) != NULL)
        n--;
    if (n > 1 && h->event.p[n - 1] == ':')
        h->event.n = n - 1;
    return true;
}

bool perf_script_is(struct slice text)
{
    struct slice line;
    struct heading h;

    if (memchr(text.p, '\0', text.n < 4096 ? text.n : 4096) != NULL)
        return false;
    while (text.p != NULL) {
        line = slice_take(&text, '\n');
        if (slice_trim(line).n > 0 && *line.p != '#')
            return parse_heading(line, &h);
    }
    return false;
}

static bool is_hex(struct slice w)
{
    size_t n = 0;

    while (n < w.n && isxdigit((unsigned char)w.p[n]))
        n++;
    return n > 0 && n == w.n;
}

/* Splits the line of a frame: "ADDRESS SYMBOL+0xOFFSET (PROGRAM)". Symbols and programs may have
 * brackets, too. Without addresses (perf script -F) the line begins with one blank. */
static void parse_frame(struct slice line, struct slice *name, struct slice *program)
{
    static const char deleted[] = " (deleted)";
    struct slice rest = line;
    size_t n_open = 0;
    bool has_address = is_hex(word(&rest)) && (line.p[0] != ' ' || line.p[1] == ' ');

    *name = slice_trim(has_address ? rest : line);
    *program = (struct slice){"", 0};
    for (size_t at = name->n; at-- > 0 && (n_open > 0 || at + 1 == name->n);) {
        n_open += name->p[at] == ')';
        if (name->p[at] != '(' || n_open == 0 || --n_open > 0)
            continue;
        if (at > 0 && name->p[at - 1] != ' ') /* parameters of the function */
            break;
        *program = (struct slice){name->p + at + 1, name->n - at - 2};
        *name = slice_trim((struct slice){name->p, at});
        break;
    }
    size_t n = strlen(deleted);
    if (program->n > n && slice_is(slice_from(*program, program->n - n), deleted))
        program->n -= n;
    const char *offset = name->n > 0 ? memrchr(name->p, '+', name->n) : NULL;
    if (offset != NULL && name->p + name->n - offset > 3 && memcmp(offset, "+0x", 3) == 0)
        name->n = (size_t)(offset - name->p);
    if (slice_is(*name, "[unknown]"))
        name->n = 0;
}

/* Adds a frame; "(inlined)" stands in place of the program. */
static bool add_frame(struct profile *p, struct slice line, struct err *e)
{
    struct slice name, program;

    parse_frame(line, &name, &program);
    const char *function = profile_name(p, name, e), *file = profile_name(p, program, e);
    if (function == NULL || file == NULL)
        return false;
    uint32_t frame = profile_frame(p, function, file, 0, e);
    return frame != INTERN_NONE && profile_put_call(p, frame, slice_is(program, "inlined"), e);
}

/* Sets the types of an event: the number of its samples, and their periods, if these are printed.
 */
static bool set_types(struct profile *p, struct slice event, bool has_periods, struct err *e)
{
    bool is_time = slice_begins(event, "cpu-clock") || slice_begins(event, "task-clock");
    const struct profile_type types[2] = {
        {profile_name(p, slice_of("samples"), e), profile_name(p, slice_of("count"), e)},
        {profile_name(p, is_time ? slice_of("cpu") : event, e),
         profile_name(p, slice_of(is_time ? "nanoseconds" : "count"), e)}};

    p->default_type = p->doc_url = "";
    return types[0].name != NULL && types[0].unit != NULL && types[1].name != NULL &&
           types[1].unit != NULL && profile_set_types(p, types, has_periods ? 2 : 1, e);
}

/* A text that is being read. */
struct reading {
    struct heading heading; /* of the sample */
    size_t depth;           /* of its stack */
    struct slice event;     /* of all samples */
    int64_t first_ns, last_ns;
};

static bool begin_sample(struct profile *p, struct reading *r, struct err *e)
{
    const struct heading *h = &r->heading;

    if (r->event.n == 0) {
        r->event = h->event;
        r->first_ns = h->time_ns;
        if (!set_types(p, h->event, h->period > 0, e))
            return false;
    }
    if (slice_order(h->event, r->event) != 0)
        return err_set(e,
                       "samples of %.*s and of %.*s do not add up: record one event "
                       "(perf record -e cpu-clock)",
                       (int)int64_min((int64_t)r->event.n, 60), r->event.p,
                       (int)int64_min((int64_t)h->event.n, 60), h->event.p);
    r->first_ns = int64_min(r->first_ns, h->time_ns);
    r->last_ns = int64_max(r->last_ns, h->time_ns);
    struct slice address = h->place;
    return !is_hex(word(&address)) || add_frame(p, h->place, e);
}

static bool end_sample(struct profile *p, struct reading *r, bool is_base, struct err *e)
{
    r->depth = 0;
    return profile_end_sample(p, (int64_t[]){1, r->heading.period}, is_base, e);
}

/* Adds a line of a stack. Lines with two blanks are of sources (perf script -F +srcline). */
static bool add_line(struct profile *p, struct reading *r, struct slice line, struct err *e)
{
    if (r->depth++ >= MAX_DEPTH)
        return err_set(e, "a stack of more than %u frames", MAX_DEPTH);
    return (slice_begins(line, "  ") && !isspace((unsigned char)line.p[2])) ||
           add_frame(p, line, e);
}

static bool read_samples(struct profile *p, struct reading *r, struct slice text, bool is_base,
                         struct err *e)
{
    struct slice line;
    struct heading h;
    bool within = false, ok = true;

    while (ok && text.p != NULL) {
        p->line++;
        line = slice_take(&text, '\n');
        bool is_empty = slice_trim(line).n == 0;
        bool is_heading = !is_empty && *line.p != '\t' && parse_heading(line, &h);

        if (within && (is_empty || is_heading)) {
            ok = end_sample(p, r, is_base, e);
            within = false;
        }
        if (is_heading && slice_begins(h.event, "PERF_RECORD_")) /* of the recording itself */
            continue;
        if (ok && is_heading) {
            r->heading = h;
            ok = begin_sample(p, r, e);
            within = true;
        } else if (ok && within)
            ok = add_line(p, r, line, e);
        else if (ok && !is_empty && *line.p != '#')
            ok = err_set(e, "no sample of perf script");
    }
    ok = ok && (!within || end_sample(p, r, is_base, e));
    p->line = ok ? 0 : p->line;
    return ok;
}

bool perf_script_add(struct profile *p, struct slice text, bool is_base, struct err *e)
{
    struct reading r = {0};
    bool ok = read_samples(p, &r, text, is_base, e);

    profile_put_time(p, 0, r.last_ns - r.first_ns, is_base);
    return ok;
}
