#include "analyze/render/plot/charts_internal.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_separator(char c)
{
    return c != '\0' && strchr("./:-_@", c) != NULL;
}

struct plot_names plot_names_of(const char *(*name)(const void *ctx, size_t i), const void *ctx,
                                size_t n)
{
    struct plot_names x = {0, 0, ""};
    if (n < 2)
        return x;
    const char *first = name(ctx, 0);
    size_t length = strlen(first), shortest = length;
    x.prefix = x.suffix = length;
    for (size_t i = 1; i < n; i++) {
        const char *other = name(ctx, i);
        size_t other_length = strlen(other), k = 0;

        shortest = other_length < shortest ? other_length : shortest;
        while (k < x.prefix && k < other_length && other[k] == first[k])
            k++;
        x.prefix = k;
        for (k = 0; k < x.suffix && k < other_length &&
                    other[other_length - 1 - k] == first[length - 1 - k];)
            k++;
        x.suffix = k;
    }
    while (x.prefix > 0 && !is_separator(first[x.prefix - 1]))
        x.prefix--;
    while (x.suffix > 0 && !is_separator(first[length - x.suffix]))
        x.suffix--;
    if (x.prefix + x.suffix >= shortest)
        x.prefix = x.suffix = 0;
    if (x.prefix + x.suffix > 0)
        snprintf(x.shared, sizeof x.shared, "%.*s*%s", (int)x.prefix, first,
                 first + length - x.suffix);
    return x;
}

void plot_names_rest(const struct plot_names *names, const char *name, char *out, size_t size)
{
    size_t length = strlen(name);
    snprintf(out, size, "%.*s", (int)(length - names->prefix - names->suffix),
             name + names->prefix);
}
