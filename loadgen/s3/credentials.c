#include "loadgen/s3/credentials.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/rfc3339.h"
#include "libcommon/secret.h"
#include "loadgen/util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The output of a credential_process must be shorter. */
#define TEXT_MAX 16384

/* A process that takes longer is killed. */
#define PROCESS_NS (60 * NS_PER_S)

/* Keys are renewed this long before they expire, or after half of their life if that is shorter. */
#define AHEAD_NS (300 * NS_PER_S)

/* The pause before a failed renewal is retried. */
#define AGAIN_NS (5 * NS_PER_S)

static bool set_keys(struct credentials *c, const char *const key[static PROFILE_N_KEYS],
                     struct err *e)
{
    struct profile copy = {0};
    bool ok = true;

    for (size_t i = 0; i < PROFILE_N_KEYS; i++) {
        for (const char *p = key[i]; ok && p != NULL && *p != '\0'; p++)
            if ((unsigned char)*p < ' ' || *p == 0x7f)
                ok = err_set(e, "the credentials hold a control character");
        if (ok && key[i] != NULL && (copy.field[i] = secret_copy(key[i], strlen(key[i]))) == NULL)
            ok = mem_none(e);
    }
    if (ok) {
        struct profile old = c->keys;
        pthread_mutex_lock(&c->lock);
        c->keys = copy;
        atomic_fetch_add(&c->version, 1);
        pthread_mutex_unlock(&c->lock);
        copy = old;
    }
    profile_fini(&copy);
    return ok;
}

/* ---- The credential_process ---- */

