#include "loadgen/net/net.h"

#include "libcommon/mem.h"
#include "loadgen/util/util.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct names {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_done; /* every name was looked up once */
    bool is_over; /* the thread must end */
    struct names_style style;
    struct name *name;
    size_t n;
};

const char *name_split(const char *text, char host[static NAMES_HOST_MAX])
{
    bool in_brackets = text[0] == '[';
    size_t n = strcspn(text + in_brackets, in_brackets ? "]" : ":/");
    const char *rest = text + n + (in_brackets ? 2 : 0);

    snprintf(host, NAMES_HOST_MAX, "%.*s", (int)n, text + in_brackets);
    return *rest == ':' ? rest + 1 : NULL;
}

bool name_in_header(const char *text, bool tls, char **header, struct err *e)
{
    char host[NAMES_HOST_MAX];
    bool brackets = text[0] == '[';
    const char *port = name_split(text, host);
    bool standard = port == NULL || strtol(port, NULL, 10) == (tls ? 443 : 80);

    return mem_format(header, e, "%s%.*s%s%s%s", brackets ? "[" : "", (int)strcspn(host, "%"), host,
                      brackets ? "]" : "", standard ? "" : ":", standard ? "" : port);
}

void name_init(struct name *name, const char *text, bool tls)
{
    struct in_addr address;

    *name = (struct name){0};
    const char *port = name_split(text, name->host);
    snprintf(name->port, sizeof name->port, "%s", port != NULL ? port : tls ? "443" : "80");
    name->fixed = text[0] == '[' || inet_pton(AF_INET, name->host, &address) == 1;
}

bool name_look_up(struct name *name, struct err *e)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *list = NULL;
    int failed = getaddrinfo(name->host, NULL, &hints, &list);

    if (failed != 0)
        return err_set(e, "host '%s': %s", name->host, gai_strerror(failed));
    name->n = 0;
    name->n_first = 0;
    for (const struct addrinfo *a = list; a != NULL && name->n < NAMES_ADDRESSES_MAX;
         a = a->ai_next) {
        if (getnameinfo(a->ai_addr, a->ai_addrlen, name->address[name->n], INET6_ADDRSTRLEN, NULL,
                        0, NI_NUMERICHOST) != 0)
            continue;
        name->n_first += name->n == name->n_first && a->ai_family == list->ai_family;
        name->n++;
    }
    freeaddrinfo(list);
    return name->n > 0 || err_set(e, "host '%s': it has no address", name->host);
}

static void names_free(struct names *names)
{
    pthread_cond_destroy(&names->changed);
    pthread_mutex_destroy(&names->lock);
    free(names->name);
    free(names);
}

static void *look_up_all(void *user)
{
    struct names *names = user;

    pthread_mutex_lock(&names->lock);
    while (!names->is_over) {
        for (size_t i = 0; i < names->n && !names->is_over; i++) {
            struct name name = names->name[i];
            if (name.fixed)
                continue;
            pthread_mutex_unlock(&names->lock);
            bool ok = names->style.look_up(&name, NULL);
            pthread_mutex_lock(&names->lock);
            name.next = names->name[i].next;
            if (ok)
                names->name[i] = name;
        }
        names->is_done = true;
        pthread_cond_broadcast(&names->changed);
        int64_t again_ns = clock_now_ns() + names->style.again_ns;
        while (!names->is_over && clock_cond_wait(&names->changed, &names->lock, again_ns))
            ;
    }
    pthread_mutex_unlock(&names->lock);
    names_free(names);
    return NULL;
}

struct names *names_open(struct name *name, size_t n, struct names_style style, struct err *e)
{
    struct names *names = NULL;
    pthread_t thread;
    sigset_t all;
    sigset_t before;

    if (!mem_cleared(&names, 1, e)) {
        free(name);
        return NULL;
    }
    names->style = style;
    names->name = name;
    names->n = n;
    pthread_mutex_init(&names->lock, NULL);
    pthread_cond_init(&names->changed, NULL);
    /* Block signals in the new thread: another thread waits for them (run/signals.c). */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, NULL, look_up_all, names);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed != 0) {
        names_free(names);
        err_errno(e, failed, "cannot start a thread");
        return NULL;
    }
    pthread_detach(thread);
    int64_t until_ns = clock_now_ns() + style.wait_ns;
    pthread_mutex_lock(&names->lock);
    while (!names->is_done && clock_cond_wait(&names->changed, &names->lock, until_ns))
        ;
    pthread_mutex_unlock(&names->lock);
    return names;
}

/* Does not wait for the thread, which may be in a long lookup. The thread frees everything itself
 * when it ends. */
void names_close(struct names *names)
{
    if (names == NULL)
        return;
    pthread_mutex_lock(&names->lock);
    names->is_over = true;
    pthread_cond_broadcast(&names->changed);
    pthread_mutex_unlock(&names->lock);
}

bool names_route(struct names *names, size_t i, char route[static NAMES_ROUTE_MAX])
{
    pthread_mutex_lock(&names->lock);
    struct name *name = &names->name[i];
    size_t n = (size_t)snprintf(route, NAMES_ROUTE_MAX, "%s:%s:", name->host, name->port);
    for (size_t k = 0; k < name->n; k++) {
        const char *a = name->address[k < name->n_first ? (k + name->next) % name->n_first : k];
        bool v6 = strchr(a, ':') != NULL;

        n += (size_t)snprintf(route + n, NAMES_ROUTE_MAX - n, "%s%s%s%s", k > 0 ? "," : "",
                              v6 ? "[" : "", a, v6 ? "]" : "");
    }
    name->next++;
    bool known = name->n > 0;
    pthread_mutex_unlock(&names->lock);
    return known;
}
