#include "loadgen/load/load.h"

#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The stream of random numbers that shuffles the hosts. Workers have the streams from 0 on. */
#define HOSTS_STREAM (UINT64_C(1) << 62)

static bool init_host(const struct engine *g, struct host *host, struct err *e)
{
    const char *name = host->named != NULL ? host->named : host->name;

    host->virtual_host = s3op_uses_virtual_host(&g->op_style, name);
    return mem_format(&host->endpoint, e, "%s://%s", g->op_style.tls ? "https" : "http",
                      host->name) &&
           mem_format(&host->peer, e, "%s%s%s", host->virtual_host ? g->op_style.bucket : "",
                      host->virtual_host ? "." : "", name) &&
           name_in_header(host->peer, g->op_style.tls, &host->header, e);
}

/* Starts looking up the addresses of the hosts. */
static bool init_names(struct engine *g, struct err *e)
{
    struct name *names = NULL;

    if (!mem_cleared(&names, g->hosts.n, e))
        return false;
    for (size_t i = 0; i < g->hosts.n; i++) {
        const struct host *host = &g->hosts.host[i];
        struct name at;

        name_init(&names[i], host->peer, g->op_style.tls);
        if (host->named == NULL)
            continue;
        name_init(&at, host->name, g->op_style.tls);
        memcpy(names[i].address[0], at.host, INET6_ADDRSTRLEN);
        names[i].n = names[i].n_first = names[i].fixed = 1;
    }
    const struct names_style style = {NAMES_STYLE, .wait_ns = g->conn_style.connect_timeout_ns};
    g->names = names_open(names, g->hosts.n, style, e);
    return g->names != NULL;
}

bool engine_init(struct engine *g, const char *hosts, enum hosts_select select, struct err *e)
{
    struct rng rng;
    const char *root = getenv("S3LOAD_TEST_ROOT");

    g->root = root != NULL ? root : "";
    rng_init(&rng, g->seed, engine_stream(g, HOSTS_STREAM));
    atomic_init(&g->stop, ENGINE_RUN);
    if (!hosts_init(&g->hosts, hosts, select, &rng, e))
        return false;
    g->hosts.try_ns = g->conn_style.connect_timeout_ns;
    if (g->resolve_host && !hosts_resolve(&g->hosts, g->op_style.tls, &rng, e))
        return false;
    if (g->deals_hosts)
        hosts_deal(&g->hosts, g->rank, g->n_ranks);
    checksum_init(&g->checksum, g->op_style.checksum);
    const char *variable = conn_proxy(g->op_style.tls, g->conn_style.no_proxy, g->proxy);
    g->conn_style.proxy = variable != NULL ? getenv(variable) : "";
    if (strncasecmp(g->conn_style.proxy, "https:", 6) == 0)
        return err_set(e,
                       "%s: a proxy that is spoken to over TLS cannot be used: name one with "
                       "http://, or say --no-proxy",
                       variable);
    if (g->op_style.tls)
        g->conn_style.context = tls_context(g->conn_style.insecure, g->conn_style.cacert, e);
    bool ok = !g->op_style.tls || g->conn_style.context != NULL;
    for (size_t i = 0; ok && i < g->hosts.n; i++) {
        ok = init_host(g, &g->hosts.host[i], e);
        if (ok && variable != NULL && g->proxied_by == NULL &&
            conn_uses_proxy(g->hosts.host[i].peer))
            g->proxied_by = variable;
    }
    ok = ok && (g->proxied_by != NULL || init_names(g, e));
    return ok && payload_init(&g->payload, e);
}

void engine_set_stop(struct engine *g, enum engine_stop stop)
{
    int old = atomic_load(&g->stop);

    while (old < (int)stop && !atomic_compare_exchange_weak(&g->stop, &old, (int)stop))
        ;
}

void engine_fini(struct engine *g)
{
    names_close(g->names);
    SSL_CTX_free(g->conn_style.context);
    free(g->payload.words);
    hosts_fini(&g->hosts);
}
