/* Faults on request. A rule is text such as
 *
 *     server=0,op=GET,latency=exp:5ms,fail=503:0.01,reset=0.001
 *
 * server=I     only the I-th port, from 0
 * op=OP        only this operation, as named in the log
 * latency=D    answers D after the request's end: 5ms, uniform:1ms:9ms, exp:MEAN, or
 *              lognormal:MEDIAN:SIGMA
 * stall=AT:D   from AT after the rule's first request on, nothing is answered for D
 * during=AT:D  the rule applies only for D, from AT after its first request on
 * fail=S:P     with probability P answers status S (500 InternalError, 503 SlowDown, 429)
 * reset=P      resets the connection in the middle of the response's body (without a body, before
 *              the response)
 * truncate=P   closes the connection in the middle of the body
 * corrupt=P    changes the byte in the middle of an object's body
 * rate=R       serves R requests a second at most: further ones wait for their turn
 * slow=R:P     sends the body at R per second (1MiB)
 * chunked=P    sends the body in chunks, not with its length
 * hide=CHARS   lists leave out the objects whose keys end with one of these
 *
 * All rules that apply to a request add up. Which requests are hit depends on the seed and on the
 * order in which they arrive, on nothing else. */
#ifndef S3_FAULT_H
#define S3_FAULT_H

#include "libcommon/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_RULES_MAX 32

enum fault_law { FAULT_FIXED, FAULT_UNIFORM, FAULT_EXP, FAULT_LOGNORMAL };

struct fault_rule {
    int server; /* -1: all */
    char op[16];
    enum fault_law law; /* of the latency */
    double a;           /* ns: constant (0: no latency), minimum, mean or median */
    double b;           /* ns: maximum; or sigma */
    int64_t stall_at_ns, stall_ns;
    int64_t during_at_ns, during_ns; /* 0: always */
    int64_t first_ns;                /* CLOCK_MONOTONIC of its first request; 0: none yet */
    int fail_status;
    double p_fail, p_reset, p_truncate, p_corrupt, p_slow, p_chunked;
    double slow_bytes_per_s;
    char hide[17];
    double turn_ns;       /* time that each request takes up; 0: any number at once */
    int64_t next_turn_ns; /* CLOCK_MONOTONIC */
    unsigned short random[3];
};

struct faults {
    pthread_mutex_t lock;
    struct fault_rule rule[FAULT_RULES_MAX];
    size_t n;
};

/* The faults of one request. */
struct fault_plan {
    int64_t latency_ns;
    int64_t stalled_until_ns; /* CLOCK_MONOTONIC; 0: no stall */
    int fail_status;          /* 0: no failure */
    bool reset, truncate, corrupt, chunked;
    double bytes_per_s; /* 0: no limit */
    const char *hide;   /* NULL: nothing */
};

void faults_init(struct faults *f);
void faults_fini(struct faults *f);
bool faults_add(struct faults *f, const char *text, int64_t seed, struct err *e);

/* Draws the faults of the request `op` to `server` that arrived at now_ns. */
struct fault_plan faults_draw(struct faults *f, int server, const char *op, int64_t now_ns);

#endif
