#include "analyze/report/compare.h"

#include "analyze/compare/words.h"
#include "analyze/report/headline.h"
#include "libcommon/visible.h"

#include <math.h>
#include <string.h>

/* Text that may hold anything, inside a table cell. */
static void put_text(FILE *f, const char *s)
{
    for (size_t step; (step = visible_step(s)) > 0; s += step) {
        if (visible_length(s) == 0)
            for (size_t i = 0; i < step; i++)
                fprintf(f, "\\\\x%02x", (unsigned char)s[i]);
        else if (*s == '<')
            fputs("&lt;", f);
        else if (*s == '&')
            fputs("&amp;", f);
        else if (strchr("|\\`*_[]~", *s) != NULL)
            fprintf(f, "\\%c", *s);
        else
            fwrite(s, 1, step, f);
    }
}

static void put_cell(FILE *f, const char *s)
{
    fputc(' ', f);
    put_text(f, s);
    fputs(" |", f);
}

static void put_settings(FILE *f, const char *op, const struct compare_setting *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!compare_is_limit(s[i].kind))
            continue;
        fputs("- ", f);
        put_text(f, op);
        fprintf(f, "%s%s: %s\n", *op != '\0' ? ": " : "", compare_words_setting(s[i].kind),
                compare_words_setting_change(&s[i]).s);
    }
}

static void put_findings(FILE *f, const struct compare *c)
{
    for (size_t i = 0; i < compare_n_runs(c); i++) {
        const struct compare_side *s = compare_side_of(c, i);
        const struct run *r = compare_nth_run(c, i);

        for (size_t k = 0; k < r->findings.n; k++) {
            const struct finding *x = &r->findings.v[k];
            fprintf(f, "- %s: ", headline_severity(x));
            put_text(f, s->name);
            fputs(s->n > 1 ? ", " : "", f);
            put_text(f, s->n > 1 ? r->path : "");
            fputs(": ", f);
            put_text(f, x->sentence);
            fputc('\n', f);
        }
    }
}

/* What must be known before the figures are read: faults above all. */
static void put_faults(FILE *f, const struct compare *c)
{
    size_t n_faulty = compare_n_faulty(c);
    if (n_faulty > 0)
        fprintf(f, "**%s.**\n", compare_words_faulty(c).s);
    for (size_t k = 0; k < c->n_ops; k++) {
        put_text(f, compare_words_without_faults(&c->ops[k]).s);
        fputs(c->ops[k].has_clear ? "\n" : "", f);
    }
    fputs(n_faulty > 0 ? "\n" : "", f);
    put_findings(f, c);
    fputc('\n', f);
}

static void put_head(FILE *f, const struct compare *c)
{
    put_faults(f, c);
    if (compare_n_limits(c) > 0) {
        fputs("The configurations differ, which limits the comparison:\n\n", f);
        put_settings(f, "", c->settings, c->n_settings);
        for (size_t i = 0; i < c->n_options; i++) {
            const struct compare_option *o = &c->options[i];
            const char *const parts[] = {"- Option ", o->name, ": ", o->before, " -> ", o->after};

            for (size_t k = 0; o->is_limit && k < sizeof parts / sizeof *parts; k++)
                k % 2 == 0 ? (void)fputs(parts[k], f) : put_text(f, parts[k]);
            fputs(o->is_limit ? "\n" : "", f);
        }
        for (size_t k = 0; k < c->n_ops; k++)
            put_settings(f, c->ops[k].op, c->ops[k].settings, c->ops[k].n_settings);
        fputc('\n', f);
    }
    for (size_t i = 0; i < c->n_warnings; i++) {
        fputs("- Warning: ", f);
        put_text(f, c->warnings[i].message);
        fputs(".\n", f);
    }
    if (c->n_warnings > 0)
        fputc('\n', f);
}

static void put_side(FILE *f, const struct compare_side *s)
{
    fputc(' ', f);
    put_text(f, s->name);
    if (s->n > 1)
        fprintf(f, " (n=%zu)", s->n);
    fputs(" |", f);
}

static void put_metric(FILE *f, const char *op, const struct compare_metric *m)
{
    struct compare_words_row r = compare_words_row(m);
    struct compare_words_text part = compare_words_part(m->part);

    fputs("| ", f);
    put_text(f, op);
    fputs(*part.s != '\0' ? " " : "", f);
    put_text(f, part.s);
    fputs(" |", f);
    put_cell(f, r.metric);
    put_cell(f, r.before);
    put_cell(f, r.after);
    put_cell(f, r.change);
    put_cell(f, r.ci);
    put_cell(f, r.p);
    put_cell(f, r.verdict.s);
    fputc('\n', f);
}

void compare_md(const struct compare *c, FILE *f)
{
    put_head(f, c);
    fputs("| Operation | Metric |", f);
    put_side(f, &c->before);
    put_side(f, &c->after);
    fprintf(f, " C%s", c->n_ops > 0 ? compare_words_change(&c->ops[0]) + 1 : "hange");
    fputs(" | 95% CI | p | Verdict |\n|---|---|---:|---:|---:|---|---|---|\n", f);
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->ops[k].n_metrics; i++)
            put_metric(f, c->ops[k].op, &c->ops[k].metrics[i]);
    fputc('\n', f);
    put_text(f, compare_words_notes(c).s);
    if (c->n_family > 0)
        fprintf(f, " %s %s", compare_words_ci, compare_words_p);
    if (c->single && c->noise == STATS_NOISE_UNKNOWN)
        fprintf(f, " %s", compare_words_noise);
    fputc('\n', f);
    if (c->has_gate)
        fprintf(f, "\n%s\n", compare_words_gate(c).s);
    fputs("\n**", f);
    put_text(f, compare_words_answer(c, SIZE_MAX).s);
    fputs("**\n", f);
}
