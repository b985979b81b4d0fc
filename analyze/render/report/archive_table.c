#include "analyze/render/report/archive.h"

#include "analyze/tools/archive/cells.h"
#include "analyze/write/csv.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"

void archive_sheet_unread(struct sheet *s, const struct archive *a)
{
    if (a->n_unread > 0)
        sheet_line(s, TEXT_WARNING,
                   "%s could not be read:", units_counted((int64_t)a->n_unread, "file").s);
    for (size_t i = 0; i < a->n_unread; i++)
        sheet_item(s, TEXT_WARNING, "%s", a->unread[i].why);
}

static bool has_operations(const struct archive *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->runs[i].kept.n_ops > 0)
            return true;
    return false;
}

/* ---- Systems side by side ---- */

static void put_headings(struct sheet *s, const struct cells *c, const struct metric *m)
{
    const struct columns_order *by = c->how->by;
    char align[SHEET_MAX_COLUMNS + 1] = "";
    size_t n = 0;

    for (; by[n].column != NULL; n++)
        align[n] = by[n].column->form == COLUMNS_TEXT ? 'l' : 'r';
    for (size_t k = 0; k < c->n_systems; k++)
        memcpy(align + n + 2 * k, "rR", 3);
    sheet_table(s, align, m->kind == METRIC_QUANTILE ? m->name : m->title);
    sheet_headings(s);
    for (; by->column != NULL; by++)
        sheet_cell(s, "%s", columns_title(by->column));
    for (size_t k = 0; k < c->n_systems; k++)
        SHEET_CELLS(s, c->systems[k], "least, greatest");
}

static void put_line(struct sheet *s, const struct cells *c, const struct cells_line *line)
{
    struct units_text (*text)(double) = metrics[line->metric].text;

    sheet_row(s, TEXT_PLAIN);
    for (const struct columns_order *by = c->how->by; by->column != NULL; by++) {
        const struct columns_value v = columns_get(line->cell, by->column);
        sheet_cell(s, "%s", columns_show(by->column, &v, false).s);
    }
    for (const struct cells_figure *x = line->of; x < line->of + c->n_systems; x++) {
        sheet_cell(s, "%s%s", x == line->best ? "* " : "",
                   x->n == 0       ? "-"
                   : x->is_bounded ? units_bounds(x->least, x->greatest).s
                                   : text(x->median).s);
        sheet_cell(s, "%s%s%s", x->n > 1 ? text(x->least).s : "", x->n > 1 ? " to " : "",
                   x->n > 1 ? text(x->greatest).s : "");
    }
}

/* Writes a table for each metric. */
static void put_cells(struct sheet *s, const struct cells *c)
{
    bool any = false;

    for (size_t i = 0; i < c->n_lines; i++) {
        if (i == 0)
            sheet_line(s, TEXT_PLAIN, "Medians of the runs of each system:");
        if (i % c->n_cells == 0)
            put_headings(s, c, &metrics[c->how->metrics[i / c->n_cells]]);
        put_line(s, c, &c->lines[i]);
        any |= c->lines[i].best != NULL;
    }
    if (c->n_lines > 0)
        sheet_line(s, TEXT_FAINT, "%s",
                   any ? "* better than each other system of its line: Welch's t of the logs of "
                         "the runs, at 5 % over all lines (Holm)"
                   : c->n_systems < 2
                       ? "All runs are of one system: give a folder for each, or s3load a --label"
                       : "No best is marked: none is shown to be better than each other system of "
                         "its line, which takes several runs of each");
    for (size_t i = 0; i < c->n_cells; i++) {
        const struct cells_line *x = &c->lines[i];

        if (x->is_apart)
            sheet_line(s, TEXT_WARNING, "%s: systems differ in %s, %s and %s: no best is marked",
                       cells_name(x->cell, c->how->by).s, x->apart.what, x->apart.a, x->apart.b);
    }
}

/* ---- Runs in lines ---- */

/* Returns the column that people see at place i: operations stand beside their runs. */
static const struct column *shown(size_t i)
{
    return &columns[i == 1 ? 2 : i == 2 ? 1 : i];
}

/* "20 runs from 2026-09-21 to 2026-11-23, 27 lines: 8 runs have a problem, 1 could not be read." */
static void put_answer(struct sheet *s, const struct columns_table *t)
{
    const struct archive *a = t->archive;
    int64_t n_bad = 0;

    for (size_t i = 0; i < a->n; i++)
        n_bad += a->runs[i].kept.has_problem;
    if (a->n == 0)
        return;
    sheet_line(s, TEXT_HEADING, "%s from %.10s to %.10s, %s: %s with a problem%s%s%s.",
               units_counted((int64_t)a->n, "run").s, rfc3339_format(a->runs[0].kept.start_ns).s,
               rfc3339_format(a->runs[a->n - 1].kept.start_ns).s,
               units_counted((int64_t)t->n, "line").s, n_bad > 0 ? units_count(n_bad).s : "none",
               a->n_unread > 0 ? "; " : "",
               a->n_unread > 0 ? units_counted((int64_t)a->n_unread, "file").s : "",
               a->n_unread > 0 ? " could not be read" : "");
}

