#include "analyze/render/report/compare.h"

#include "analyze/tools/compare/words.h"
#include "analyze/write/csv.h"

#include <math.h>

static void put_number(FILE *f, double x)
{
    fputc(',', f);
    csv_out_real(f, x);
}

static void put_side(FILE *f, const struct compare_values *v)
{
    bool has_limits = v->n == 1 && v->one.ci.ok;
    put_number(f, v->center);
    put_number(f, has_limits ? v->one.ci.lo : NAN);
    put_number(f, has_limits ? v->one.ci.hi : NAN);
    fprintf(f, ",%zu", v->n);
}

/* Where a row goes, and how its texts are written. */
struct rows {
    FILE *f;
    struct csv_out_style style;
};

static void put_names(const struct rows *r, const char *op, const char *part, const char *metric)
{
    csv_out_text(r->f, op, r->style);
    fputc(',', r->f);
    csv_out_text(r->f, part, r->style);
    fputc(',', r->f);
    csv_out_text(r->f, metric, r->style);
}

static void put_metric(const struct rows *r, const struct compare_op *op,
                       const struct compare_metric *m)
{
    const struct stats_cmp *c = &m->cmp;
    bool ratio = !c->is_difference;
    FILE *f = r->f;

    put_names(r, op->name, compare_words_part(m->part).s, metrics[m->metric].name);
    put_side(f, &m->before);
    put_side(f, &m->after);
    put_number(f, ratio ? exp(c->theta) : NAN);
    put_number(f, ratio && c->ok ? exp(c->lo) : NAN);
    put_number(f, ratio && c->ok ? exp(c->hi) : NAN);
    put_number(f, ratio ? NAN : c->theta);
    put_number(f, ratio || !c->ok ? NAN : c->lo);
    put_number(f, ratio || !c->ok ? NAN : c->hi);
    put_number(f, c->ok ? c->p : NAN);
    put_number(f, m->p_holm);
    put_number(f, c->break_even);
    put_number(f, m->mde_frac);
    fprintf(f, ",%s,", compare_words_verdict_code(m));
    csv_out_text(f, compare_words_verdict(m).s, r->style);
    fputc(',', f);
    csv_out_text(f, compare_words_assumption(m).s, r->style);
    put_number(f, m->before.spread_frac);
    put_number(f, m->after.spread_frac);
    put_number(f, ratio ? exp(compare_theta(m)) : compare_theta(m));
    fprintf(f, ",%s\n", metrics[m->metric].unit);
}

/* Writes a figure without a verdict. */
static void put_figure(const struct rows *r, const char *op, const char *part, const char *name,
                       const char *unit, double before, double after)
{
    put_names(r, op, part, name);
    put_number(r->f, before);
    fputs(",,,", r->f);
    put_number(r->f, after);
    fputs(",,,", r->f);
    put_number(r->f, after / before);
    fprintf(r->f, ",,,,,,,,,,,,,,,,%s\n", unit);
}

static void put_note(void *ctx, const char *op, const char *sentence)
{
    const struct rows *r = ctx;

    put_names(r, op, "", "note");
    fputs(",,,,,,,,,,,,,,,,,,,,", r->f);
    csv_out_text(r->f, sentence, r->style);
    fputs(",,,,,\n", r->f);
}

bool compare_csv(const struct compare *c, bool safe, FILE *f, struct err *e)
{
    struct rows r = {f, {',', safe}};
    struct compare_figure x;
    struct compare_mean mean;
    char part[64];

    fputs("op,part,metric,before,before_lo,before_hi,before_runs,after,after_lo,after_hi,"
          "after_runs,ratio,ratio_lo,ratio_hi,difference,difference_lo,difference_hi,p,p_holm,"
          "break_even_run_cv,mde,verdict,verdict_text,method,before_spread,after_spread,change,"
          "unit\n",
          f);
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < c->ops[k].n_metrics; i++)
            put_metric(&r, &c->ops[k], &c->ops[k].metrics[i]);
    for (size_t k = 0; k < c->n_ops; k++)
        for (size_t i = 0; i < n_metrics; i++)
            if (compare_sheet_figure(&c->ops[k], i, &x))
                put_figure(&r, c->ops[k].name, "", x.name, metrics[i].unit, x.before, x.after);
    for (size_t i = 0; i < RUN_N_COMPARED; i++) {
        if (!compare_sheet_mean(c, i, &mean))
            continue;
        snprintf(part, sizeof part, "geometric mean over %zu operations", mean.n_ops);
        put_figure(&r, "", part, metrics[i].name, metrics[i].unit, mean.before, mean.after);
    }
    put_note(&r, "", compare_words_answer(c).s);
    return compare_sheet_each_note(c, put_note, &r, e);
}