static bool start(struct credentials *c, struct err *e)
{
    int fds[2];

    c->n_text = 0;
    c->started_ns = clock_now_ns();
    if (pipe2(fds, O_CLOEXEC) != 0)
        return err_errno(e, errno, "credential_process");
    c->child = fork();
    if (c->child == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_DFL);
        signal(SIGXFSZ, SIG_DFL);
        dup2(fds[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", c->process, (char *)NULL);
        _exit(127);
    }
    int failed = errno;
    close(fds[1]);
    c->fd = fds[0];
    fcntl(c->fd, F_SETFL, O_NONBLOCK);
    if (c->child > 0)
        return true;
    c->child = 0;
    close(c->fd);
    return err_errno(e, failed, "credential_process");
}

/* Takes the keys from the document. Errors never show its contents. */
static bool take_document(struct credentials *c, struct err *e)
{
    json_t *json = json_loadb(c->text, c->n_text, 0, NULL);
    const char *const key[PROFILE_N_KEYS] = {
        json_string_value(json_object_get(json, "AccessKeyId")),
        json_string_value(json_object_get(json, "SecretAccessKey")),
        json_string_value(json_object_get(json, "SessionToken"))};
    const char *expiration = json_string_value(json_object_get(json, "Expiration"));
    int64_t now_ns = clock_real_ns();
    int64_t expires_ns = CLOCK_NEVER;
    bool ok = (json_integer_value(json_object_get(json, "Version")) == 1 && key[0] != NULL &&
               key[1] != NULL) ||
              err_set(e, "credential_process printed no JSON with Version 1, AccessKeyId and "
                         "SecretAccessKey");

    if (ok && expiration != NULL) {
        ok = rfc3339_parse(expiration, strlen(expiration), &expires_ns) ||
             err_set(e, "credential_process: the Expiration is no time of RFC 3339");
        ok = ok && (expires_ns > now_ns ||
                    err_set(e, "credential_process gave credentials that have expired"));
    }
    ok = ok && set_keys(c, key, e);
    if (ok) {
        int64_t ahead_ns = int64_min((expires_ns - now_ns) / 2, AHEAD_NS);
        c->renew_at_ns = expires_ns == CLOCK_NEVER ? CLOCK_NEVER : expires_ns - ahead_ns;
    }
    json_decref(json);
    return ok;
}

/* Reads what the process has printed so far. Sets c->child to 0 once it has ended. */
static bool go_on(struct credentials *c, struct err *e)
{
    int status = 0;
    ssize_t n = 0;
    bool late = clock_now_ns() - c->started_ns > PROCESS_NS;

    /* Check the child first, so that everything it printed before its end can be read. */
    bool done = waitpid(c->child, &status, WNOHANG) != 0;
    while ((n = read(c->fd, c->text + c->n_text, TEXT_MAX - c->n_text)) > 0)
        c->n_text += (size_t)n;
    bool full = c->n_text == TEXT_MAX;
    if (!done && !late && !full)
        return true;
    if (!done) {
        kill(c->child, SIGKILL);
        waitpid(c->child, &status, 0);
    }
    c->child = 0;
    close(c->fd);
    bool ok = full   ? err_set(e, "credential_process printed %d bytes or more", TEXT_MAX)
              : late ? err_set(e, "credential_process did not end within a minute")
              : WIFSIGNALED(status)
                  ? err_set(e, "credential_process was ended by signal %d", WTERMSIG(status))
              : status != 0
                  ? err_set(e, "credential_process failed (status %d)", WEXITSTATUS(status))
                  : take_document(c, e);
    explicit_bzero(c->text, TEXT_MAX);
    return ok;
}

/* ---- Renewal ---- */

static bool read_profile(struct credentials *c, struct err *e)
{
    struct profile p;

    /* Take the stamp first: if the file changes while it is read, the next stamp differs. */
    c->stamp = profile_look();
    if (!profile_read(&p, c->profile, true, e))
        return false;
    bool ok = ((p.field[0] != NULL && p.field[1] != NULL) ||
               err_set(e, "profile '%s' has no access key and secret key now", c->profile)) &&
              set_keys(c, (const char *const *)p.field, e);
    profile_fini(&p);
    if (ok)
        c->renew_at_ns = CLOCK_NEVER;
    return ok;
}

void credentials_refuse(struct credentials *c, unsigned version)
{
    atomic_store_explicit(&c->refused, version, memory_order_relaxed);
}

static bool is_due(const struct credentials *c, int64_t now_ns)
{
    bool refused = atomic_load(&c->refused) == atomic_load(&c->version);
    const struct profile_stamp stamp = profile_look();

    return now_ns >= c->renew_at_ns || (refused && now_ns >= c->again_ns) ||
           (c->profile != NULL && memcmp(&c->stamp, &stamp, sizeof stamp) != 0);
}

bool credentials_renew(struct credentials *c, struct err *e)
{
    int64_t now_ns = clock_real_ns();

    if (c->process == NULL && c->profile == NULL)
        return true;
    if (c->child == 0) {
        if (!is_due(c, now_ns))
            return true;
        c->again_ns = now_ns + AGAIN_NS;
    }
    bool ok =
        c->profile != NULL ? read_profile(c, e) : (c->child != 0 || start(c, e)) && go_on(c, e);
    if (!ok)
        c->renew_at_ns = now_ns + AGAIN_NS;
    return ok;
}

/* ---- Public functions ---- */

bool credentials_init(struct credentials *c, const char *const key[static PROFILE_N_KEYS],
                      const char *profile, const char *process, struct err *e)
{
    *c = (struct credentials){.process = process,
                              .profile = profile,
                              .renew_at_ns = CLOCK_NEVER,
                              .stamp = profile_look()};
    pthread_mutex_init(&c->lock, NULL);
    c->text = process != NULL ? secret_alloc(TEXT_MAX) : NULL;
    bool ok = process == NULL ? set_keys(c, key, e) : c->text != NULL ? start(c, e) : mem_none(e);
    while (ok && c->child != 0) {
        poll(NULL, 0, 2);
        ok = go_on(c, e);
    }
    if (!ok)
        credentials_fini(c);
    return ok;
}

void credentials_fini(struct credentials *c)
{
    if (c->child != 0) {
        kill(c->child, SIGKILL);
        waitpid(c->child, NULL, 0);
        close(c->fd);
    }
    profile_fini(&c->keys);
    secret_free(c->text);
    pthread_mutex_destroy(&c->lock);
}

bool credentials_update_signer(struct credentials *c, const char *region, struct sigv4 *signer,
                               unsigned *version, struct err *e)
{
    if (atomic_load_explicit(&c->version, memory_order_acquire) == *version)
        return true;
    if (*version != 0)
        sigv4_fini(signer);
    pthread_mutex_lock(&c->lock);
    bool ok =
        sigv4_init(signer, c->keys.field[0], c->keys.field[1], c->keys.field[2], region, "s3", e);
    *version = ok ? atomic_load(&c->version) : 0;
    pthread_mutex_unlock(&c->lock);
    return ok;
}
