#include "loadgen/net/net.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <unistd.h>

/* Lets one read fetch several records, each of up to 16 KiB. */
#define READ_AHEAD_BYTES (64 * 1024)

static const unsigned char PROTOCOLS[] = "\x08http/1.1";

/* Returns why OpenSSL's last call failed. */
static const char *why_not(void)
{
    const char *why = ERR_reason_error_string(ERR_peek_last_error());

    ERR_clear_error();
    return why != NULL ? why : "out of memory";
}

/* Keeps a session that OpenSSL hands out, for the next connection to resume. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    SSL_SESSION **slot = SSL_get_app_data(ssl);

    SSL_SESSION_free(*slot);
    *slot = session;
    return 1;
}

static bool find_authorities(SSL_CTX *context, const char *cacert, struct err *e)
{
    if (cacert != NULL && access(cacert, R_OK) != 0)
        return err_errno(e, errno,
                         "--cacert, AWS_CA_BUNDLE or ca_bundle of the profile: cannot use '%s'",
                         cacert);
    /* Accept a chain that ends at a trusted certificate, even if that is not a root. */
    X509_STORE_set_flags(SSL_CTX_get_cert_store(context), X509_V_FLAG_PARTIAL_CHAIN);
    if (cacert == NULL)
        return SSL_CTX_set_default_verify_paths(context) ||
               err_set(e, "cannot read the certificates of authorities: %s", why_not());
    return SSL_CTX_load_verify_file(context, cacert) ||
           err_set(e, "--cacert, AWS_CA_BUNDLE or ca_bundle of the profile: cannot use '%s': %s",
                   cacert, why_not());
}

SSL_CTX *tls_context(bool insecure, const char *cacert, struct err *e)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    if (context == NULL || SSL_CTX_set_alpn_protos(context, PROTOCOLS, sizeof PROTOCOLS - 1) != 0) {
        err_set(e, "cannot set up TLS: %s", why_not());
        SSL_CTX_free(context);
        return NULL;
    }
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(context, keep_session);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, READ_AHEAD_BYTES);
    SSL_CTX_set_verify(context, insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    if (insecure || find_authorities(context, cacert, e))
        return context;
    SSL_CTX_free(context);
    return NULL;
}

/* Sets the name or address that the certificate must have. The name, which Server Name Indication
 * sends too, has no last dot (RFC 6066, 3). Writes it to `name`; an address: "". */
static bool expect(X509_VERIFY_PARAM *param, const char *host, char name[static NAMES_HOST_MAX])
{
    name_split(host, name);
    name[strcspn(name, "%")] = '\0';
    size_t n = strlen(name);
    name[n > 0 && name[n - 1] == '.' ? n - 1 : n] = '\0';
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (!X509_VERIFY_PARAM_set1_ip_asc(param, name))
        return X509_VERIFY_PARAM_set1_host(param, name, 0);
    name[0] = '\0';
    return true;
}

/* Resumes a copy of the session. A TLS 1.3 session can be used only once, so without copies all but
 * one of the workers that connect at the same time would need a full handshake. */
static bool resume(SSL *ssl, const SSL_SESSION *session)
{
    SSL_SESSION *copy = SSL_SESSION_dup(session);
    bool ok = copy != NULL && SSL_set_session(ssl, copy);

    SSL_SESSION_free(copy);
    return ok;
}

static bool start(struct conn *c)
{
    char name[NAMES_HOST_MAX];

    c->ssl = SSL_new(c->dialer->style->context);
    if (c->ssl == NULL || !SSL_set_fd(c->ssl, c->fd) ||
        !expect(SSL_get0_param(c->ssl), c->name, name) ||
        (*name != '\0' && !SSL_set_tlsext_host_name(c->ssl, name)) ||
        !SSL_set_app_data(c->ssl, c->session) ||
        (*c->session != NULL && !resume(c->ssl, *c->session)))
        return false;
    SSL_set_connect_state(c->ssl);
    return true;
}

static void tls_end(struct conn *c)
{
    ERR_clear_error();
    /* Without close_notify OpenSSL would not let the session be resumed. */
    if (c->ssl != NULL && SSL_is_init_finished(c->ssl))
        SSL_shutdown(c->ssl);
    SSL_free(c->ssl);
    c->ssl = NULL;
    ERR_clear_error();
}

/* Handles a call that returned n <= 0. Returns CONN_AGAIN; 0: the peer closed the connection; or
 * CONN_ERROR: *e begins with `what` and says why. */
static ssize_t stopped(struct conn *c, int n, const char *what, struct err *e)
{
    int cause = errno;
    bool cut = ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    long verified = SSL_get_verify_result(c->ssl);
    bool unknown = verified >= X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT &&
                   verified <= X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE;
    int error = SSL_get_error(c->ssl, n);

    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return CONN_AGAIN;
    conn_note_end(c, cut || error == SSL_ERROR_ZERO_RETURN ? EPIPE : cause);
    if (error == SSL_ERROR_ZERO_RETURN)
        return 0;
    if (error == SSL_ERROR_SYSCALL)
        err_errno(e, cause, "%sTLS", what);
    else if (SSL_get_verify_mode(c->ssl) != SSL_VERIFY_NONE && verified != X509_V_OK)
        err_set(e, "%sTLS: the server's certificate: %s%s", what,
                X509_verify_cert_error_string(verified),
                unknown ? " (--cacert FILE trusts its authority)" : "");
    else
        err_set(e, "%sTLS: %s", what, why_not());
    return CONN_ERROR;
}

/* Clears old errors before a call, as SSL_get_error requires. */
static void forget_errors(void)
{
    ERR_clear_error();
    errno = 0;
}

static ssize_t tls_shake_hands(struct conn *c, uint32_t *events, struct err *e)
{
    forget_errors();
    if (c->ssl == NULL && !start(c)) {
        c->local_errno = ENOMEM;
        return CONN_ERROR;
    }
    int n = SSL_do_handshake(c->ssl);
    if (n == 1)
        return 1;
    if (SSL_want_write(c->ssl))
        *events = EPOLLOUT;
    return stopped(c, n, "", e);
}

static ssize_t tls_send(struct conn *c, const void *data, size_t n, struct err *e)
{
    forget_errors();
    int sent = SSL_write(c->ssl, data, n < INT_MAX ? (int)n : INT_MAX);
    return sent > 0 ? sent : stopped(c, sent, "send: ", e);
}

static ssize_t tls_recv(struct conn *c, void *buf, size_t n, struct err *e)
{
    forget_errors();
    int got = SSL_read(c->ssl, buf, n < INT_MAX ? (int)n : INT_MAX);
    return got > 0 ? got : stopped(c, got, "receive: ", e);
}

const struct conn_wire tls_wire = {
    .shake_hands = tls_shake_hands,
    .send = tls_send,
    .recv = tls_recv,
    .skip = tls_recv,
    .end = tls_end,
    .buffers = true,
};
