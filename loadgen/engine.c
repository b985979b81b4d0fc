#include "engine.h"

#include <stdlib.h>
#include <string.h>

/* The stream of random numbers that hosts are shuffled by; workers have those from 0 on. */
#define HOSTS_STREAM (UINT64_C(1) << 62)

static bool init_host(struct engine *g, struct engine_host *host, const char *name, struct err *e)
{
    size_t n = strlen(name) + strlen(g->op_style.bucket) + 16;

    host->virtual_host = s3op_uses_virtual_host(&g->op_style, name);
    host->endpoint = malloc(n);
    host->name = malloc(n);
    if (host->endpoint == NULL || host->name == NULL)
        return err_set(e, "out of memory");
    snprintf(host->endpoint, n, "%s://%s", g->op_style.tls ? "https" : "http", name);
    snprintf(host->name, n, "%s%s%s", host->virtual_host ? g->op_style.bucket : "",
             host->virtual_host ? "." : "", name);
    return true;
}

bool engine_init(struct engine *g, const char *hosts, enum hosts_select select, struct err *e)
{
    struct rng rng;

    rng_init(&rng, g->seed, HOSTS_STREAM);
    atomic_init(&g->stop, ENGINE_RUN);
    if (!hosts_init(&g->hosts, hosts, select, &rng, e))
        return false;
    g->host = calloc(g->hosts.n, sizeof *g->host);
    bool ok = g->host != NULL || err_set(e, "out of memory");
    for (size_t i = 0; ok && i < g->hosts.n; i++)
        ok = init_host(g, &g->host[i], g->hosts.host[i].name, e);
    ok = ok && payload_init(&g->payload, e);
    if (!ok)
        engine_fini(g);
    return ok;
}

void engine_fini(struct engine *g)
{
    for (size_t i = 0; g->host != NULL && i < g->hosts.n; i++) {
        free(g->host[i].endpoint);
        free(g->host[i].name);
    }
    free(g->host);
    g->host = NULL;
    payload_fini(&g->payload);
    hosts_fini(&g->hosts);
}
