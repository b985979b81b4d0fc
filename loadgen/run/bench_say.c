#include "libcommon/units.h"
#include "libcommon/visible.h"
#include "loadgen/run/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Writes a line in one piece, as launchers mix the output of several ranks. */
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

void bench_warn(const struct bench *b)
{
    const struct summary *s = &b->summary;

    if (s->n_waits > 0)
        bench_say_of_all(b, "workers waited %s, %s in all, for the capture to be written",
                         units_counted((int64_t)s->n_waits, "time").s,
                         units_duration(s->waits_ns).s);
    if (s->n_object_waits > 0)
        bench_say_of_all(b,
                         "workers waited %s for an object that no other used: there are too few "
                         "for --concurrent",
                         units_counted((int64_t)s->n_object_waits, "time").s);
}

void bench_warn_of_clocks(const struct bench *b)
{
    int64_t off_ns = 0;
    size_t n_off = 0;
    size_t worst = 0;

    for (size_t i = 0; i < b->engine.hosts.n; i++) {
        int64_t ns = summary_host_off_ns(b, i);
        n_off += llabs(ns) > NS_PER_S;
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
