/* Shared by recfile.c (threads and their units), recunit.c (reading one unit), seam.c (rows that
 * span two units) and recstate.c (what a unit holds). Each calls only those named after it. */
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

/* Threads of requests whose own are not known, in order of the ends of their last requests. */
struct lane {
    int64_t free_ns;
    uint32_t number;
};

/* The state at the end of a unit's text, from which the next unit goes on. */
struct seam {
    struct rowtext carry; /* the beginning of a row */
    bool dropped;         /* damage came last: the next text may be the rest of a row */
    bool skip_line;       /* inside a row that is being skipped */
    uint64_t n_lines;     /* newlines before `carry` */
};

struct recunit {
    uint64_t index;
    uint64_t start, end; /* bytes of the file */
    uint64_t position;   /* read so far */
    bool is_last;
    bool head;    /* all before it is committed, the row across the seam included */
    bool done;    /* read to its end, or stopped; waits for its turn */
    bool misread; /* read on a wrong assumption: must be read again as the head */
    struct recfile_layout layout, end_layout;
    bool has_layout;
    struct rowtext first_line; /* text up to the first newline, included; unused if head */
    bool has_first_line;
    uint64_t n_seam_rows; /* rows across the seam before it; not in n_rows */
    bool seam_unverified; /* the frame in which the first line ends fails its checksum */
    struct seam
        seam;     /* at its end; lines are counted from behind first_line unless it is the head */
    void **sinks; /* one for the rows below each header line */
    struct recfile_layout *layouts; /* of each sink's rows */
    size_t n_sinks;
    size_t n_held; /* rows that are not committed yet */
    struct rowtext comments[UNIT_MAX_COMMENTS];
    size_t n_comments;
    bool failed, error_has_line;
    uint64_t error_line;
    struct err error;
    /* The members of the same names in struct recfile_info. */
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
    struct zsource_near near; /* buffer for finding where units end */
    uint64_t turn;            /* index of the first unit that is not committed */
    bool no_more, stop, committing;
    struct recunit **ahead;       /* the units from `turn` on, at index % max_ahead */
    struct recfile_layout layout; /* of the committed text */
    bool has_layout;
    struct err error;
    uint64_t n_read; /* compressed bytes */

    /* Only the thread that commits may use these. */
    struct seam seam;
    uint32_t input;
    struct lane *lanes;
    size_t n_lanes, lanes_cap;
};

/* One reading thread and what it needs. */
struct recworker {
    struct reader *reader;
    struct recunit *unit; /* the one it is reading */
    struct rowparse parse;
    struct rowparse_events events;
    struct chunks chunks;
    /* The checksum of a frame's content is the low 32 bits of XXH64 (RFC 8878, 3.1.1). It is
     * checked here and not by libzstd: so the parsing thread computes it, and a frame that fails
     * does not lose its rows. */
    XXH64_state_t *checksum;
    uint64_t frame_first_row;
    bool in_first_line; /* the frame began within the unit's first line */
};

/* ---- recstate.c: what a unit holds, and how it failed ---- */

bool rowtext_add(struct rowtext *t, const char *s, size_t n);
void rowtext_fini(struct rowtext *t);

/* Fail the unit; the first failure counts. Return false. */
bool recstate_fail(struct recunit *u, const char *why);
bool recstate_fail_at(struct recunit *u, uint64_t line, const char *why);
/* Said if the first damage comes before the header line. */
#define RECSTATE_NOTHING_READ "nothing before it can be read"

/* Like recstate_fail, with a message that mentions --salvage. */
bool recstate_fail_damaged(struct recunit *u, uint64_t line, const char *why);

/* With salvage: counts something dropped and returns true. Without: fails the unit. */
bool recstate_drop(struct reader *r, struct recunit *u, enum recfile_drop what, uint64_t line,
                   const char *why);

/* Add a sink for the unit's rows up to the next header line; commit sink i; pass on a comment line.
 * False: the unit has failed. */
bool recstate_add_sink(struct reader *r, struct recunit *u);
bool recstate_commit_sink(struct reader *r, struct recunit *u, size_t i);
bool recstate_emit_comment(struct reader *r, struct recunit *u, const char *line, size_t n);

/* Makes a header line valid for all text after it. False: the unit has failed. */
bool recstate_publish_layout(struct reader *r, struct recunit *u,
                             const struct recfile_layout *layout);

/* Adds what the unit counted to the reader's info. */
void recstate_add_counts(struct reader *r, const struct recunit *u);
void recstate_fini(struct reader *r, struct recunit *u);

/* ---- seam.c: rows that span two units ---- */

/* Skips the rest of a row whose beginning was lost or is too long. Returns how many bytes. */
size_t seam_skip_rest_of_row(struct rowparse *p, struct seam *seam, const char *text, size_t n);

/* Call this when all units before u are committed. Parses the row across the seam, commits what u
 * holds and makes u the head. False: failed or misread. */
bool seam_become_head(struct reader *r, struct recunit *u);

/* Makes a unit that holds too much wait for its turn and become the head. False: failed, misread,
 * or the reader stops. */
bool seam_take_turn(struct recworker *w);

/* ---- recunit.c: reading one unit ---- */

/* The parser's events; their ctx is the worker. */
extern const struct rowparse_events recunit_events;

/* Reads the worker's unit to its end; a head unit goes on from the reader's seam. False: the unit
 * has failed or is misread, or the reader stops. */
bool recunit_run(struct recworker *w);

#endif
