/* Shared by recfile.c (threads and their units), recunit.c (reading one unit), seam.c (what lies
 * across two units) and recstate.c (what a unit holds): each calls only those behind it. */
#ifndef S3_ANALYZE_READ_RECFILE_INTERNAL_H
#define S3_ANALYZE_READ_RECFILE_INTERNAL_H

#include "analyze/read/chunks.h"
#include "analyze/read/recfile.h"
#include "analyze/read/rowparse.h"
#include "analyze/read/zsource.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

/* Comments that a unit may hold before it waits for its turn. */
#define UNIT_MAX_COMMENTS 64

/* A string that grows. */
struct rowtext {
    char *s;
    size_t n, cap;
};

/* What is open where the text of a unit ends, for the next one. */
struct seam {
    struct rowtext carry; /* the beginning of a row */
    bool dropped;         /* after damage: what comes next may be the rest of a row */
    bool skip_line;       /* inside a row that is too long */
    uint64_t n_lines;     /* newlines before `carry` */
};

struct recunit {
    uint64_t index;
    uint64_t start, end; /* bytes of the file */
    uint64_t position;   /* read so far */
    bool is_last;
    bool head;    /* its predecessors are committed, and so is the seam */
    bool done;    /* read as far as it goes; waits for its turn */
    bool misread; /* begun on a wrong assumption: must be read again as the head */
    struct recfile_layout layout, end_layout;
    bool has_layout;
    struct rowtext first_line; /* not of a head unit: the text up to and with the first newline */
    bool has_first_line;
    uint64_t n_seam_rows; /* at its beginning: not in n_rows */
    bool seam_unverified; /* the frame that the first line ends in fails its checksum */
    struct seam
        seam;     /* at its end; lines are counted from behind first_line unless it is the head */
    void **sinks; /* one for the rows below each header line */
    struct recfile_layout *layouts; /* of each sink's rows */
    size_t n_sinks;
    size_t n_held; /* rows */
    struct rowtext comments[UNIT_MAX_COMMENTS];
    size_t n_comments;
    bool failed, error_has_line;
    uint64_t error_line;
    struct err error;
    /* As in struct recfile_info. */
    uint64_t n_rows, n_text_bytes, n_frames, n_skippable, n_unverified;
    uint32_t n_headers;
    bool has_intended;
    uint64_t n_dropped[N_DROPS];
    uint64_t drop_line[N_DROPS]; /* of the first of each kind */
    char drop_why[N_DROPS][200];
};

struct reader {
    const struct recfile_options *options;
    const struct recfile_sink *sink;
    struct recfile_info *info;
    struct zsource source;
    unsigned n_threads, max_ahead;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t next_start;      /* of the next unit */
    uint64_t n_units;         /* handed out */
    struct zsource_near near; /* where the next unit begins */
    uint64_t turn;            /* units before it are committed */
    bool no_more, stop, committing;
    struct recunit **ahead;       /* the units from `turn` on, at index % max_ahead */
    struct recfile_layout layout; /* of the committed text */
    bool has_layout;
    struct err error;
    uint64_t n_read; /* compressed bytes */

    /* These belong to whoever has the turn. */
    struct seam seam;
    uint32_t input;
};

/* One reading thread and what it needs. */
struct recworker {
    struct reader *reader;
    struct recunit *unit; /* at work on */
    struct rowparse parse;
    struct rowparse_events events;
    struct chunks chunks;
    /* Content checksums of frames are the low 32 bits of XXH64 (RFC 8878, 3.1.1). They are checked
     * here rather than in libzstd, so that the thread that parses computes them, and the rows of a
     * frame that fails are not lost. */
    XXH64_state_t *checksum;
    uint64_t frame_first_row;
    bool in_first_line; /* of the unit, where the frame begins */
};

/* ---- recstate.c: what a unit holds, and how it failed ---- */

bool rowtext_add(struct rowtext *t, const char *s, size_t n);
void rowtext_fini(struct rowtext *t);

/* The first failure of a unit counts. These are always false. */
bool recstate_fail(struct recunit *u, const char *why);
bool recstate_fail_at(struct recunit *u, uint64_t line, const char *why);
/* The message also says how to read the rest of a damaged capture. */
bool recstate_fail_damaged(struct recunit *u, uint64_t line, const char *why);

/* Counts what salvage drops; without salvage the unit fails. */
bool recstate_drop(struct reader *r, struct recunit *u, enum recfile_drop what, uint64_t line,
                   const char *why);

/* Where the rows go from here on, until the next header line. */
bool recstate_add_sink(struct reader *r, struct recunit *u);
bool recstate_commit_sink(struct reader *r, struct recunit *u, size_t i);
bool recstate_emit_comment(struct reader *r, struct recunit *u, const char *line, size_t n);

/* Makes a header line count for all that follows. */
bool recstate_publish_layout(struct reader *r, struct recunit *u,
                             const struct recfile_layout *layout);

/* Adds what the unit counted to the reader's info. */
void recstate_add_counts(struct reader *r, const struct recunit *u);
void recstate_fini(struct reader *r, struct recunit *u);

/* ---- seam.c: what lies across two units ---- */

/* Passes over the rest of a row whose beginning was lost or is too long. Returns what it passed. */
size_t seam_skip_rest_of_row(struct rowparse *p, struct seam *seam, const char *text, size_t n);

/* All before unit u is committed: joins it to that, commits what it holds and makes it the head.
 * False: failed or misread. */
bool seam_become_head(struct reader *r, struct recunit *u);

/* For a unit that holds many rows: waits until it is the head. False: failed, misread, or the
 * reader stops. */
bool seam_take_turn(struct recworker *w);

/* ---- recunit.c: reading one unit ---- */

/* What the parser tells goes to the worker that is its ctx. */
extern const struct rowparse_events recunit_events;

/* Reads the worker's unit to its end; a head unit goes on from the reader's seam. False: stopped
 * (the unit has failed or is misread, or the reader stops). */
bool recunit_run(struct recworker *w);

#endif
