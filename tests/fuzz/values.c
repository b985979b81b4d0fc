/* Values as people write them: accepted ones are in range, and the same when written and read
 * again.
 *
 * Input: a text. It is tried as a size, a duration, a rate, a percentage, a number, a time, a list
 * of hosts, a file of credentials and, cut at its first newline, as a pattern and a name. */
#include "tests/fuzz/fuzz.h"

#include "analyze/data/filter.h"
#include "libcommon/rfc3339.h"
#include "libcommon/units.h"
#include "loadgen/load/hosts.h"
#include "loadgen/options/options.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check_message(bool ok, const struct err *e)
{
    assert(ok == (e->msg[0] == '\0'));
}

static void check_size(const char *text)
{
    struct err e = {0};
    int64_t bytes = -1, again = -1;
    bool ok = units_parse_size(text, &bytes, &e);

    check_message(ok, &e);
    if (!ok)
        return;
    assert(bytes >= 0);
    if (bytes > INT64_MAX / 8 * 7)
        return; /* is rounded to 8EiB, which is too much */
    assert(units_parse_size(units_size((double)bytes).s, &again, &e));
    assert(fabs((double)again - (double)bytes) <= 0.01 * (double)bytes);
}

static void check_duration(const char *text)
{
    struct err e = {0}, signed_e = {0};
    int64_t ns = -1, signed_ns = -1, again = -1;
    bool ok = units_parse_duration(text, false, &ns, &e);
    bool signed_ok = units_parse_duration(text, true, &signed_ns, &signed_e);

    check_message(ok, &e);
    check_message(signed_ok, &signed_e);
    assert(!ok || (ns >= 0 && signed_ok && signed_ns == ns));
    if (!signed_ok || llabs(signed_ns) > INT64_MAX - NS_PER_S)
        return; /* is rounded up by a second, which is too much */
    assert(units_parse_duration(units_duration(signed_ns).s, true, &again, &e));
    assert(fabs((double)again - (double)signed_ns) <= 0.01 * fabs((double)signed_ns));
}

static void check_numbers(const char *text)
{
    struct err e = {0};
    double rate = -1, pct = NAN, real = NAN;
    int64_t integer = 0, again = 0;
    char written[64];

    assert(!units_parse_rate(text, &rate, &e) || (isfinite(rate) && rate >= 0));
    err_clear(&e);
    assert(!units_parse_pct(text, &pct, &e) || isfinite(pct));
    err_clear(&e);
    assert(!units_parse_double(text, &real, &e) || isfinite(real));
    err_clear(&e);
    if (units_parse_int(text, &integer, &e)) {
        snprintf(written, sizeof written, "%lld", (long long)integer);
        assert(units_parse_int(written, &again, &e) && again == integer);
    }
}

static void check_time(const char *text, size_t n)
{
    int64_t ns = -1, again = -1;

    if (!rfc3339_parse(text, n, &ns)) {
        assert(ns == -1);
        return;
    }
    assert(ns >= 0);
    struct rfc3339_text written = rfc3339_format(ns);
    assert(strlen(written.s) == RFC3339_LENGTH);
    assert(rfc3339_parse(written.s, RFC3339_LENGTH, &again) && again == ns);
}

/* The expansion of a list of hosts expands to itself. */
static void check_hosts(const char *list)
{
    struct hosts h, again;
    struct rng rng;
    struct err e = {0};
    char *joined = NULL;
    size_t n_joined;

    rng_init(&rng, 1, 1);
    bool ok = hosts_init(&h, list, HOSTS_WEIGHED, &rng, &e);
    check_message(ok, &e);
    if (!ok)
        return;
    assert(h.n > 0 && h.n <= HOSTS_MAX);
    FILE *f = open_memstream(&joined, &n_joined);
    assert(f != NULL);
    for (size_t i = 0; i < h.n; i++) {
        assert(h.host[i].name[0] != '\0' && strpbrk(h.host[i].name, "{},/@ \r\n") == NULL);
        fprintf(f, "%s%s", i > 0 ? "," : "", h.host[i].name);
    }
    fclose(f);
    assert(hosts_init(&again, joined, HOSTS_WEIGHED, &rng, &e) && again.n == h.n);
    for (size_t i = 0; i < h.n; i++)
        assert(strcmp(h.host[i].name, again.host[i].name) == 0);
    assert(hosts_pick(&h, NULL, true, 0) < h.n);
    hosts_fini(&again);
    hosts_fini(&h);
    free(joined);
}

/* A credential is a part of a line, without spaces around it. */
static void check_credential(const char *s)
{
    size_t n = s != NULL ? strlen(s) : 0;

    if (n > 0)
        assert(strchr(" \t\r\n", s[0]) == NULL && strchr(" \t\r\n", s[n - 1]) == NULL &&
               strchr(s, '\n') == NULL);
}

static void check_profile(const char *text, size_t n)
{
    struct fuzz_file file = fuzz_file(text, n);
    struct profile p;
    struct err e = {0};

    setenv("AWS_SHARED_CREDENTIALS_FILE", file.path, 1);
    setenv("AWS_CONFIG_FILE", file.path, 1);
    bool found = profile_read(&p, "default", true, &e);
    check_message(found, &e);
    for (size_t i = 0; i < PROFILE_N; i++) {
        assert(found || p.field[i] == NULL);
        check_credential(p.field[i]);
    }
    profile_fini(&p);
    close(file.fd);
}

static void check_pattern(const char *pattern, const char *name)
{
    filter_name_matches(pattern, name);
    assert(filter_name_matches(name, name));
    assert(filter_name_matches("*", name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct fuzz_input whole = {data, n}, parts = {data, n};
    size_t n_text;
    char *text = fuzz_take_rest(&whole, &n_text);
    char *pattern = fuzz_take_line(&parts, NULL);
    char *name = fuzz_take_rest(&parts, NULL);

    check_size(text);
    check_duration(text);
    check_numbers(text);
    check_time(text, n_text);
    check_hosts(text);
    check_profile(text, n_text);
    check_pattern(pattern, name);
    free(text);
    free(pattern);
    free(name);
    return 0;
}
