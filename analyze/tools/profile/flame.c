#include "analyze/tools/profile/show.h"

#include "analyze/tools/profile/profile_internal.h"
#include "analyze/write/html.h"
#include "libcommon/mem.h"
#include "libcommon/utf8.h"

#include <math.h>

#define WIDTH    1200.0
#define ROW      17
#define LETTER   6.7 /* width of a letter, at the font size below */
#define LEAST    0.4 /* least width of a box that is drawn */
#define MAX_ROWS 150 /* deeper stacks are cut */

/* A function at one place of the stacks; or the root, all of them. */
struct box {
    const char *name; /* the root's is "all" */
    int64_t after, before;
};

struct flame {
    const struct profile *p;
    size_t type;
    uint32_t *sample; /* sorted by stack, so that a box is a range of them */
    struct box all;
    FILE *f;
};

/* Returns the frame of sample i (sorted) in a row of the picture; row 0 is the root. SIZE_MAX: the
 * stack has fewer rows. */
static size_t frame_at(const struct flame *t, size_t i, size_t row)
{
    const struct profile_sample *s = &t->p->samples[t->sample[i]];

    return row > s->n_stack ? SIZE_MAX : t->p->stack[s->stack + s->n_stack - row].frame;
}

/* Orders samples by the names of the functions in their stacks, from the root on. */
static int by_stack(const void *a, const void *b, void *profile)
{
    const struct profile *p = profile;
    const struct profile_sample *x = &p->samples[*(const uint32_t *)a];
    const struct profile_sample *y = &p->samples[*(const uint32_t *)b];
    size_t i = x->stack + x->n_stack, k = y->stack + y->n_stack;

    while (i > x->stack && k > y->stack) {
        uint32_t f = p->stack[--i].frame, g = p->stack[--k].frame;

        if (f == g)
            continue;
        int names = strcmp(p->shown[f], p->shown[g]);
        return names != 0 ? names : f < g ? -1 : 1;
    }
    return (x->n_stack > y->n_stack) - (x->n_stack < y->n_stack);
}

static void add_sample(const struct flame *t, size_t i, struct box *b)
{
    int64_t value = profile_value(t->p, t->sample[i], t->type);

    if (t->p->samples[t->sample[i]].is_base)
        b->before -= value;
    else
        b->after += value;
}

static double weight(const struct box *b)
{
    return fmax(0, (double)b->after) + fmax(0, (double)b->before);
}

/* ---- Drawing ---- */

/* Writes a colour: by the share of change, or by package, to distinguish packages. */
static void put_colour(const struct flame *t, const struct box *b)
{
    const char *name = b == &t->all ? "" : b->name;
    double sum = weight(b), change = sum > 0 ? ((double)b->after - (double)b->before) / sum : 0;

    if (t->p->has_base) {
        int pale = (int)(235 - 150 * fmin(1, fabs(change)));
        fprintf(t->f, change >= 0 ? "rgb(240,%d,%d)" : "rgb(%d,%d,245)", pale, pale);
        return;
    }
    const char *slash = strrchr(name, '/'), *dot = strchr(slash != NULL ? slash : name, '.');
    uint64_t hash = intern_hash(name, dot != NULL ? (size_t)(dot - name) : strlen(name));
    fprintf(t->f, "hsl(%d,%d%%,%d%%)", (int)(hash % 45) + 10, (int)(hash >> 8 & 15) + 70,
            (int)(hash >> 16 & 15) + 62);
}

static void put_title(const struct flame *t, const struct box *b)
{
    const char *unit = t->p->types[t->type].unit;
    struct profile_text pct = profile_pct(b->after, t->all.after);

    fputs("<title>", t->f);
    html_textf(t->f, "%s: %s, %s of all", b->name, profile_format(b->after, unit, "auto").s,
               pct.s + strspn(pct.s, " "));
    if (t->p->has_base)
        html_textf(t->f, "; was %s: %s%s", profile_format(b->before, unit, "auto").s,
                   b->after > b->before ? "+" : "",
                   profile_format(b->after - b->before, unit, "auto").s);
    fputs("</title>", t->f);
}

