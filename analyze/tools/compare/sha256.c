#include "analyze/tools/compare/sha256.h"

#include "libcommon/mem.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifndef SHA256_BUFFER_BYTES
#define SHA256_BUFFER_BYTES (1u << 18)
#endif

static bool digest_file(FILE *f, const char *path, unsigned char *digest, unsigned *n,
                        struct err *e)
{
    unsigned char *buffer;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = mem_new(&buffer, SHA256_BUFFER_BYTES, e) &&
              ((ctx != NULL && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1) || mem_none(e));
    size_t got;
    while (ok && (got = fread(buffer, 1, SHA256_BUFFER_BYTES, f)) > 0)
        ok = EVP_DigestUpdate(ctx, buffer, got) == 1 || err_set(e, "SHA-256 failed");
    if (ok && ferror(f))
        ok = err_errno(e, errno, "%s", path);
    if (ok)
        ok = EVP_DigestFinal_ex(ctx, digest, n) == 1 || err_set(e, "SHA-256 failed");
    EVP_MD_CTX_free(ctx);
    free(buffer);
    return ok;
}

bool sha256_file(const char *path, struct sha256_text *out, struct err *e)
{
    struct stat st;
    *out = (struct sha256_text){""};
    if (strcmp(path, "-") == 0)
        return true;
    if (stat(path, &st) != 0)
        return err_errno(e, errno, "%s", path);
    if (!S_ISREG(st.st_mode))
        return true;
    FILE *f = fopen(path, "rbe");
    if (f == NULL)
        return err_errno(e, errno, "%s", path);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    bool ok = digest_file(f, path, digest, &n, e);
    fclose(f);
    for (unsigned i = 0; ok && i < n && 2 * i + 2 < sizeof out->s; i++)
        snprintf(out->s + 2 * i, 3, "%02x", digest[i]);
    return ok;
}

bool sha256_text_base64(const char *text, size_t n, struct sha256_base64 *out, struct err *e)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n_digest = 0;

    if (EVP_Digest(text, n, digest, &n_digest, EVP_sha256(), NULL) != 1 || n_digest != 32)
        return err_set(e, "SHA-256 failed");
    EVP_EncodeBlock((unsigned char *)out->s, digest, (int)n_digest);
    return true;
}
