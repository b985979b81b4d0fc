/* A report as data: headings, sentences, lists and tables, in the order in which people read them.
 * A subject builds it once; writers put it as text, Markdown or HTML and know no subject. So every
 * format has the same figures, notes and verdicts.
 *
 * Errors stick: out of memory sets `failed`, and nothing is added from then on. */
#ifndef S3_ANALYZE_WRITE_SHEET_H
#define S3_ANALYZE_WRITE_SHEET_H

#include "analyze/write/text.h"
#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum sheet_kind {
    SHEET_TITLE, /* of a section */
    SHEET_LINE,
    SHEET_GAP,
    SHEET_ITEM, /* of a list */
    SHEET_TABLE,
    SHEET_HEADINGS, /* a row */
    SHEET_ROW,
    SHEET_SPAN, /* a row that is one text */
    SHEET_CELL,
    SHEET_FOLD, /* HTML folds what follows, up to the end */
    SHEET_FOLD_END,
};

/* Text for a terminal may be brief. All other formats hold all the details. */
enum sheet_when {
    SHEET_ALWAYS,
    SHEET_DETAIL, /* with -v, and in all formats but text */
    SHEET_BRIEF,  /* in text without -v: says what was left out */
};

/* 16 bytes: a page of many hosts has dozens of entries for each of them. */
struct sheet_entry {
    const char *text; /* in a block of the sheet */
    enum sheet_kind kind : 8;
    enum sheet_when when : 8;
    enum text_style style : 8;
    bool has_more; /* sheet_more */
};

struct sheet {
    struct sheet_entry *v;
    size_t n, cap;
    struct sheet_block *blocks; /* of texts, the newest first */
    char *room;                 /* what is left of that one */
    size_t n_room;
    enum sheet_when when; /* of the entries to come */
    bool brief;           /* for text without -v: no detail is kept */
    bool failed;
};

void sheet_free(struct sheet *s);

void sheet_title(struct sheet *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sheet_line(struct sheet *s, enum text_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void sheet_item(struct sheet *s, enum text_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* An empty line, where text and Markdown want one. */
void sheet_gap(struct sheet *s);

/* Begins a table; rows follow, up to the next entry that is none. `align` has a letter a column: l
 * or r, w for text that may be broken, and capitals for columns that are details. `title` "": none.
 * A column whose rows are all empty is not written. */
void sheet_table(struct sheet *s, const char *align, const char *title);
void sheet_headings(struct sheet *s);
void sheet_row(struct sheet *s, enum text_style style);
void sheet_cell(struct sheet *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Cells of texts as they stand, up to a NULL; and rows of such. */
void sheet_cells(struct sheet *s, const char *const *texts);
#define SHEET_CELLS(s, ...)      sheet_cells(s, (const char *const[]){__VA_ARGS__, NULL})
#define SHEET_HEADINGS(s, ...)   (sheet_headings(s), SHEET_CELLS(s, __VA_ARGS__))
#define SHEET_ROW(s, style, ...) (sheet_row(s, style), SHEET_CELLS(s, __VA_ARGS__))
/* Gives the last cell markup, a link or a picture, which HTML has in place of its text: what `put`
 * writes. */
typedef void sheet_put(FILE *f, const void *ctx, size_t k);
void sheet_markup(struct sheet *s, sheet_put *put, const void *ctx, size_t k);
void sheet_span(struct sheet *s, enum text_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

void sheet_fold(struct sheet *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sheet_fold_end(struct sheet *s);

/* ---- Writers: false where the sheet has failed ---- */

bool sheet_write_text(const struct sheet *s, struct text *out, bool verbose, struct err *e);
/* A table's id is `section`, then its title's words up to a comma or full stop, as in
 * "op0-requests-by-size". A section has one table of a title. */
bool sheet_write_html(const struct sheet *s, FILE *f, const char *section, struct err *e);
bool sheet_write_markdown(const struct sheet *s, FILE *f, struct err *e);

/* ---- For writers ---- */

#define SHEET_MAX_COLUMNS 32

/* Goes through the rows of a table: its headings, rows, and rows that are one text. */
struct sheet_rows {
    const struct sheet *s;
    const char *align;
    size_t n_columns, n_used; /* used: that are to be written */
    bool used[SHEET_MAX_COLUMNS];
    bool verbose;
    size_t next, end; /* entries: after this row, after the table */
    /* ---- The row ---- */
    const struct sheet_entry *row;
    const struct sheet_entry *cells[SHEET_MAX_COLUMNS]; /* NULL: it does not have this one */
};

/* Begins before the first row of the table at entry i; sets t->end in any case. False: nothing of
 * the table is to be written. */
bool sheet_rows_begin(struct sheet_rows *t, const struct sheet *s, size_t i, bool verbose);
/* Goes to the next row that is to be written. False: there is none. */
bool sheet_rows_next(struct sheet_rows *t);

/* The second text of an entry. A table: its `align`. A cell: the markup that HTML has in place of
 * its text; NULL: none. */
static inline const char *sheet_more(const struct sheet_entry *x)
{
    return x->has_more ? x->text + strlen(x->text) + 1 : NULL;
}

/* Whether an entry is to be written. */
static inline bool sheet_is_shown(const struct sheet_entry *x, bool verbose)
{
    return x->when == SHEET_ALWAYS || (x->when == SHEET_DETAIL) == verbose;
}

#endif
