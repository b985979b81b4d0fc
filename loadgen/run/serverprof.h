/* Profiles that servers make of themselves while the benchmark runs: --serverprof, by the admin API
 * of MinIO, and --serverprof-url, by net/http/pprof of Go servers. They are saved beside the
 * capture. A profile that cannot be had is said in a line, and the run goes on. */
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
    bool started; /* the thread, which fetches the CPU profile */
    bool failed;  /* that was said */
};

struct serverprof {
    char *part;          /* the name of the archive until it is whole */
    bool profiling;      /* MinIO is, until it is asked for the profiles */
    const char *version; /* of its admin API */
    long seconds;        /* of CPU profiles by URL */
    struct serverprof_node *node;
    size_t n_nodes;
    atomic_bool ended; /* CPU profiles are not to be waited for */
    pthread_mutex_t lock;
    zip_t *zip; /* of the profiles by URL, which stay in memory until it is closed */
};

/* A stage: begins profiling. False: out of memory. */
bool serverprof_begin(struct bench *b, struct err *e);

/* To be called when the benchmark begins, and when it has ended. */
void serverprof_load(struct bench *b);
void serverprof_loaded(struct bench *b);

/* An ending: fetches what there is and saves it whole or not at all. */
bool serverprof_end(struct bench *b, struct err *e);

#endif
