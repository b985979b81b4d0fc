#include "analyze/profile/flame.h"

#include "analyze/profile/units.h"
#include "analyze/write/html.h"
#include "libcommon/mem.h"
#include "libcommon/utf8.h"

#include <math.h>

#define WIDTH     1200.0
#define ROW       17
#define LETTER    6.7 /* width, at the font size below */
#define LEAST     0.4 /* width of a box that is drawn */
#define MAX_ROWS  150 /* deeper stacks are cut */
#define MAX_BOXES 2000000u
#define NO_BOX    0u /* the root is nobody's child */

struct box {
    uint32_t frame, child, sibling;
    int64_t after, before;
};

struct tree {
    const struct profile *p;
    size_t type;
    struct box *v; /* v[0]: all */
    size_t n;
    struct intern keys; /* of parent and frame, to the box's number less 1 */
    size_t n_rows;
    FILE *f;
};

/* Finds the box of a frame below another. NO_BOX: out of memory, or too many. */
static uint32_t box_below(struct tree *t, uint32_t parent, uint32_t frame, struct err *e)
{
    uint32_t ends[2] = {parent, frame};
    uint32_t id = intern_add(&t->keys, (struct slice){(const char *)ends, sizeof ends});

    if (id == INTERN_NONE || id >= MAX_BOXES) {
        err_set(e, id == INTERN_NONE ? "out of memory" : "too many different stacks");
        return NO_BOX;
    }
    if (id + 1 < t->n)
        return id + 1;
    if (!mem_more(&t->v, t->n, e))
        return NO_BOX;
    t->v[t->n++] = (struct box){frame, NO_BOX, t->v[parent].child, 0, 0};
    return t->v[parent].child = id + 1;
}

static void add_value(struct box *b, bool is_base, int64_t value)
{
    b->after += is_base ? 0 : value;
    b->before -= is_base ? value : 0;
}

static bool add_stack(struct tree *t, size_t sample, struct err *e)
{
    const struct profile *p = t->p;
    const struct profile_sample *s = &p->samples[sample];
    int64_t value = profile_value(p, sample, t->type);
    uint32_t at = 0;
    size_t row = 1;

    add_value(&t->v[0], s->is_base, value);
    for (size_t k = s->n_stack; k-- > 0 && row < MAX_ROWS; row++) {
        at = box_below(t, at, p->stack[s->stack + k].frame, e);
        if (at == NO_BOX)
            return false;
        add_value(&t->v[at], s->is_base, value);
    }
    t->n_rows = row > t->n_rows ? row : t->n_rows;
    return true;
}

static double weight(const struct box *b)
{
    return fmax(0, (double)b->after) + fmax(0, (double)b->before);
}

/* ---- Drawing ---- */

/* Writes a colour: by the share of change, or by the package so that one is told from another. */
static void put_colour(const struct tree *t, const struct box *b)
{
    const char *name = b == t->v ? "" : t->p->shown[b->frame];
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

static void put_title(const struct tree *t, const struct box *b)
{
    const char *unit = t->p->types[t->type].unit;
    const char *name = b == t->v ? "all" : t->p->shown[b->frame];
    struct profile_text pct = profile_pct(b->after, t->v->after);

    fputs("<title>", t->f);
    html_textf(t->f, "%s: %s, %s of all", name, profile_format(b->after, unit, "auto").s,
               pct.s + strspn(pct.s, " "));
    if (t->p->has_base)
        html_textf(t->f, "; was %s: %s%s", profile_format(b->before, unit, "auto").s,
                   b->after > b->before ? "+" : "",
                   profile_format(b->after - b->before, unit, "auto").s);
    fputs("</title>", t->f);
}

static void put_box(const struct tree *t, const struct box *b, double x, double width, size_t row)
{
    const char *name = b == t->v ? "all" : t->p->shown[b->frame];
    size_t room = width > 6 ? (size_t)((width - 6) / LETTER) : 0;
    const char *slash = strlen(name) > room ? strrchr(name, '/') : NULL;
    size_t n = strlen(name = slash != NULL ? slash + 1 : name);

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

static int by_name(const void *a, const void *b, void *ctx)
{
    const struct tree *t = ctx;
    const uint32_t *x = a, *y = b;

    return strcmp(t->p->shown[t->v[*x].frame], t->p->shown[t->v[*y].frame]);
}

/* Draws a box and those below it, which go from left to right in the order of their names. */
static bool draw(const struct tree *t, uint32_t at, double x, double scale, size_t row,
                 struct err *e)
{
    uint32_t *children;
    size_t n = 0;
    bool ok = true;

    put_box(t, &t->v[at], x, weight(&t->v[at]) * scale, row);
    for (uint32_t i = t->v[at].child; i != NO_BOX; i = t->v[i].sibling)
        n++;
    if (!mem_new(&children, n, e))
        return false;
    n = 0;
    for (uint32_t i = t->v[at].child; i != NO_BOX; i = t->v[i].sibling)
        if (weight(&t->v[i]) * scale >= LEAST)
            children[n++] = i;
    if (n > 0)
        qsort_r(children, n, sizeof *children, by_name, (void *)t);
    for (size_t i = 0; ok && i < n; i++) {
        ok = draw(t, children[i], x, scale, row + 1, e);
        x += weight(&t->v[children[i]]) * scale;
    }
    free(children);
    return ok;
}

bool profile_write_flame(const struct profile *p, size_t type, FILE *f, struct err *e)
{
    struct tree t = {.p = p, .type = type, .n = 1, .n_rows = 1, .f = f};
    bool ok = mem_cleared(&t.v, 1, e);

    for (size_t i = 0; ok && i < p->n_samples; i++)
        ok = add_stack(&t, i, e);
    if (ok) {
        double sum = weight(&t.v[0]);
        fprintf(f,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" role=\"img\" "
                "viewBox=\"0 0 %.0f %zu\" font-family=\"sans-serif\" font-size=\"12\">\n",
                WIDTH, t.n_rows * ROW);
        html_element(f, "title", "%s of %s", p->has_base ? "Change" : "Flame graph",
                     p->types[type].name);
        ok = draw(&t, 0, 0, sum > 0 ? WIDTH / sum : 0, 0, e);
        fputs("</svg>\n", f);
    }
    free(t.v);
    intern_fini(&t.keys);
    return ok;
}
