/* A report as data: headings, sentences, lists and tables, in the order in which people read them.
 * The code that knows the subject builds it once; the writers for text, Markdown and HTML know
 * nothing of the subject. So all formats show the same figures, notes and verdicts.
 *
 * Errors stick: out of memory sets `failed`, and nothing more is added. */
#ifndef S3_ANALYZE_WRITE_SHEET_H
#define S3_ANALYZE_WRITE_SHEET_H

#include "libcommon/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum text_style { TEXT_PLAIN, TEXT_HEADING, TEXT_FAINT, TEXT_GOOD, TEXT_WARNING, TEXT_ERROR };

enum sheet_kind {
    SHEET_TITLE, /* of a section */
    SHEET_LINE,
    SHEET_GAP,
    SHEET_ITEM, /* of a list */
    SHEET_VERDICT,
    SHEET_TABLE,
    SHEET_HEADINGS, /* a row */
    SHEET_ROW,
    SHEET_SPAN, /* a row that is one text */
    SHEET_CELL,
    SHEET_FOLD, /* HTML and Markdown fold what follows, up to SHEET_FOLD_END */
    SHEET_FOLD_END,
};

/* When an entry is written. Text for a terminal may be brief; all other formats show all details.
 */
enum sheet_when {
    SHEET_ALWAYS,
    SHEET_DETAIL, /* with -v, and in all formats but text */
    SHEET_BRIEF,  /* only in text without -v: says what was left out */
};

/* 16 bytes: a page of many hosts has dozens of entries for each of them. */
struct sheet_entry {
    const char *text; /* in a block of the sheet */
    enum sheet_kind kind : 8;
    enum sheet_when when : 8;
    enum text_style style : 8;
    bool has_more; /* a second text follows: sheet_more */
};

struct sheet {
    struct sheet_entry *v;
    size_t n, cap;
    struct sheet_block *blocks; /* memory of the texts, the newest first */
    char *room;                 /* unused part of the newest block */
    size_t n_room;
    enum sheet_when when; /* for entries added from now on */
    bool brief;           /* for text without -v: details are not kept */
    bool failed;
};

void sheet_free(struct sheet *s);

void sheet_title(struct sheet *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sheet_line(struct sheet *s, enum text_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void sheet_item(struct sheet *s, enum text_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a line for Markdown: a bold text, and what follows it in the same paragraph. */
void sheet_headline(struct sheet *s, const char *bold, const char *rest);

/* Adds what a report concludes: pages show it in a box, with a sign. The colour of every verdict
 * follows from its code: EXIT_FAILED (a problem, slower, missed) is red; EXIT_UNDECIDED (a doubt
 * that limits what may be concluded) is amber; EXIT_DONE is green. */
void sheet_verdict(struct sheet *s, enum exit_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
enum text_style sheet_verdict_style(enum exit_code code);

/* Adds an empty line to text, unless the entry before is one. */
void sheet_gap(struct sheet *s);

/* Begins a table. Its rows follow; the next entry that is not a row ends it. `align` has one letter
 * per column: l (left), r (right), w (left, may wrap) or k (left, a name: stays whole; further
 * names beside the first column stand in each part of a table that is too wide); a capital marks a
 * detail. `title` "": no title. Columns without any text are not written. */
void sheet_table(struct sheet *s, const char *align, const char *title);
void sheet_headings(struct sheet *s);
void sheet_row(struct sheet *s, enum text_style style);
void sheet_cell(struct sheet *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Add a cell for each text, up to a NULL; the macros also begin the row. */
void sheet_cells(struct sheet *s, const char *const *texts);
#define SHEET_CELLS(s, ...)      sheet_cells(s, (const char *const[]){__VA_ARGS__, NULL})
#define SHEET_HEADINGS(s, ...)   (sheet_headings(s), SHEET_CELLS(s, __VA_ARGS__))
#define SHEET_ROW(s, style, ...) (sheet_row(s, style), SHEET_CELLS(s, __VA_ARGS__))
/* Gives the last cell markup, such as a link or a picture, that HTML shows in place of its text.
 * put(f, ctx, k) writes the markup, at once. */
typedef void sheet_put(FILE *f, const void *ctx, size_t k);
void sheet_markup(struct sheet *s, sheet_put *put, const void *ctx, size_t k);
void sheet_span(struct sheet *s, enum text_style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

void sheet_fold(struct sheet *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sheet_fold_end(struct sheet *s);

/* ---- Writers. False: out of memory, perhaps earlier. Write errors stay in the FILE. ---- */

/* Text, with colours and all details or without, or Markdown. */
struct sheet_form {
    bool markdown, colour, verbose;
};

/* Lines and aligned tables. Lines wider than the terminal, or than 80 columns, are wrapped at
 * blanks. Of a table that is too wide the last column wraps, or columns follow in a second part
 * below. */
bool sheet_write_text(const struct sheet *s, const struct sheet_form *form, FILE *f, struct err *e);
/* A table's id is `section` and the words of its title up to a comma or full stop, as in
 * "op0-requests-by-size". So table titles must differ within a section. */
bool sheet_write_html(const struct sheet *s, FILE *f, const char *section, struct err *e);
bool sheet_write_markdown(const struct sheet *s, FILE *f, struct err *e);

/* Whether text on `f` should be coloured: f is a terminal with colours, and NO_COLOR is not set. */
bool sheet_wants_colour(FILE *f);

/* Writes the sheet as text or Markdown, then frees it. */
bool sheet_end(struct sheet *s, const struct sheet_form *form, FILE *f, struct err *e);

/* ---- For writers ---- */

#define SHEET_MAX_COLUMNS 32

/* Goes through the rows of a table: its headings, rows, and rows that are one text. */
struct sheet_rows {
    const struct sheet *s;
    const char *align;
    size_t n_columns, n_used;     /* all columns; those that are written */
    bool used[SHEET_MAX_COLUMNS]; /* whether a column is written */
    bool verbose;
    size_t next, end; /* the entry after this row, and the one after the table */
    /* ---- The row ---- */
    const struct sheet_entry *row;
    const struct sheet_entry *cells[SHEET_MAX_COLUMNS]; /* NULL: the row has no such cell */
};

/* Starts before the first row of the table at entry i. Always sets t->end. False: nothing of the
 * table is written. */
bool sheet_rows_begin(struct sheet_rows *t, const struct sheet *s, size_t i, bool verbose);
/* Goes to the next row that is written. False: no more rows. */
bool sheet_rows_next(struct sheet_rows *t);

/* Returns the second text of an entry: the `align` of a table, the markup of a cell, or the rest of
 * a headline. NULL: it has none. */
static inline const char *sheet_more(const struct sheet_entry *x)
{
    return x->has_more ? x->text + strlen(x->text) + 1 : NULL;
}

/* Whether an entry is written. */
static inline bool sheet_is_shown(const struct sheet_entry *x, bool verbose)
{
    return x->when == SHEET_ALWAYS || (x->when == SHEET_DETAIL) == verbose;
}

#endif
