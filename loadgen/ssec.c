#include "ssec.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/random.h>

#define KEY_BYTES 32

bool ssec_init(struct ssec *s, struct err *e)
{
    unsigned char key[KEY_BYTES];
    unsigned char md5[EVP_MAX_MD_SIZE];

    if (getrandom(key, sizeof key, 0) != sizeof key)
        return err_errno(e, errno, "cannot get random bytes");
    bool ok = EVP_Digest(key, sizeof key, md5, NULL, EVP_md5(), NULL) == 1;
    EVP_EncodeBlock((unsigned char *)s->key, key, sizeof key);
    EVP_EncodeBlock((unsigned char *)s->key_md5, md5, 16);
    OPENSSL_cleanse(key, sizeof key);
    return ok || err_set(e, "cannot digest the key");
}

void ssec_fini(struct ssec *s)
{
    OPENSSL_cleanse(s, sizeof *s);
}
