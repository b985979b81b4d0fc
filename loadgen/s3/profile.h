/* Reads ~/.aws/credentials and ~/.aws/config, or the files that AWS_SHARED_CREDENTIALS_FILE and
 * AWS_CONFIG_FILE name. */
#ifndef S3_LOADGEN_S3_PROFILE_H
#define S3_LOADGEN_S3_PROFILE_H

#include "libcommon/err.h"

#include <sys/stat.h>

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

#endif
