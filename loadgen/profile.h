/* Credentials from ~/.aws/credentials (or AWS_SHARED_CREDENTIALS_FILE). */
#ifndef S3_PROFILE_H
#define S3_PROFILE_H

#include "err.h"

/* NULL: not there. The caller's to free. */
struct profile {
    char *access_key;
    char *secret_key;
    char *session_token;
};

/* Reads the section [name]. A file or section that is missing is an error if `required`, else
 * nothing is found. On failure all is NULL. */
bool profile_read(struct profile *p, const char *name, bool required, struct err *e);

#endif
