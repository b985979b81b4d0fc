/* Names in a chart: finds what all of them share, so that it is printed once. */
#ifndef S3_ANALYZE_RENDER_PLOT_NAMES_H
#define S3_ANALYZE_RENDER_PLOT_NAMES_H

#include <stddef.h>

/* How many bytes of the beginning and of the end are the same in all names; both go up to a
 * separator (one of ./:-_@), so that no word or number is torn apart. */
struct plot_names {
    size_t prefix, suffix;
    char shared[160]; /* "http://10.0.0.*:9000"; "": nothing is shared */
};

/* Finds what n names share; name(ctx, i) is the i-th. */
struct plot_names plot_names_of(const char *(*name)(const void *ctx, size_t i), const void *ctx,
                                size_t n);

/* Copies the part of a name that is not shared: at most `size` - 1 bytes of it. */
void plot_names_rest(const struct plot_names *names, const char *name, char *out, size_t size);

#endif
