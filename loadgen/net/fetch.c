#include "loadgen/net/fetch.h"

#include "libcommon/units.h"

#include <string.h>

/* A transfer may stay below SLOW_BYTES_PER_S for patience_s. In all it may take LONGEST times as
 * long. */
#define SLOW_BYTES_PER_S 1024L
#define LONGEST          10

struct transfer {
    const struct fetch *f;
    uint64_t n_bytes;
    bool too_large, ended;
    struct err why; /* certificates cannot be verified */
};

static size_t on_body(char *data, size_t size, size_t n, void *user)
{
    struct transfer *t = user;

    (void)size;
    t->n_bytes += n;
    t->too_large = t->n_bytes > t->f->max_bytes;
    return t->too_large ? 0 : fwrite(data, 1, n, t->f->to);
}

static int on_progress(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct transfer *t = user;

    (void)a, (void)b, (void)c, (void)d;
    t->ended = !t->f->goes_on(t->f->ctx);
    return t->ended;
}

/* Makes a list of the header lines. NULL: there are no lines, or no memory. */
static struct curl_slist *header_list(const char *lines)
{
    struct curl_slist *list = NULL;

    while (*lines != '\0') {
        char line[8192];
        size_t n = strcspn(lines, "\r");

        snprintf(line, sizeof line, "%.*s", (int)n, lines);
        struct curl_slist *longer = curl_slist_append(list, line);
        if (longer == NULL || n >= sizeof line) {
            curl_slist_free_all(longer != NULL ? longer : list);
            return NULL;
        }
        list = longer;
        lines += n + 2;
    }
    return list;
}

/* Verifies certificates as connections to S3 do; libcurl itself would take an address in a CN. */
static CURLcode on_context(CURL *easy, void *context, void *user)
{
    struct transfer *t = user;
    const struct conn_style *style = t->f->style;
    const char *host = strstr(t->f->url, "://") + 3;

    (void)easy;
    bool ok = style->insecure || tls_verify(context, host, style->cacert, &t->why);
    return ok ? CURLE_OK : CURLE_SSL_CERTPROBLEM;
}

static bool set_up(CURL *easy, const struct fetch *f, struct transfer *t, char *message)
{
    bool ok = curl_easy_setopt(easy, CURLOPT_URL, f->url) == CURLE_OK;

    ok = ok && curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, message) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_PROXY, f->style->proxy) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                                (long)(f->style->connect_timeout_ns / NS_PER_MS)) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_TIMEOUT, LONGEST * f->patience_s) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES_PER_S) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, f->patience_s) == CURLE_OK;
    ok =
        ok && curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, (long)!f->style->insecure) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_CAINFO, NULL) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_context) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, t) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_WRITEDATA, t) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_XFERINFODATA, t) == CURLE_OK;
    ok = ok && curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
    if (strcmp(f->method, "POST") == 0)
        ok = ok && curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "") == CURLE_OK;
    return ok;
}

bool fetch(const struct fetch *f, int *status, struct err *e)
{
    char message[CURL_ERROR_SIZE] = "";
    struct transfer t = {.f = f};
    struct curl_slist *headers = header_list(f->headers);
    struct curl_slist *route = f->route != NULL ? curl_slist_append(NULL, f->route) : NULL;
    long code = 0;
    curl_off_t total_us = 0;

    CURLcode result = CURLE_OUT_OF_MEMORY;
    CURL *easy = curl_easy_init();

    if (easy != NULL && (headers != NULL || *f->headers == '\0') && set_up(easy, f, &t, message) &&
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_RESOLVE, route) == CURLE_OK)
        result = curl_easy_perform(easy);
    if (result == CURLE_OK)
        result = curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    *status = (int)code;
    curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &total_us);
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    curl_slist_free_all(route);
    if (result == CURLE_OK)
        return true;
    if (t.ended)
        return err_set(e, "interrupted");
    if (t.too_large)
        return err_set(e, "the answer has more than %s", units_size((double)f->max_bytes).s);
    if (t.why.msg[0] != '\0')
        return err_set(e, "%s", t.why.msg);
    if (result == CURLE_OPERATION_TIMEDOUT && t.n_bytes > 0 &&
        total_us < LONGEST * f->patience_s * 1000000)
        return err_set(e, "hardly a byte of the answer came for %ld s", f->patience_s);
    if (result == CURLE_OPERATION_TIMEDOUT && t.n_bytes > 0)
        return err_set(e, "the answer was not complete after %ld s", LONGEST * f->patience_s);
    return err_set(e, "%s", conn_error_text(result, message));
}
