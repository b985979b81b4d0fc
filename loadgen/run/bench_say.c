#include "libcommon/rfc3339.h"
#include "libcommon/units.h"
#include "libcommon/visible.h"
#include "loadgen/ranks/parts.h"
#include "loadgen/run/bench_setup.h"
#include "loadgen/util/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes a line in one piece, as launchers mix what several ranks write. */
__attribute__((format(printf, 3, 0))) static void say(const struct bench *b, const char *who,
                                                      const char *fmt, va_list args)
{
    char text[4096];

    vsnprintf(text, sizeof text, fmt, args);
    visible_line(stderr, "%s: %s%s", b->args.program, who, text);
}

void bench_say(const struct bench *b, const char *fmt, ...)
{
    char who[sizeof b->host + 32] = "";
    va_list args;

    if (b->team.size > 1)
        snprintf(who, sizeof who, "rank %d (%s): ", b->team.rank, b->host);
    va_start(args, fmt);
    say(b, who, fmt, args);
    va_end(args);
}

void bench_say_of_all(const struct bench *b, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(b, "", fmt, args);
    va_end(args);
}

void bench_show_command(FILE *out, const char *what, char *const *words)
{
    int n = 0;

    while (words[n] != NULL)
        n++;
    char *line = options_redacted((const struct cli_command *const[]){NULL}, n, words);

    if (line != NULL)
        visible_line(out, "%s: %s", what, line);
    free(line);
}

void bench_say_plan(const struct bench *b)
{
    const struct options *o = b->o;
    double n = (double)work_n_prepare(&b->work), size = (double)o->data.size_bytes;
    const char *most = o->data.random_sizes ? "up to " : "";

    if (o->syncstart != NULL && !o->show.quiet)
        fprintf(stderr, "The run starts in %s, at %.19sZ (--syncstart)\n",
                units_duration(o->load.syncstart_ns - clock_real_ns()).s,
                rfc3339_format(o->load.syncstart_ns).s);
    if (b->kind->prepares && !o->data.list_existing && !o->show.quiet)
        fprintf(stderr, "Preparing %s object%s of %s%s, %s%s in all\n", units_count((int64_t)n).s,
                n == 1 ? "" : "s", most, units_size(size).s, most, units_size(n * size).s);
}

void bench_say_proxy(const struct bench *b)
{
    char proxy[CONN_PROXY_MAX];
    const char *name = conn_proxy(b->o->net.tls, b->o->net.no_proxy, proxy);
    const char *except = getenv("no_proxy") != NULL ? getenv("no_proxy") : getenv("NO_PROXY");

    if (name == NULL)
        return;
    bench_say_of_all(b, "requests go through the proxy %s, as %s says%s%s; --no-proxy changes that",
                     proxy, name, except != NULL ? ", but for no_proxy=" : "",
                     except != NULL ? except : "");
}

void bench_say_merge(const struct bench *b)
{
    char *head[] = {"s3analyze", "merge", "-o", (char *)b->out.path, NULL};
    char **words = parts_command(head, b->out.path, NULL, b->team.size);

    if (words != NULL)
        bench_show_command(stderr, "To put the captures together, once they are in one place",
                           words);
    free(words);
}

void bench_say_parts(const struct bench *b)
{
    const struct options *o = b->o;
    const char *tls = o->net.tls ? "--tls" : NULL;
    const char *const words[] = {"s3load",   "clean",   "--run",    b->o->run_id,
                                 "--host",   o->hosts,  "--bucket", o->bucket,
                                 "--prefix", o->prefix, tls,        NULL};
    char last[sizeof b->out.part];

    if (o->show.quiet)
        return;
    parts_name(b->out.path, b->team.size - 1, last, sizeof last);
    if (!o->show.stress)
        bench_say_of_all(b, "run %s, %d ranks, which record into %s to %s", b->o->run_id,
                         b->team.size, b->out.part, last);
    bench_show_command(stderr, "If it is killed, this deletes its objects", (char **)words);
}

void bench_warn(const struct bench *b)
{
    const struct summary *s = &b->summary;

    if (s->max_thread_pct > SUMMARY_BOUND_PCT)
        bench_say_of_all(b,
                         "a thread of s3load was busy for %.0f %% of the time: this run measures "
                         "the client, not the server",
                         s->max_thread_pct);
    else if (s->max_thread_pct > SUMMARY_WARN_PCT)
        bench_say_of_all(b,
                         "a thread of s3load was busy for %.0f %% of the time, which may show in "
                         "the latencies",
                         s->max_thread_pct);
    if (s->n_waits > 0)
        bench_say_of_all(b, "workers waited %llu time%s, %s in all, for the capture to be written",
                         (unsigned long long)s->n_waits, s->n_waits == 1 ? "" : "s",
                         units_duration(s->waits_ns).s);
    if (s->n_object_waits > 0)
        bench_say_of_all(b,
                         "workers waited %llu time%s for an object that none other used: there "
                         "are too few for --concurrent",
                         (unsigned long long)s->n_object_waits, s->n_object_waits == 1 ? "" : "s");
    if (s->n_resent > 0)
        bench_say_of_all(b,
                         "%llu request%s sent twice, as the server had closed the connection "
                         "without an answer",
                         (unsigned long long)s->n_resent, s->n_resent == 1 ? " was" : "s were");
    if (s->n_not_begun > 0)
        bench_say_of_all(b,
                         "%llu request%s due and not begun before the end: --concurrent is too "
                         "low for --rate, or the server too slow",
                         (unsigned long long)s->n_not_begun,
                         s->n_not_begun == 1 ? " was" : "s were");
}

void bench_warn_of_clocks(const struct bench *b)
{
    int64_t off_ns = b->summary.clock_change_ns;
    size_t n_off = 0;
    size_t worst = 0;

    if (llabs(off_ns) > CLOCK_NS_PER_S)
        bench_say(b,
                  "this machine's clock was set %s by %s during the run, or it slept: requests "
                  "are signed with it, or with a server's that refuses it; the capture's times go "
                  "on as if it had not",
                  off_ns > 0 ? "forward" : "back", units_duration(llabs(off_ns)).s);
    off_ns = 0;
    for (size_t i = 0; i < b->engine.hosts.n; i++) {
        int64_t ns = summary_host_off_ns(&b->control, &b->crew, i);
        n_off += llabs(ns) > CLOCK_NS_PER_S;
        if (llabs(ns) > llabs(off_ns)) {
            off_ns = ns;
            worst = i;
        }
    }
    if (n_off > 0)
        bench_say(b,
                  "the clocks of %zu of %zu servers are off by more than 1 s: that of %s is at "
                  "least %s %s this machine's",
                  n_off, b->engine.hosts.n, b->engine.host[worst].endpoint,
                  units_duration(llabs(off_ns)).s, off_ns > 0 ? "ahead of" : "behind");
}

void bench_complain(const struct bench *b, const struct err *e)
{
    if (strcmp(e->msg, team_other_failed) != 0 && e->msg[0] != '\0')
        bench_say(b, "%s", e->msg);
}
