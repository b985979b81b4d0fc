#include "loadgen/net/tls.h"

#include "loadgen/net/names.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <unistd.h>

/* Several records are read at once, each of at most 16 KiB. */
#define READ_AHEAD_BYTES (64 * 1024)

static const unsigned char PROTOCOLS[] = "\x08http/1.1";

static bool refuse(struct err *e, const char *what)
{
    const char *why = ERR_reason_error_string(ERR_peek_last_error());

    ERR_clear_error();
    return err_set(e, "%s: %s", what, why != NULL ? why : "out of memory");
}

/* OpenSSL hands out a session, which the next connection resumes. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    SSL_SESSION **slot = SSL_get_app_data(ssl);

    SSL_SESSION_free(*slot);
    *slot = session;
    return 1;
}

static bool find_authorities(SSL_CTX *context, const char *cacert, struct err *e)
{
    char what[4200];

    if (cacert != NULL && access(cacert, R_OK) != 0)
        return err_errno(e, errno, "--cacert: cannot use '%s'", cacert);
    /* A certificate that is trusted ends a chain, though it be no root's. */
    X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
    if (cacert == NULL)
        return SSL_CTX_set_default_verify_paths(context) ||
               refuse(e, "cannot read the certificates of authorities");
    snprintf(what, sizeof what, "--cacert: cannot use '%s'", cacert);
    return SSL_CTX_load_verify_file(context, cacert) || refuse(e, what);
}

SSL_CTX *tls_context(bool insecure, const char *cacert, struct err *e)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    if (context == NULL) {
        refuse(e, "cannot set up TLS");
        return NULL;
    }
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(context, keep_session);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, READ_AHEAD_BYTES);
    SSL_CTX_set_verify(context, insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    bool ok = SSL_CTX_set_alpn_protos(context, PROTOCOLS, sizeof PROTOCOLS - 1) == 0 ||
              refuse(e, "cannot set up TLS");
    ok = ok && (insecure || find_authorities(context, cacert, e));
    if (!ok) {
        SSL_CTX_free(context);
        return NULL;
    }
    return context;
}

/* Says whom the certificate must be for. Server Name Indication names no addresses. */
static bool set_name(SSL *ssl, const char *host)
{
    char name[NAMES_HOST_MAX];

    name_split(host, name);
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) ||
           (SSL_set1_host(ssl, name) && SSL_set_tlsext_host_name(ssl, name));
}

/* A copy: OpenSSL spoils a session of TLS 1.3 for others once it was resumed, and workers that
 * connect at the same time would shake hands in full. */
static bool resume(SSL *ssl, const SSL_SESSION *session)
{
    SSL_SESSION *copy = SSL_SESSION_dup(session);
    bool ok = copy != NULL && SSL_set_session(ssl, copy);

    SSL_SESSION_free(copy);
    return ok;
}

SSL *tls_new(SSL_CTX *context, int fd, const char *host, SSL_SESSION **session)
{
    SSL *ssl = SSL_new(context);

    if (ssl == NULL || !SSL_set_fd(ssl, fd) || !set_name(ssl, host) ||
        !SSL_set_app_data(ssl, session) || (*session != NULL && !resume(ssl, *session))) {
        SSL_free(ssl);
        return NULL;
    }
    SSL_set_connect_state(ssl);
    return ssl;
}

void tls_free(SSL *ssl)
{
    if (ssl == NULL)
        return;
    ERR_clear_error();
    /* Else OpenSSL takes the session for a broken one. */
    if (SSL_is_init_finished(ssl))
        SSL_shutdown(ssl);
    SSL_free(ssl);
    ERR_clear_error();
}

enum tls_stop tls_stopped(const SSL *ssl, int n, struct err *e)
{
    int cause = errno;
    long verified = SSL_get_verify_result(ssl);
    bool unknown = verified >= X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT &&
                   verified <= X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE;

    switch (SSL_get_error(ssl, n)) {
    case SSL_ERROR_WANT_READ:
        return TLS_WANTS_READ;
    case SSL_ERROR_WANT_WRITE:
        return TLS_WANTS_WRITE;
    case SSL_ERROR_ZERO_RETURN:
        return TLS_CLOSED;
    case SSL_ERROR_SYSCALL:
        err_errno(e, cause, "TLS");
        return TLS_FAILED;
    default:
        if (SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE && verified != X509_V_OK)
            err_set(e, "TLS: the server's certificate: %s%s",
                    X509_verify_cert_error_string(verified),
                    unknown ? " (--cacert FILE trusts its authority)" : "");
        else
            refuse(e, "TLS");
        return TLS_FAILED;
    }
}
