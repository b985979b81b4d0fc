/* The columns of `table`: one list for the tables of all formats, --sort and --where. */
#ifndef S3_ANALYZE_ARCHIVE_COLUMNS_H
#define S3_ANALYZE_ARCHIVE_COLUMNS_H

#include "analyze/archive/archive.h"

enum columns_form {
    COLUMNS_TEXT,
    COLUMNS_TIME, /* ns since the epoch */
    COLUMNS_COUNT,
    COLUMNS_SIZE,   /* bytes; a mean where sizes differ */
    COLUMNS_FIGURE, /* with limits; `metric` is its metric */
};

struct column {
    const char *name;  /* as in JSON, CSV, --sort and --where */
    const char *title; /* title for people */
    enum columns_form form;
    enum run_metric metric;            /* COLUMNS_FIGURE */
    bool is_detail;                    /* text shows it only with -v */
    enum compare_setting_kind setting; /* if is_setting */
    bool is_setting;
};

extern const struct column columns[];
extern const size_t n_columns;

/* A line: an operation of a run. */
struct columns_row {
    const struct archive_run *run;
    const struct archive_op *op;
};

/* The value of a column in a row. */
struct columns_value {
    const char *text;             /* COLUMNS_TEXT; NULL: nothing. Borrowed, or in `label` */
    struct archive_figure number; /* all others; NaN: not known */
    int64_t time_ns;              /* COLUMNS_TIME, to the ns */
    bool is_mean;                 /* COLUMNS_SIZE: the requests' sizes differ */
    struct archive_label label;
};
void columns_get(const struct columns_row *row, const struct column *c, struct columns_value *out);

/* A value for people, "12.3ms +- 4.0%"; "-": not known. */
struct columns_text {
    char s[192];
};
struct columns_text columns_show(const struct column *c, const struct columns_value *v);

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

/* Makes the rows of all runs, in their order, that meet all conditions; sorted by a column ("p99";
 * "-p99": largest first; NULL: not). The caller frees *rows. */
bool columns_rows(struct columns_row **rows, size_t *n, const struct archive *a,
                  const struct columns_test *tests, size_t n_tests, const char *sort,
                  struct err *e);
/* Checks the name of a column. False: *e says which columns there are. */
bool columns_check_sort(const char *sort, struct err *e);

#endif
