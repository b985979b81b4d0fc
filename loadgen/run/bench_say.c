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
