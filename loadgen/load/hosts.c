#include "loadgen/load/hosts.h"

#include "libcommon/int64.h"
#include "libcommon/mem.h"
#include "libcommon/slice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for the longest host: 253 characters of a name (RFC 1035), and six for a port. */
#define NAME_MAX_LEN 260

/* A host that cannot be connected to is left alone for this time while others work. */
#define LONG_PAUSE_NS (10 * HOSTS_PAUSE_NS)

/* The most digits of the bounds of a range. Ports and parts of addresses need five. */
#define BOUND_DIGITS 9

/* The characters of registered names and of addresses. */
#define NAME_CHARS "-._0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

static size_t n_digits(const char *s)
{
    return strspn(s, "0123456789");
}

static bool check_port(const char *entry, const char *port, struct err *e)
{
    size_t n = strlen(port);

    if (port[n_digits(port)] == '/')
        return err_usage(e, "host '%s': host:port is wanted, without the '/'", entry);
    if (n == 0 || n > 5 || n_digits(port) != n)
        return err_usage(e, "host '%s': the port is not a number", entry);
    unsigned long value = strtoul(port, NULL, 10);
    if (value == 0 || value > 65535)
        return err_usage(e, "host '%s': the port is not in 1..65535", entry);
    return true;
}

/* Checks one host[:port] without ranges. */
static bool check_name(const char *name, struct err *e)
{
    bool brackets = name[0] == '[';
    const char *p = name + brackets;
    const char *start = p;

    if (strstr(name, "://") != NULL)
        return err_usage(e, "host '%s': host:port is wanted, not a URL (https is --tls)", name);
    /* In brackets are addresses of IPv6, which may have a zone. */
    p += strspn(p, brackets ? NAME_CHARS ":%" : NAME_CHARS);
    if (!brackets && strchr(name, ':') != strrchr(name, ':'))
        return err_usage(e, "host '%s': an address of IPv6 has brackets: [::1]:9000", name);
    if (p == start)
        return err_usage(e, "host '%s': no host name", name);
    if (brackets && *p++ != ']')
        return err_usage(e, "host '%s': no ']' after the address", name);
    if (*p == ':')
        return check_port(name, p + 1, e);
    if (*p != '\0')
        return err_usage(e, "host '%s': unexpected '%c'", name, *p);
    return true;
}

static bool add(struct hosts *h, const char *name, size_t n, struct err *e)
{
    if (h->n == HOSTS_MAX)
        return err_usage(e, "more than %d hosts", HOSTS_MAX);
    char *copy = mem_more(&h->host, h->n, e) ? strndup(name, n) : NULL;
    if (copy == NULL)
        return mem_none(e);
    h->host[h->n++] = (struct host){.name = copy};
    return check_name(copy, e);
}

/* Adds all hosts that `prefix` followed by `rest` describes. `prefix` has n_prefix characters
 * without ranges, in a buffer for NAME_MAX_LEN. */
static bool expand(struct hosts *h, char *prefix, size_t n_prefix, struct slice rest, struct err *e)
{
    const char *open = memchr(rest.p, '{', rest.n);
    size_t n_plain = open == NULL ? rest.n : (size_t)(open - rest.p);

    if (n_prefix + n_plain > NAME_MAX_LEN)
        return err_usage(e, "a host name is longer than %d characters", NAME_MAX_LEN);
    memcpy(prefix + n_prefix, rest.p, n_plain);
    n_prefix += n_plain;
    if (open == NULL)
        return add(h, prefix, n_prefix, e);

    const char *first = open + 1;
    size_t width = n_digits(first);
    const char *last = first + width + (strncmp(first + width, "...", 3) == 0 ? 3 : 0);
    size_t last_width = n_digits(last);
    const char *end = last + last_width;
    if (width == 0 || width > BOUND_DIGITS || last == first + width || last_width == 0 ||
        last_width > BOUND_DIGITS || *end++ != '}')
        return err_usage(e, "host '%.*s': a range is written {1...10}", (int)rest.n, rest.p);
    unsigned long from = strtoul(first, NULL, 10);
    unsigned long to = strtoul(last, NULL, 10);
    if (from > to)
        return err_usage(e, "host '%.*s': the range goes down", (int)rest.n, rest.p);
    if (*first != '0')
        width = 1;

    for (unsigned long value = from; value <= to; value++) {
        size_t room = NAME_MAX_LEN + 1 - n_prefix;
        size_t n = (size_t)snprintf(prefix + n_prefix, room, "%0*lu", (int)width, value);

        if (n >= room)
            return err_usage(e, "a host name is longer than %d characters", NAME_MAX_LEN);
        if (!expand(h, prefix, n_prefix + n, slice_from(rest, (size_t)(end - rest.p)), e))
            return false;
    }
    return true;
}

