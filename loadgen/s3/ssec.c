#include "loadgen/s3/ssec.h"

#include "libcommon/mem.h"
#include "libcommon/secret.h"

#include <errno.h>
#include <openssl/evp.h>
#include <sys/random.h>

#define KEY_BYTES  32
#define TEXT_BYTES 48 /* room for the key in base64, with a NUL */

bool ssec_init(struct ssec *s, struct err *e)
{
    unsigned char md5[EVP_MAX_MD_SIZE];

    s->key = secret_alloc(TEXT_BYTES + KEY_BYTES);
    if (s->key == NULL)
        return mem_none(e);
    unsigned char *key = (unsigned char *)s->key + TEXT_BYTES;
    if (getrandom(key, KEY_BYTES, 0) != KEY_BYTES)
        return err_errno(e, errno, "cannot get random bytes");
    bool ok = EVP_Digest(key, KEY_BYTES, md5, NULL, EVP_md5(), NULL) == 1;
    EVP_EncodeBlock((unsigned char *)s->key, key, KEY_BYTES);
    EVP_EncodeBlock((unsigned char *)s->key_md5, md5, 16);
    return ok || err_set(e, "cannot digest the key");
}

void ssec_fini(struct ssec *s)
{
    secret_free(s->key);
    s->key = NULL;
}
