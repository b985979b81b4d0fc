/* The keys of a run. Keys from a credential_process are renewed before they expire, keys from a
 * profile when its file changes, and both when the server refuses them. */
#ifndef S3_LOADGEN_S3_CREDENTIALS_H
#define S3_LOADGEN_S3_CREDENTIALS_H

#include "libcommon/err.h"
#include "loadgen/s3/profile.h"
#include "loadgen/s3/sigv4.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct credentials {
    const char *process;  /* command that prints the keys; NULL: none */
    const char *profile;  /* has the keys; NULL: none. Without either, keys never change */
    pthread_mutex_t lock; /* protects the keys */
    struct profile keys;  /* only its keys are used */
    atomic_uint version;  /* incremented whenever the keys change */
    atomic_uint refused;  /* the version of the keys that the server refused; 0: none */
    int64_t renew_at_ns;  /* CLOCK_REALTIME; CLOCK_NEVER: they do not expire */
    int64_t again_ns;     /* refused keys are not renewed before this time; CLOCK_REALTIME */
    struct profile_stamp stamp;

    /* The process while it runs. */
    pid_t child; /* 0: none */
    int fd;      /* its standard output */
    int64_t started_ns;
    size_t n_text;
    char *text; /* its output, like the keys in memory of secret.h */
};

/* Copies the keys. If `profile` is not NULL, keys are read again from there. If `process` is not
 * NULL, a shell runs it to get the keys, and the function waits for its output: a JSON document in
 * the format of the AWS command line. Borrows both strings. On failure nothing is left to free. */
bool credentials_init(struct credentials *c, const char *const key[static PROFILE_N_KEYS],
                      const char *profile, const char *process, struct err *e);
void credentials_fini(struct credentials *c);

/* Starts a renewal if one is due, or takes the result of one that has ended. Call it now and then,
 * from one thread. On failure *e says why; a later call retries. */
bool credentials_renew(struct credentials *c, struct err *e);

/* Records that the server refused that version of the keys. Any thread may call it. */
void credentials_refuse(struct credentials *c, unsigned version);

/* Makes a new `signer`, unless it has the current keys. *version is the version of its keys; 0: it
 * has none. Any thread may call it. */
bool credentials_update_signer(struct credentials *c, const char *region, struct sigv4 *signer,
                               unsigned *version, struct err *e);

#endif
