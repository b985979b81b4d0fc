/* What ~/.aws/credentials and ~/.aws/config say (or the files that AWS_SHARED_CREDENTIALS_FILE and
 * AWS_CONFIG_FILE name). */
#ifndef S3_LOADGEN_S3_PROFILE_H
#define S3_LOADGEN_S3_PROFILE_H

#include "libcommon/err.h"

#include <sys/stat.h>

/* Its fields; the first three, access key, secret key and session token, belong together. */
enum {
    PROFILE_N_KEYS = 3,
    PROFILE_REGION = PROFILE_N_KEYS,
    PROFILE_ENDPOINT_URL,
    PROFILE_PROCESS,
    PROFILE_N
};
extern const char *const PROFILE_NAMES[PROFILE_N];

/* In memory of secret.h; NULL: not there. */
struct profile {
    char *field[PROFILE_N];
};

/* Reads the section [name] of the first file, and [profile name] of the second for what the first
 * does not have; the three parts of credentials come from one file. A profile that is in neither is
 * an error if `required`, else nothing is found. On failure all is NULL. */
bool profile_read(struct profile *p, const char *name, bool required, struct err *e);
void profile_free(struct profile *p);

/* What tells, compared by its bytes, that one of the two files was changed. */
struct profile_stamp {
    struct timespec changed[2];
    ino_t inode[2];
};

struct profile_stamp profile_look(void);

#endif