static bool better(const struct host *a, const struct host *b)
{
    if (a->n_running != b->n_running)
        return a->n_running < b->n_running;
    return a->idle_since_ns < b->idle_since_ns;
}

/* Puts host i at a place of the heap. */
static void put(struct hosts *h, size_t place, size_t i)
{
    h->host[place].heap = (uint32_t)i;
    h->host[i].place = (uint32_t)place;
}

/* Restores the order of the heap after host i has changed: none is better than its parent. */
static void settle(struct hosts *h, size_t i)
{
    const struct host *all = h->host;
    size_t at = all[i].place;

    for (; at > 0 && better(&all[i], &all[all[(at - 1) / 2].heap]); at = (at - 1) / 2)
        put(h, at, all[(at - 1) / 2].heap);
    for (size_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && better(&all[all[child + 1].heap], &all[all[child].heap]))
            child++;
        if (!better(&all[all[child].heap], &all[i]))
            break;
        put(h, at, all[child].heap);
    }
    put(h, at, i);
}

/* Adds one host after the other. */
static void make_heap(struct hosts *h)
{
    size_t n = h->n;

    for (h->n = 1; h->n <= n; h->n++) {
        put(h, h->n - 1, h->n - 1);
        settle(h, h->n - 1);
    }
    h->n = n;
}

/* Sets idle_since_ns so that unused hosts are chosen first, in random order. */
static void shuffle_idle(struct hosts *h, struct rng *rng)
{
    for (size_t i = 0; i < h->n; i++) {
        size_t j = (size_t)rng_below(rng, i + 1);
        h->host[i].idle_since_ns = h->host[j].idle_since_ns;
        h->host[j].idle_since_ns = INT64_MIN + (int64_t)i;
    }
    make_heap(h);
}

static bool add_list(struct hosts *h, const char *list, struct err *e)
{
    char prefix[NAME_MAX_LEN + 1];
    bool in_lines = strchr(list, '\n') != NULL;

    for (struct slice rest = slice_of(list); rest.p != NULL; h->line += rest.p != NULL) {
        struct slice entry = slice_trim(slice_take(&rest, in_lines ? '\n' : ','));

        if (entry.n == 0 && !in_lines)
            return err_usage(e, "an empty entry in the list of hosts");
        if (entry.n > 0 && !(in_lines && *entry.p == '#') && !expand(h, prefix, 0, entry, e))
            return false;
    }
    return h->n > 0 || err_usage(e, "the file has no host");
}

bool hosts_init(struct hosts *h, const char *list, enum hosts_select select, struct rng *rng,
                struct err *e)
{
    *h = (struct hosts){.select = select, .line = 1};
    /* messages must not show a password */
    if (strchr(list, '@') != NULL)
        return err_usage(e, "hosts are named without user and password");
    pthread_mutex_init(&h->lock, NULL);
    if (!add_list(h, list, e)) {
        hosts_fini(h);
        return false;
    }
    shuffle_idle(h, rng);
    return true;
}

static void free_host(struct host *host)
{
    free(host->name);
    free(host->named);
    free(host->endpoint);
    free(host->peer);
    free(host->header);
}

void hosts_deal(struct hosts *h, size_t rank, size_t n_ranks)
{
    size_t first = rank % h->n;
    size_t n = 0;

    for (size_t i = 0; i < h->n; i++) {
        if (i % n_ranks == first)
            h->host[n++] = h->host[i];
        else
            free_host(&h->host[i]);
    }
    h->n = n;
    make_heap(h);
}

void hosts_fini(struct hosts *h)
{
    for (size_t i = 0; i < h->n; i++)
        free_host(&h->host[i]);
    free(h->host);
    pthread_mutex_destroy(&h->lock);
    *h = (struct hosts){.line = h->line};
}

bool hosts_resolve(struct hosts *h, bool tls, struct rng *rng, struct err *e)
{
    size_t n = h->n;
    struct host *old = h->host;
    bool ok = true;

    h->host = NULL;
    h->n = 0;
    for (size_t i = 0; i < n; i++) {
        struct name name;
        name_init(&name, old[i].name, tls);
        if (ok && name.fixed)
            ok = add(h, old[i].name, strlen(old[i].name), e);
        else
            ok = ok && name_look_up(&name, e);
        for (size_t k = 0; ok && k < name.n; k++) {
            char text[80];
            bool v6 = strchr(name.address[k], ':') != NULL;

            snprintf(text, sizeof text, "%s%s%s:%s", v6 ? "[" : "", name.address[k], v6 ? "]" : "",
                     name.port);
            ok = add(h, text, strlen(text), e);
            ok = ok && mem_text(&h->host[h->n - 1].named, old[i].name, e);
        }
        free(old[i].name);
    }
    free(old);
    if (ok)
        shuffle_idle(h, rng);
    return ok;
}

