/* The keys of a run; those that a credential_process hands out are renewed before they expire. */
#ifndef S3_LOADGEN_S3_CREDENTIALS_H
#define S3_LOADGEN_S3_CREDENTIALS_H

#include "libcommon/err.h"
#include "loadgen/s3/sigv4.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#define CREDENTIALS_N 3 /* access key, secret key, session token (or NULL) */

#define CREDENTIALS_TEXT_MAX 16384 /* that a credential_process may print */

struct credentials {
    const char *process;  /* NULL: the keys stay as they are */
    pthread_mutex_t lock; /* of the keys */
    char *key[CREDENTIALS_N];
    atomic_uint version; /* counts their changes */
    int64_t renew_at_ns; /* CLOCK_REALTIME; CLOCK_NEVER: they do not expire */

    /* The process, while it runs. */
    pid_t child; /* 0: none */
    int fd;      /* its standard output; -1: it has ended */
    int64_t started_ns;
    size_t n_text;
    char *text; /* CREDENTIALS_TEXT_MAX bytes, in memory of secret.h, as the keys are */
};

/* The keys are copied; or, with `process` (borrowed), a shell runs that and its answer is waited
 * for: a JSON document as the AWS command line defines it. On failure nothing is left to free. */
bool credentials_init(struct credentials *c, const char *access_key, const char *secret_key,
                      const char *session_token, const char *process, struct err *e);
void credentials_fini(struct credentials *c);

/* Starts a renewal that is due, and takes its result; to be called now and then, from one thread.
 * False: it failed, *e says why, and it will be tried again. */
bool credentials_renew(struct credentials *c, struct err *e);

/* Makes `signer` again if it was made with other keys than the present ones, which *version tells
 * (0: never made). Any thread. */
bool credentials_update_signer(struct credentials *c, const char *region, struct sigv4 *signer,
                               unsigned *version, struct err *e);

#endif
