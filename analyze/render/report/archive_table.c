#include "analyze/render/report/archive.h"

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

void archive_sheet_table(struct sheet *s, const void *table)
{
    const struct columns_table *t = table;
    char align[SHEET_MAX_COLUMNS + 1] = "";
    bool of_response = false;

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
        of_response |= t->rows[k].op->of_response;
        sheet_row(s, t->rows[k].run->kept.has_problem ? TEXT_WARNING : TEXT_PLAIN);
        for (size_t i = 0; i < n_columns; i++) {
            struct columns_value v = columns_get(&t->rows[k], shown(i));

            sheet_cell(s, "%s", columns_show(shown(i), &v, s->brief).s);
        }
    }
    if (t->n == 0)
        sheet_line(s, TEXT_PLAIN, "No operation of %s %s.",
                   units_counted((int64_t)t->archive->n, "run").s,
                   has_operations(t->archive) ? "meets --where" : "has a request left to analyse");
    s->when = SHEET_BRIEF;
    sheet_line(
        s, TEXT_FAINT,
        "~: the 95 %% interval is wider than %g %% either way, or not known. -v adds it, and "
        "the start and settings of each run.",
        100 * COLUMNS_WIDE_FRAC);
    s->when = SHEET_ALWAYS;
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

/* Columns with a unit come once more at the end of a line, with the unit in their names. */
static const char *unit_of(const struct column *c)
{
    return c->form == COLUMNS_FIGURE ? metrics[c->metric].unit
           : c->form == COLUMNS_SIZE ? "bytes"
                                     : "";
}

bool archive_table_csv(const void *table, FILE *f, struct err *e)
{
    const struct columns_table *t = table;
    const struct csv_out_style style = {',', t->csv_safe};

    (void)e;
    for (size_t i = 0; i < n_columns; i++) {
        const char *name = columns_name(&columns[i]);

        fprintf(f, i > 0 ? ",%s" : "%s", name);
        if (columns[i].form == COLUMNS_FIGURE)
            fprintf(f, ",%s_lo,%s_hi", name, name);
    }
    for (size_t i = 0; i < n_columns; i++)
        if (*unit_of(&columns[i]) != '\0')
            fprintf(f, columns[i].metric == RUN_OBJECTS ? ",%.0s%s" : ",%s_%s",
                    columns_name(&columns[i]), unit_of(&columns[i]));
    fputc('\n', f);
    for (size_t k = 0; k < t->n; k++) {
        for (size_t i = 0; i < n_columns; i++) {
            struct columns_value v = columns_get(&t->rows[k], &columns[i]);

            if (i > 0)
                fputc(',', f);
            put_value(f, &columns[i], &v, style);
        }
        for (size_t i = 0; i < n_columns; i++)
            if (*unit_of(&columns[i]) != '\0') {
                fputc(',', f);
                csv_out_real(f, columns_get(&t->rows[k], &columns[i]).number.value);
            }
        fputc('\n', f);
    }
    return true;
}
