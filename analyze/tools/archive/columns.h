/* The columns of `table`: one list for the tables of all formats, --sort and --where. */
#ifndef S3_ANALYZE_TOOLS_ARCHIVE_COLUMNS_H
#define S3_ANALYZE_TOOLS_ARCHIVE_COLUMNS_H

#include "analyze/base/phrase.h"
#include "analyze/tools/archive/archive.h"

enum columns_form {
    COLUMNS_TEXT,
    COLUMNS_TIME, /* ns since the epoch */
    COLUMNS_COUNT,
    COLUMNS_SIZE,   /* bytes; a mean where sizes differ */
    COLUMNS_FIGURE, /* with limits; `metric` is its metric */
};

struct column {
    const char *name;  /* as in JSON, CSV, --sort and --where */
    const char *title; /* title for people; both NULL: those of the metric */
    enum columns_form form;
    enum run_metric metric;   /* COLUMNS_FIGURE */
    bool is_detail;           /* text shows it only with -v */
    enum run_setting setting; /* if is_setting */
    bool is_setting;
};
static inline const char *columns_name(const struct column *c)
{
    return c->name != NULL ? c->name : metrics[c->metric].name;
}
static inline const char *columns_title(const struct column *c)
{
    return c->title != NULL ? c->title : metrics[c->metric].title;
}

/* Returns the name with the unit, "p50_ns"; "": the column has none. */
struct phrase columns_unit_name(const struct column *c);

/* Places of columns. */
enum { COLUMNS_OP = 2, COLUMNS_SIZE_OF = 3, COLUMNS_LEVEL = 16 };

extern const struct column columns[];
extern const size_t n_columns;

/* A line: an operation of a run. */
struct columns_row {
    const struct archive_run *run;
    const struct run_kept_op *op;
    size_t place; /* cells.h */
};

/* Returns the level of load: the rate of a run or, if it had none, its concurrency. */
double columns_level(const struct columns_row *row);

/* The value of a column in a row. */
struct columns_value {
    const char *text;         /* COLUMNS_TEXT, borrowed; NULL: nothing */
    struct run_figure number; /* all others; NaN: not known */
    int64_t time_ns;          /* COLUMNS_TIME, to the ns */
    bool is_mean;             /* COLUMNS_SIZE: the requests' sizes differ */
};
struct columns_value columns_get(const struct columns_row *row, const struct column *c);

/* An interval that goes farther from its value than this is wide. Chosen: a difference of two such
 * runs below a third is mostly chance. */
#define COLUMNS_WIDE_FRAC .25

/* A value for people, "12.3ms +- 4.0%"; "-": not known. A brief one has no interval: "~" says that
 * it is wide or not known. */
struct columns_text {
    char s[192];
};
struct columns_text columns_show(const struct column *c, const struct columns_value *v, bool brief);

/* A condition on a row: "p99>20ms", "op=GET", "run!=night-*". */
struct columns_test {
    const struct column *column;
    int order;  /* -1: <, 0: =, 1: > */
    bool equal; /* <=, >=, = */
    bool negated;
    const char *text; /* COLUMNS_TEXT: a pattern as in a shell */
    double value;
};
/* Parses a condition. False: *e says what was expected. */
bool columns_parse_test(const char *text, struct columns_test *out, struct err *e);

/* What rows are sorted or put together by: "p99", "-p99". */
struct columns_order {
    const struct column *column; /* NULL: they keep the order of the runs */
    bool falls;                  /* largest first */
};
/* Parses that, the value of an option. False: *e says which columns there are. */
bool columns_parse_order(const char *option, const char *text, struct columns_order *out,
                         struct err *e);
/* Compares two rows. Unknown values come last. */
int columns_compare(const struct columns_row *a, const struct columns_row *b,
                    struct columns_order by);
/* The same by several orders, up to one without a column; then by run and operation (qsort_r). */
int columns_compare_all(const void *a, const void *b, void *orders);

/* The rows that are shown of an archive. */
struct columns_table {
    const struct archive *archive; /* borrowed */
    const struct cells *cells;     /* shown in place of the rows; NULL: the rows are */
    struct columns_row *rows;      /* the caller frees them */
    size_t n;
    bool csv_safe; /* as in struct csv_out_style */
};
/* Fills in the rows of all runs that meet all conditions. What prepared a benchmark or cleaned up
 * after it is left out, unless a condition is on `op`. */
bool columns_select(struct columns_table *t, const struct columns_test *tests, size_t n_tests,
                    struct columns_order order, struct err *e);

#endif
