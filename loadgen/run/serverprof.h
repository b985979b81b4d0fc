/* Profiles that servers make of themselves while the benchmark runs: --serverprof, by the admin API
 * of MinIO, and --serverprof-url, by net/http/pprof of Go servers. They are saved beside the
 * capture. If a profile cannot be fetched, a line says so, and the run continues. */
#ifndef S3_LOADGEN_RUN_SERVERPROF_H
#define S3_LOADGEN_RUN_SERVERPROF_H

#include "libcommon/err.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <zip.h>

struct bench;

#define SERVERPROF_MAX_URLS 64

/* A Go server. */
struct serverprof_node {
    struct bench *bench;
    char url[512]; /* without /debug/pprof/ */
    pthread_t thread;
    bool started; /* the thread that fetches the CPU profile is running */
    bool failed;  /* a fetch failed, which was reported */
};

struct serverprof {
    char *part;          /* the name of the archive until it is complete */
    bool profiling;      /* MinIO is profiling until we fetch the profiles */
    const char *version; /* version of its admin API */
    long seconds;        /* length of CPU profiles by URL */
    struct serverprof_node *node;
    size_t n_nodes;
    atomic_int n_signals; /* signals that do not end a fetch: those of the load */
    atomic_bool ended;    /* do not wait for CPU profiles */
    pthread_mutex_t lock;
    zip_t *zip; /* profiles by URL, kept in memory until it is closed */
};

/* A stage of a run: begins profiling. False: out of memory. */
bool serverprof_begin(struct bench *b, struct err *e);

/* Call these when the benchmark begins, and when it has ended. */
void serverprof_load(struct bench *b);
void serverprof_loaded(struct bench *b);

/* An ending of a run: fetches the profiles and saves them all or not at all. */
bool serverprof_end(struct bench *b, struct err *e);

#endif