static void put_box(const struct flame *t, const struct box *b, double x, double width, size_t row)
{
    size_t room = width > 6 ? (size_t)((width - 6) / LETTER) : 0;
    const char *name = b->name;

    /* Without room the folders go, then the package: what differs is at the end, before types. */
    for (const char *c = "/."; *c != '\0' && strlen(name) > room; c++) {
        const char *last = memrchr(name, *c, strcspn(name, "["));
        name = last != NULL ? last + 1 : name;
    }
    size_t n = strlen(name);

    fputs("<g>", t->f);
    put_title(t, b);
    fprintf(t->f, "<rect x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"%d\" rx=\"2\" fill=\"", x,
            row * ROW, fmax(width - 0.5, 0.2), ROW - 1);
    put_colour(t, b);
    fputs("\"/>", t->f);
    if (width > 30) {
        bool cut = n > room;

        if (cut)
            n = room - 2;
        while (cut && n > 0 && utf8_goes_on(name[n]))
            n--;
        fprintf(t->f, "<text x=\"%.1f\" y=\"%zu\">", x + 3, row * ROW + 12);
        html_textf(t->f, "%.*s%s", (int)n, name, cut ? ".." : "");
        fputs("</text>", t->f);
    }
    fputs("</g>\n", t->f);
}

/* Draws a box, which is of the samples `from` to `end`, and those below it. */
static void draw(const struct flame *t, const struct box *b, size_t from, size_t end, double x,
                 double scale, size_t row)
{
    put_box(t, b, x, weight(b) * scale, row++);
    while (from < end && frame_at(t, from, row) == SIZE_MAX)
        from++;
    for (size_t i = from; i < end && row < MAX_ROWS; from = i) {
        size_t frame = frame_at(t, from, row);
        struct box below = {.name = t->p->shown[frame]};

        for (; i < end && frame_at(t, i, row) == frame; i++)
            add_sample(t, i, &below);
        double width = weight(&below) * scale;
        if (width < LEAST)
            continue;
        draw(t, &below, from, i, x, scale, row);
        x += width;
    }
}

void profile_sum_line(struct sheet *s, const struct profile *p, size_t type)
{
    const struct profile_type *of = &p->types[type];
    struct box all = {0};

    for (size_t i = 0; i < p->n_samples; i++) {
        int64_t value = profile_value(p, i, type);
        *(p->samples[i].is_base ? &all.before : &all.after) +=
            p->samples[i].is_base ? -value : value;
    }
    sheet_line(s, TEXT_HEADING, "%s of %s: %s in all%s%s", p->has_base ? "Change" : "Flame graph",
               of->name, profile_format(all.after, of->unit, "auto").s,
               p->has_base ? "; before: " : "",
               p->has_base ? profile_format(all.before, of->unit, "auto").s : "");
}

bool profile_write_flame(const struct profile *p, size_t type, FILE *f, struct err *e)
{
    struct flame t = {.p = p, .type = type, .all = {.name = "all"}, .f = f};
    size_t n_deepest = 0;

    if (!mem_new(&t.sample, p->n_samples, e))
        return false;
    for (size_t i = 0; i < p->n_samples; i++) {
        t.sample[i] = (uint32_t)i;
        add_sample(&t, i, &t.all);
        n_deepest = p->samples[i].n_stack > n_deepest ? p->samples[i].n_stack : n_deepest;
    }
    if (p->n_samples > 0)
        qsort_r(t.sample, p->n_samples, sizeof *t.sample, by_stack, (void *)p);
    double sum = weight(&t.all);
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" role=\"img\" "
            "viewBox=\"0 0 %.0f %zu\" font-family=\"sans-serif\" font-size=\"12\">\n",
            WIDTH, (n_deepest < MAX_ROWS ? n_deepest + 1 : MAX_ROWS) * ROW);
    html_element(f, "title", "%s of %s", p->has_base ? "Change" : "Flame graph",
                 p->types[type].name);
    draw(&t, &t.all, 0, p->n_samples, 0, sum > 0 ? WIDTH / sum : 0, 0);
    fputs("</svg>\n", f);
    free(t.sample);
    return true;
}
