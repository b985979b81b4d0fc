/* The keys of a run. Those that a credential_process hands out are renewed before they expire,
 * those of a profile when its file changes, and both when the server refuses them. */
#ifndef S3_LOADGEN_S3_CREDENTIALS_H
#define S3_LOADGEN_S3_CREDENTIALS_H

#include "libcommon/err.h"
#include "loadgen/s3/profile.h"
#include "loadgen/s3/sigv4.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct credentials {
    const char *process;  /* that hands out the keys; NULL: none */
    const char *profile;  /* that has them; NULL: none; without either they stay as they are */
    pthread_mutex_t lock; /* of the keys */
    struct profile keys;  /* without its other fields */
    atomic_uint version;  /* counts their changes */
    atomic_uint refused;  /* the version that the server refused; 0: none */
    int64_t renew_at_ns;  /* CLOCK_REALTIME; CLOCK_NEVER: they do not expire */
    int64_t again_ns;     /* refused keys are not renewed before; CLOCK_REALTIME */
    struct profile_stamp stamp;

    /* The process, while it runs. */
    pid_t child; /* 0: none */
    int fd;      /* its standard output */
    int64_t started_ns;
    size_t n_text;
    char *text; /* what it has printed, in memory of secret.h, as the keys are */
};

/* The keys are copied, and looked for again in `profile` if that is not NULL; or, with `process`, a
 * shell runs that and its answer is waited for: a JSON document as the AWS command line defines it.
 * Both are borrowed. On failure nothing is left to free. */
bool credentials_init(struct credentials *c, const char *const key[static PROFILE_N_KEYS],
                      const char *profile, const char *process, struct err *e);
void credentials_fini(struct credentials *c);

/* Starts a renewal that is due, and takes its result; to be called now and then, from one thread.
 * False: it failed, *e says why, and it will be tried again. */
bool credentials_renew(struct credentials *c, struct err *e);

/* Tells that the server refuses the keys of that version. Any thread. */
void credentials_refuse(struct credentials *c, unsigned version);

/* Makes `signer` anew unless it was made with the present keys. *version is the version of the keys
 * in it; 0: it was never made. Any thread. */
bool credentials_update_signer(struct credentials *c, const char *region, struct sigv4 *signer,
                               unsigned *version, struct err *e);

#endif
