/* The keys of a run. Keys from a credential_process are renewed before they expire, keys from a
 * profile when its file changes, and both when the server refuses them. */
#ifndef S3_LOADGEN_S3_CREDENTIALS_H
#define S3_LOADGEN_S3_CREDENTIALS_H

#include "loadgen/s3/sigv4.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Reads ~/.aws/credentials and ~/.aws/config, or the files that AWS_SHARED_CREDENTIALS_FILE and
 * AWS_CONFIG_FILE name. */

/* The fields of a profile. The first three belong together: access key, secret key, session token.
 */
enum {
    PROFILE_N_KEYS = 3,
    PROFILE_REGION = PROFILE_N_KEYS,
    PROFILE_ENDPOINT_URL,
    PROFILE_CA_BUNDLE,
    PROFILE_SERVICES,
    PROFILE_PROCESS,
    PROFILE_ELSEWHERE, /* from here on: ways to get keys from AWS, which we do not know */
    PROFILE_N = PROFILE_ELSEWHERE + 4
};
extern const char *const PROFILE_NAMES[PROFILE_N];

/* The values of the fields, in memory of secret.h; NULL: not set. */
struct profile {
    char *field[PROFILE_N];
};

/* Reads the section [name] of the first file, and missing fields from [profile name] of the second.
 * The endpoint_url of "s3 =" in the section that "services" names comes before that of the profile.
 * Access key, secret key and session token come from one file. If neither file has the profile,
 * fails if `required`, else finds nothing. On failure all fields are NULL. */
bool profile_read(struct profile *p, const char *name, bool required, struct err *e);
void profile_fini(struct profile *p);

/* A fingerprint of both files. If two stamps differ in any byte, a file was changed in between. */
struct profile_stamp {
    struct timespec changed[2];
    ino_t inode[2];
};

struct profile_stamp profile_look(void);

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
