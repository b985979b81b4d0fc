/* CSV of requests: a name and a type in each cell of the header, times as whole ns since 1970, and
 * empty cells for what is not known, so that any engine can write it as Parquet. */
#include "analyze/export/export.h"

#include "analyze/write/csv.h"
#include "libcommon/mem.h"

#include <inttypes.h>
#include <stdlib.h>

/* RECORD_NO_TIME is an empty cell. */
enum type { TEXT, THREAD, NUMBER };
static const char *const type_names[] = {"string", "uint32", "int64"};

static const struct column {
    const char *name;
    enum type type;
    size_t offset;
} columns[] = {
    {"op", TEXT, offsetof(struct record, op)},
    {"thread", THREAD, offsetof(struct record, thread)},
    {"client", TEXT, offsetof(struct record, client)},
    {"host", TEXT, offsetof(struct record, endpoint)},
    {"key", TEXT, offsetof(struct record, file)},
    {"error", TEXT, offsetof(struct record, error)},
    {"n_objects", NUMBER, offsetof(struct record, n_objects)},
    {"bytes", NUMBER, offsetof(struct record, bytes)},
    {"start_ns", NUMBER, offsetof(struct record, start_ns)},
    {"end_ns", NUMBER, offsetof(struct record, end_ns)},
    {"first_byte_ns", NUMBER, offsetof(struct record, first_byte_ns)},
    {"last_byte_ns", NUMBER, offsetof(struct record, last_byte_ns)},
    {"intended_ns", NUMBER, offsetof(struct record, intended_ns)},
};
#define N_COLUMNS_OUT (sizeof columns / sizeof *columns)

void rows_csv_begin(FILE *f)
{
    for (size_t i = 0; i < N_COLUMNS_OUT; i++)
        fprintf(f, "%s%s:%s", i > 0 ? "," : "", columns[i].name, type_names[columns[i].type]);
    fputs("\n", f);
}

static bool put_text(FILE *f, struct slice s, struct err *e)
{
    char *text = strndup(s.p, s.n);

    if (text == NULL)
        return mem_none(e);
    csv_out_text(f, text, (struct csv_out_style){.delimiter = ','});
    free(text);
    return true;
}

bool rows_csv_put(const struct record *r, FILE *f, struct err *e)
{
    for (size_t i = 0; i < N_COLUMNS_OUT; i++) {
        const char *at = (const char *)r + columns[i].offset;

        if (i > 0)
            putc(',', f);
        if (columns[i].type == TEXT) {
            if (!put_text(f, *(const struct slice *)at, e))
                return false;
        } else if (columns[i].type == THREAD) {
            fprintf(f, "%" PRIu32, *(const uint32_t *)at);
        } else if (*(const int64_t *)at != RECORD_NO_TIME) {
            fprintf(f, "%" PRId64, *(const int64_t *)at);
        }
    }
    putc('\n', f);
    return true;
}
