#include "tests/target/cert.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static bool add_extension(X509 *cert, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    bool ok = extension != NULL && X509_add_ext(cert, extension, -1);

    X509_EXTENSION_free(extension);
    return ok;
}

static bool fill(X509 *cert, EVP_PKEY *key, const char *cn, const char *names)
{
    X509_NAME *name = X509_get_subject_name(cert);

    return X509_set_version(cert, X509_VERSION_3) &&
           ASN1_INTEGER_set_int64(X509_get_serialNumber(cert), time(NULL)) &&
           X509_gmtime_adj(X509_getm_notBefore(cert), -3600) != NULL &&
           X509_gmtime_adj(X509_getm_notAfter(cert), 86400) != NULL &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                      (const unsigned char *)(cn != NULL ? cn : "s3target"), -1, -1,
                                      0) &&
           X509_set_issuer_name(cert, name) && X509_set_pubkey(cert, key) &&
           add_extension(cert, NID_basic_constraints, "critical,CA:TRUE") &&
           (cn != NULL || add_extension(cert, NID_subject_alt_name, names)) &&
           X509_sign(cert, key, EVP_sha256()) > 0;
}

static char *text_of(BIO *bio)
{
    char *data = NULL;
    long n = BIO_get_mem_data(bio, &data);

    return n > 0 ? strndup(data, (size_t)n) : NULL;
}

bool cert_make(const char *domain, const char *cn, char **cert_pem, char **key_pem, struct err *e)
{
    char names[1024] = "DNS:localhost,DNS:*.localhost,IP:127.0.0.1,IP:::1";
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    BIO *cert_bio = BIO_new(BIO_s_mem());
    BIO *key_bio = BIO_new(BIO_s_mem());

    *cert_pem = NULL;
    *key_pem = NULL;
    if (domain != NULL) {
        size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, ",DNS:%.200s,DNS:*.%.200s", domain, domain);
    }
    if (key != NULL && cert != NULL && cert_bio != NULL && key_bio != NULL &&
        fill(cert, key, cn, names) && PEM_write_bio_X509(cert_bio, cert) &&
        PEM_write_bio_PrivateKey(key_bio, key, NULL, NULL, 0, NULL, NULL)) {
        *cert_pem = text_of(cert_bio);
        *key_pem = text_of(key_bio);
    }
    EVP_PKEY_free(key);
    X509_free(cert);
    BIO_free(cert_bio);
    BIO_free(key_bio);
    return (*cert_pem != NULL && *key_pem != NULL) || err_set(e, "cannot make a certificate");
}
