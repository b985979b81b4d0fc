/* The key of --encrypt (SSE-C): random, new in each run, and not stored. */
#ifndef S3_LOADGEN_S3_SSEC_H
#define S3_LOADGEN_S3_SSEC_H

#include "libcommon/err.h"

struct ssec {
    char *key;        /* base64 of 32 bytes, in memory of secret.h */
    char key_md5[32]; /* base64 of the MD5 of these bytes */
};

/* Makes a random key. */
bool ssec_init(struct ssec *s, struct err *e);

/* Wipes the key from memory. */
void ssec_fini(struct ssec *s);

#endif