static void put_rows(struct sheet *s, const struct columns_table *t)
{
    char align[SHEET_MAX_COLUMNS + 1] = "";

    for (size_t i = 0; i < n_columns; i++) {
        const struct column *c = shown(i);

        align[i] = c->form == COLUMNS_TEXT   ? 'k'
                   : c->form == COLUMNS_TIME ? 'L'
                   : c->is_detail            ? 'R'
                                             : 'r';
    }
    put_answer(s, t);
    sheet_table(s, align, "");
    sheet_headings(s);
    for (size_t i = 0; i < n_columns; i++)
        sheet_cell(s, "%s", columns_title(shown(i)));
    for (size_t k = 0; k < t->n; k++) {
        sheet_row(s, t->rows[k].run->kept.has_problem ? TEXT_WARNING : TEXT_PLAIN);
        for (size_t i = 0; i < n_columns; i++) {
            struct columns_value v = columns_get(&t->rows[k], shown(i));

            sheet_cell(s, "%s", columns_show(shown(i), &v, s->brief).s);
        }
    }
    s->when = SHEET_BRIEF;
    sheet_line(
        s, TEXT_FAINT,
        "~: the 95 %% interval is wider than %g %% either way, or not known. -v adds it, and "
        "the start and settings of each run.",
        100 * COLUMNS_WIDE_FRAC);
    s->when = SHEET_ALWAYS;
}

void archive_sheet_table(struct sheet *s, const void *table)
{
    const struct columns_table *t = table;
    bool of_response = false;

    if (t->cells != NULL)
        put_cells(s, t->cells);
    else
        put_rows(s, t);
    for (size_t k = 0; k < t->n; k++)
        of_response |= t->rows[k].op->of_response;
    if (t->n == 0)
        sheet_line(s, TEXT_PLAIN, "No operation of %s %s.",
                   units_counted((int64_t)t->archive->n, "run").s,
                   has_operations(t->archive) ? "meets --where" : "has a request left to analyse");
    if (of_response)
        sheet_line(s, TEXT_FAINT,
                   "Percentiles of runs at a fixed rate: response times, from the intended start");
    archive_sheet_unread(s, t->archive);
}

static void put_value(FILE *f, const struct column *c, const struct columns_value *v,
                      struct csv_out_style style)
{
    if (c->form == COLUMNS_TEXT) {
        csv_out_text(f, v->text != NULL ? v->text : "", style);
    } else if (c->form == COLUMNS_TIME) {
        fputs(rfc3339_format(v->time_ns).s, f);
    } else {
        csv_out_real(f, v->number.value);
    }
    if (c->form != COLUMNS_FIGURE)
        return;
    fputc(style.delimiter, f);
    csv_out_real(f, v->number.lo);
    fputc(style.delimiter, f);
    csv_out_real(f, v->number.hi);
}

static void put_cells_csv(FILE *f, const struct cells *c, struct csv_out_style style)
{
    for (const struct columns_order *by = c->how->by; by->column != NULL; by++)
        fprintf(f, "%s,", columns_name(by->column));
    fputs("label,metric,unit,runs,median,least,greatest,is_best\n", f);
    for (size_t i = 0; i < c->n_lines * c->n_systems; i++) {
        const struct cells_line *line = &c->lines[i / c->n_systems];
        const struct cells_figure *x = &c->figures[i];
        const double v[] = {x->median, x->least, x->greatest};

        for (const struct columns_order *by = c->how->by; by->column != NULL; by++) {
            const struct columns_value key = columns_get(line->cell, by->column);

            put_value(f, by->column, &key, style);
            fputc(',', f);
        }
        csv_out_text(f, c->systems[i % c->n_systems], style);
        fprintf(f, ",%s,%s,%zu,", metrics[line->metric].name, metrics[line->metric].unit, x->n);
        for (size_t k = 0; k < 3; k++) {
            csv_out_real(f, v[k]);
            fputc(',', f);
        }
        fprintf(f, "%d\n", x == line->best);
    }
}

static void put_names(FILE *f, const struct column *c, const char *name)
{
    fputs(name, f);
    if (c->form == COLUMNS_FIGURE)
        fprintf(f, ",%s_lo,%s_hi", name, name);
}

bool archive_table_csv(const void *table, FILE *f, struct err *e)
{
    const struct columns_table *t = table;
    const struct csv_out_style style = {',', t->csv_safe};

    (void)e;
    if (t->cells != NULL) {
        put_cells_csv(f, t->cells, style);
        return true;
    }
    /* Columns with a unit come once more at the end of a line, with the unit in their names. */
    for (size_t i = 0; i < 2 * n_columns; i++) {
        const struct column *c = &columns[i % n_columns];
        const struct phrase with_unit = columns_unit_name(c);

        if (i < n_columns || with_unit.s[0] != '\0') {
            fputs(i > 0 ? "," : "", f);
            put_names(f, c, i < n_columns ? columns_name(c) : with_unit.s);
        }
    }
    for (size_t k = 0; k < t->n; k++)
        for (size_t i = 0; i < 2 * n_columns; i++) {
            const struct column *c = &columns[i % n_columns];
            struct columns_value v = columns_get(&t->rows[k], c);

            if (i < n_columns || columns_unit_name(c).s[0] != '\0') {
                fputc(i > 0 ? ',' : '\n', f);
                put_value(f, c, &v, style);
            }
        }
    fputc('\n', f);
    return true;
}
