/* Shared only by the files of this folder: what makes the data files of charts. Each file has a
 * block "chart" of one row: its title, the time axis, and how many rows the other blocks have, so
 * that a script never reads an empty one. Write errors stay in `f`. */
#ifndef S3_ANALYZE_RENDER_PLOT_CHARTS_INTERNAL_H
#define S3_ANALYZE_RENDER_PLOT_CHARTS_INTERNAL_H

#include "analyze/render/plot/data.h"
#include "analyze/render/plot/plot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- Charts ---- */

/* A chart of any model. */
struct plot_chart {
    const char *name, *title, *caption; /* as in struct plot_kind */
    /* Writes the data of *ctx. False: out of memory. */
    bool (*write)(FILE *f, const void *ctx, const char *title);
    const char *stem; /* file name if the options have none; NULL: "NAME-OP" */
    int height;       /* pixels; 0: as the options or all charts */
};

/* Adds a chart of an operation (NULL: of none; "": of all together) and writes its data file.
 * False: *e says why. */
bool plot_add(struct plot_set *s, const struct plot_chart *c, const char *op, const void *ctx,
              const struct plot_options *o, struct err *e);

/* As plot_listed, of a comparison. */
struct plot_listed plot_compare_listed(size_t i);

/* A kind of chart of a run: its name is that of its script in plots/. */
struct plot_kind {
    const char *name;
    const char *title;                 /* "latency over time" */
    const char *caption;               /* how to read it, for reports */
    bool of_requests;                  /* drawn only if the source has requests */
    const struct plot_kind *else_kind; /* drawn instead of it if not; NULL: none */
    bool of_parties; /* also drawn of all operations together if only series are known of them */
    bool is_by_name; /* drawn only if it is asked for by name */
    bool is_course;  /* left out of pages, which have a timeline of their own */
    /* Whether there is data to draw; NULL: always. */
    bool (*has_data)(const struct plot_data *p);
    /* Whether it shows more than other charts do; NULL: always. `all`: the data of all operations
     * together in a mixed run, else p. */
    bool (*is_worth)(const struct plot_data *p, const struct plot_data *all);
    /* Writes the data file. False: out of memory. */
    bool (*write)(FILE *f, const struct plot_data *p, const char *title);
    /* Writes the values that a page's script shows, as JSON; NULL: the script has them from
     * elsewhere. False: out of memory. */
    bool (*readings)(FILE *f, const struct plot_data *p);
    /* Height in pixels; NULL: the usual one. */
    int (*height)(const struct plot_data *p);
};

extern const struct plot_kind plot_kind_throughput, plot_kind_hosts, plot_kind_latency,
    plot_kind_latency_heat, plot_kind_spectrum, plot_kind_host_latency, plot_kind_errors,
    plot_kind_cdf, plot_kind_latency_size, plot_kind_sizes, plot_kind_in_flight, plot_kind_clients,
    plot_kind_autoterm, plot_kind_groups, plot_kind_response;

/* The start of the run in seconds since 1970, and the ends of the axis of time in seconds into the
 * run; 0, 0 and 1 if there is none (p NULL). */
double charts_zero_unix(const struct plot_data *p);
double charts_t_min(const struct plot_data *p);
double charts_t_max(const struct plot_data *p);

/* Returns the middle of bin k, in seconds into the run. */
double charts_bin_middle_s(const struct plot_data *p, const struct slice_grid *b, size_t k);

/* Finds the least and the greatest bucket of a heat map with a request, and widens *least to
 * *greatest by one each way: of a single row gnuplot draws no picture. The bucket of count[i] is
 * i / `step` modulo PLOT_DATA_N_LOG. Returns the greatest count. */
uint32_t charts_extent(const uint32_t *count, size_t n, size_t step, size_t *least,
                       size_t *greatest);

/* Writes the block "events", and the block "shades": the time outside the active range, and the
 * warm-up within. Returns the number of rows of "shades". */
int64_t charts_put_shades(FILE *f, const struct plot_data *p);

/* Whether there is one distribution of durations: not of several operations together. */
bool charts_has_durations(const struct plot_data *p);

/* Writes the block "events": a row for each finding of these requests that begins or ends while
 * they run, the worst first, with its number in the list of findings; then the first error, unless
 * a finding begins with it. A dummy row comes first, so that the block is never empty. */
void plot_events_put(FILE *f, const struct plot_data *p);

/* ---- The data file: tab-separated blocks that gnuplot finds by name ---- */

/* Starts a block: a comment with its name, and a row of column names, which `columns` separates by
 * spaces. Two empty lines end the block before it. */
void plot_out_block(FILE *f, const char *name, const char *columns);

/* Writes one row. `kinds` has a letter for each value: r a double (NaN: none), i an int64_t, t a
 * time in ns (int64_t), n a number's text (csv_out_number), s a text. Text from captures is made
 * safe: no tabs, no quotes, no control characters, and cut to a short length. */
void plot_out_row(FILE *f, const char *kinds, ...);

/* Writes the block "chart": the title, the start of the run in seconds since 1970, the ends of the
 * axis of time (p NULL: there is none), then `columns` with values of these `kinds`. */
#define PLOT_OUT_CHART(f, p, title, columns, kinds, ...)                                           \
    (plot_out_block(f, "chart", "title zero_unix t_min t_max " columns),                           \
     plot_out_row(f, "srrr" kinds, title, charts_zero_unix(p), charts_t_min(p), charts_t_max(p),   \
                  __VA_ARGS__))

/* Writes rows (ms, percent) of the cumulative distribution of n > 0 values, the greatest max_ns,
 * from HIST_N_INDEXES counters (by hist_index). Writes a point where the distribution has risen by
 * one part in `steps`, or moved by that to the right on a log scale. */
void plot_cdf_rows(FILE *f, const uint64_t *count, uint64_t n, int64_t max_ns, unsigned steps);

/* ---- What all names in a chart share is printed once ---- */

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

/* ---- gnuplot ---- */

/* Returns the folder of the scripts, which the caller frees. NULL: *e says what is missing. */
char *plot_scripts(struct err *e);

/* Returns the bytes of a file, with a NUL after them, which the caller frees. NULL: *e says why. */
char *plot_read_file(const char *path, size_t *n, struct err *e);

/* Copies the picture at `from` to `path`, gives it its title and the size at which it is shown: in
 * pixels, or `inches` wide if that is not 0. */
bool plot_svg_finish(const char *from, const char *path, const char *title, int width, int height,
                     double inches, struct err *e);

#endif
