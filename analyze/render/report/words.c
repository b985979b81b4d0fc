#include "analyze/render/report/words.h"

#include "libcommon/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void add(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(FILE *f, const char *fmt, ...)
{
    va_list args;
    if (ftell(f) > 0)
        fputs("; ", f);
    va_start(args, fmt);
    vfprintf(f, fmt, args);
    va_end(args);
}

static void add_filter(FILE *f, const struct load_filter *filter)
{
    for (size_t i = 0; i < filter->ops.n; i++) {
        if (i == 0)
            add(f, "operations %s", filter->ops.v[i]);
        else
            fprintf(f, ", %s", filter->ops.v[i]);
    }
    if (filter->host != NULL)
        add(f, "hosts %s", filter->host);
    if (filter->client != NULL)
        add(f, "clients %s", filter->client);
    if (filter->sizes.given)
        add(f, "sizes %s", filter_sizes_text(&filter->sizes).s);
    if (filter->from.given)
        add(f, "from %s", filter_time_text(&filter->from).s);
    if (filter->to.given)
        add(f, "to %s", filter_time_text(&filter->to).s);
}

static void add_analysis(FILE *f, const struct load_analysis *a)
{
    static const char *const ranges[] = {
        [RANGE_ALL] = "the range in which all threads ran",
        [RANGE_SINGLE] = "the range from the second start to the last but one end",
        [RANGE_FULL] = "the range from first start to last end"};
    if (a->skip_ns > 0)
        add(f, "without the first %s of each operation", units_duration(a->skip_ns).s);
    if (a->segment_ns > 0)
        add(f, "segments of %s", units_duration(a->segment_ns).s);
    if (a->range != RANGE_AUTO)
        add(f, "%s", ranges[a->range]);
    if (a->steady)
        add(f, "without the warm-up");
    if (a->co_interval_ns > 0)
        add(f, "corrected for coordinated omission, one request every %s",
            units_duration(a->co_interval_ns).s);
}

char *load_words(const struct load_filter *filter, const struct load_analysis *analysis)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);

    if (f == NULL)
        return NULL;
    add_filter(f, filter);
    add_analysis(f, analysis);
    bool ok = !ferror(f);
    if (fclose(f) != 0 || !ok) {
        free(text);
        return NULL;
    }
    return text;
}