/* Chooses the host of the next request, the next in turn or the best one. Candidates have an idle
 * connection or, with may_connect, may be connected to. */
static size_t choose(struct hosts *h, const struct conn_list *idle, bool may_connect,
                     int64_t now_ns)
{
    size_t best = HOSTS_NONE;
    /* Mostly the first one can be used, and no search is needed. */
    bool weighed = h->select == HOSTS_WEIGHED;
    size_t i = weighed ? h->host[0].heap : h->next;

    for (size_t tried = 0; tried < h->n; tried++, i = i + 1 < h->n ? i + 1 : 0) {
        bool is_usable = (idle != NULL && !LIST_EMPTY(&idle[i])) ||
                         (may_connect && h->host[i].retry_ns <= now_ns);
        if (!is_usable || (best != HOSTS_NONE && !better(&h->host[i], &h->host[best])))
            continue;
        best = i;
        if (!weighed || tried == 0)
            break;
    }
    if (!weighed && best != HOSTS_NONE)
        h->next = best + 1 < h->n ? best + 1 : 0;
    return best;
}

size_t hosts_pick(struct hosts *h, const struct conn_list *idle, bool may_connect, int64_t now_ns)
{
    if (h->n == 1 && may_connect && atomic_load_explicit(&h->n_failing, memory_order_relaxed) == 0)
        return 0;
    pthread_mutex_lock(&h->lock);
    size_t i = choose(h, idle, may_connect, now_ns);
    if (i != HOSTS_NONE) {
        h->host[i].n_running++;
        settle(h, i);
        /* Let only this request try to connect. If its end is not reported, others may try after
         * try_ns. */
        if (h->host[i].retry_ns != 0 && (idle == NULL || LIST_EMPTY(&idle[i])))
            h->host[i].retry_ns = now_ns + h->try_ns;
    }
    pthread_mutex_unlock(&h->lock);
    return i;
}

void hosts_release(struct hosts *h, size_t i, int64_t now_ns)
{
    /* With one host the numbers are not needed. */
    if (h->n == 1)
        return;
    pthread_mutex_lock(&h->lock);
    h->host[i].n_running--;
    h->host[i].idle_since_ns = now_ns;
    settle(h, i);
    pthread_mutex_unlock(&h->lock);
}

void hosts_cannot_connect(struct hosts *h, size_t i, int64_t now_ns)
{
    struct host *host = &h->host[i];

    pthread_mutex_lock(&h->lock);
    if (host->retry_ns == 0) {
        host->failing_since_ns = now_ns;
        atomic_fetch_add(&h->n_failing, 1);
    }
    bool is_last = atomic_load(&h->n_failing) == h->n;
    host->retry_ns = now_ns + (is_last ? HOSTS_PAUSE_NS : LONG_PAUSE_NS);
    pthread_mutex_unlock(&h->lock);
}

void hosts_connected(struct hosts *h, size_t i)
{
    if (atomic_load_explicit(&h->n_failing, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&h->lock);
    if (h->host[i].retry_ns != 0) {
        h->host[i].retry_ns = 0;
        atomic_fetch_sub(&h->n_failing, 1);
    }
    pthread_mutex_unlock(&h->lock);
}

void hosts_was_in_use(struct hosts *h, size_t i, int64_t now_ns)
{
    if (atomic_load_explicit(&h->n_failing, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&h->lock);
    h->host[i].failing_since_ns = now_ns;
    pthread_mutex_unlock(&h->lock);
}

int64_t hosts_all_down_since(struct hosts *h)
{
    int64_t since_ns = INT64_MIN;

    if (atomic_load_explicit(&h->n_failing, memory_order_relaxed) < h->n)
        return INT64_MAX;
    pthread_mutex_lock(&h->lock);
    for (size_t i = 0; i < h->n; i++) {
        int64_t ns = h->host[i].retry_ns == 0 ? INT64_MAX : h->host[i].failing_since_ns;
        since_ns = int64_max(since_ns, ns);
    }
    pthread_mutex_unlock(&h->lock);
    return since_ns;
}
