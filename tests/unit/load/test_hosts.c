#include "loadgen/load/hosts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct rng rng;

/* Returns the expansion of `list` as a comma-separated list, or its error. */
static const char *expand(const char *list)
{
    static char out[4096];
    struct hosts h;
    struct err e = {0};
    size_t n = 0;

    rng_init(&rng, 1, 0);
    if (!hosts_init(&h, list, HOSTS_WEIGHED, &rng, &e)) {
        snprintf(out, sizeof out, "error: %s", e.msg);
        return out;
    }
    out[0] = '\0';
    for (size_t i = 0; i < h.n; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", i > 0 ? "," : "", h.host[i].name);
    hosts_fini(&h);
    return out;
}

static void test_lists(void **state)
{
    (void)state;
    assert_string_equal(expand("127.0.0.1:9000"), "127.0.0.1:9000");
    assert_string_equal(expand("a,b:80 , c"), "a,b:80,c");
    assert_string_equal(expand("[::1]:9000,[fe80::1%eth0]"), "[::1]:9000,[fe80::1%eth0]");
    assert_string_equal(expand("10.0.0.{1...3}:9000"), "10.0.0.1:9000,10.0.0.2:9000,10.0.0.3:9000");
    assert_string_equal(expand("s{1...2}-{1...2}.x:900{0...1}"),
                        "s1-1.x:9000,s1-1.x:9001,s1-2.x:9000,s1-2.x:9001,"
                        "s2-1.x:9000,s2-1.x:9001,s2-2.x:9000,s2-2.x:9001");
    assert_string_equal(expand("{9...11}"), "9,10,11");
    assert_string_equal(expand("n{08...11}"), "n08,n09,n10,n11");
    assert_string_equal(expand("n{0...2},m"), "n0,n1,n2,m");
    assert_string_equal(expand("[fd00::{9...10}]:1"), "[fd00::9]:1,[fd00::10]:1");
    assert_string_equal(expand("h:{65534...65535}"), "h:65534,h:65535");
    assert_string_equal(expand("h{3...3}"), "h3");
}

static void assert_refused(const char *list, const char *message)
{
    const char *out = expand(list);

    assert_memory_equal(out, "error: ", 7);
    assert_non_null(strstr(out, message));
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused("", "empty");
    assert_refused("a,", "empty");
    assert_refused("a,,b", "empty");
    assert_refused("http://a:9000", "not a URL");
    assert_refused("user:pw@a", "without user and password");
    assert_refused("a/b", "unexpected '/'");
    assert_refused("a:", "port");
    assert_refused("a:0", "1..65535");
    assert_refused("a:65536", "1..65535");
    assert_refused("a:12x", "port");
    assert_refused(":9000", "no host name");
    assert_refused("[::1", "no ']'");
    assert_refused("::1", "[::1]:9000");
    assert_refused("::1:9000", "[::1]:9000");
    assert_refused("fe80::1", "[::1]:9000");
    assert_refused("a:9000/", "without the '/'");
    assert_refused("h{1..3}", "{1...10}");
    assert_refused("h{1...3", "{1...10}");
    assert_refused("h{...3}", "{1...10}");
    assert_refused("h{a...c}", "{1...10}");
    assert_refused("h{1...2,3}", "{1...10}");
    assert_refused("h{3...1}", "goes down");
    assert_refused("h{1...99999999999}", "{1...10}");
    assert_refused("h{1...999999999}", "more than 65536 hosts");
    assert_refused("h{1...1000}{1...1000}", "more than 65536 hosts");
    assert_refused("h}", "unexpected '}'");

    char longest[400];
    memset(longest, 'x', sizeof longest);
    longest[399] = '\0';
    assert_refused(longest, "longer than");
    strcpy(longest + 259, "{10...10}");
    assert_refused(longest, "longer than");
}

static void test_roundrobin(void **state)
{
    (void)state;
    struct hosts h;
    struct err e = {0};

    assert_true(hosts_init(&h, "h{0...2}", HOSTS_ROUNDROBIN, &rng, &e));
    for (size_t i = 0; i < 30; i++) {
        assert_int_equal(hosts_pick(&h, NULL, true, 0), i % 3);
        hosts_release(&h, i % 3, (int64_t)i);
    }
    hosts_fini(&h);
}

/* The host with the fewest running requests is chosen; among equals, the one whose last request
 * ended first. */
static void test_weighed(void **state)
{
    (void)state;
    struct hosts h;
    struct err e = {0};
    bool used[4] = {false};

    rng_init(&rng, 7, 0);
    assert_true(hosts_init(&h, "h{0...3}", HOSTS_WEIGHED, &rng, &e));
    for (int i = 0; i < 4; i++)
        used[hosts_pick(&h, NULL, true, 0)] = true;
    for (int i = 0; i < 4; i++)
        assert_true(used[i]);

    const size_t order[] = {2, 0, 3, 1};
    for (size_t i = 0; i < 4; i++)
        hosts_release(&h, order[i], 100 + (int64_t)i);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(hosts_pick(&h, NULL, true, 0), order[i]);

    /* Host 3 is idle; each of the others has one request. */
    hosts_release(&h, 3, 1000);
    assert_int_equal(hosts_pick(&h, NULL, true, 0), 3);
    /* Hosts 1 and 2 have two requests. Of 0 and 3, host 0 was released earlier (101) than 3
     * (1000). */
    const struct conn_list idle_1[4] = {[1] = {(struct conn *)&h}};
    const struct conn_list idle_2[4] = {[2] = {(struct conn *)&h}};
    assert_int_equal(hosts_pick(&h, idle_1, false, 0), 1);
    assert_int_equal(hosts_pick(&h, idle_2, false, 0), 2);
    assert_int_equal(hosts_pick(&h, NULL, true, 0), 0);
    assert_int_equal(hosts_pick(&h, NULL, true, 0), 3);
    hosts_fini(&h);
}

/* As above, with many hosts and random ends: the choice is that of a search. */
static void test_weighed_many(void **state)
{
    (void)state;
    struct hosts h;
    struct err e = {0};

    rng_init(&rng, 8, 0);
    assert_true(hosts_init(&h, "h{1...37}", HOSTS_WEIGHED, &rng, &e));
    for (int64_t now_ns = 1; now_ns < 4000; now_ns++) {
        size_t at = (size_t)rng_below(&rng, h.n);
        if (h.host[at].n_running > 0 && rng_below(&rng, 10) < 6) {
            hosts_release(&h, at, now_ns);
            continue;
        }
        size_t best = 0;
        for (size_t i = 1; i < h.n; i++)
            if (h.host[i].n_running < h.host[best].n_running ||
                (h.host[i].n_running == h.host[best].n_running &&
                 h.host[i].idle_since_ns < h.host[best].idle_since_ns))
                best = i;
        assert_int_equal(hosts_pick(&h, NULL, true, now_ns), best);
    }
    hosts_fini(&h);
}

/* The first choice depends on the seed, and each host is chosen about as often. */
static void test_first_is_random(void **state)
{
    (void)state;
    int n[4] = {0};

    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct hosts h;
        struct err e = {0};
        rng_init(&rng, seed, 0);
        assert_true(hosts_init(&h, "h{0...3}", HOSTS_WEIGHED, &rng, &e));
        n[hosts_pick(&h, NULL, true, 0)]++;
        hosts_fini(&h);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(n[i], 880, 1120); /* 1000, over 4 standard deviations */
}

static void test_down(void **state)
{
    (void)state;
    struct hosts h;
    struct err e = {0};
    const enum hosts_select selects[] = {HOSTS_WEIGHED, HOSTS_ROUNDROBIN};

    for (size_t k = 0; k < 2; k++) {
        assert_true(hosts_init(&h, "h{0...1}", selects[k], &rng, &e));
        assert_true(hosts_all_down_since(&h) == INT64_MAX);
        hosts_cannot_connect(&h, 0, 100);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(hosts_pick(&h, NULL, true, 200), 1);
            hosts_release(&h, 1, 200);
        }
        assert_true(hosts_all_down_since(&h) == INT64_MAX);
        hosts_cannot_connect(&h, 1, 300);
        hosts_cannot_connect(&h, 0, 400);
        assert_true(hosts_all_down_since(&h) == 300);
        assert_true(hosts_pick(&h, NULL, true, 500) == HOSTS_NONE);
        /* An established connection can be used, and its host counts as reachable until it ends. */
        const struct conn_list idle[2] = {[0] = {(struct conn *)&h}};
        assert_int_equal(hosts_pick(&h, idle, false, 500), 0);
        hosts_release(&h, 0, 500);
        hosts_was_in_use(&h, 0, 600);
        assert_true(hosts_all_down_since(&h) == 600);

        /* After a while each host is retried, by one request at a time, but not forever. */
        h.try_ns = 1000;
        int64_t now_ns = 300 + HOSTS_PAUSE_NS;
        assert_true(hosts_pick(&h, NULL, false, now_ns) == HOSTS_NONE);
        assert_int_equal(hosts_pick(&h, NULL, true, now_ns), 1);
        assert_true(hosts_pick(&h, NULL, true, now_ns) == HOSTS_NONE);
        assert_true(hosts_pick(&h, NULL, true, now_ns + 1000) != HOSTS_NONE);
        hosts_release(&h, 1, now_ns);
        hosts_connected(&h, 1);
        assert_true(hosts_all_down_since(&h) == INT64_MAX);
        assert_int_equal(hosts_pick(&h, NULL, true, now_ns + 1), 1);
        hosts_fini(&h);
    }
}

/* One host needs no choice, but the rest is the same. */
static void test_one_host(void **state)
{
    (void)state;
    struct hosts h;
    struct err e = {0};

    assert_true(hosts_init(&h, "h", HOSTS_WEIGHED, &rng, &e));
    assert_int_equal(hosts_pick(&h, NULL, true, 0), 0);
    hosts_cannot_connect(&h, 0, 10);
    assert_true(hosts_pick(&h, NULL, true, 20) == HOSTS_NONE);
    assert_true(hosts_all_down_since(&h) == 10);
    hosts_connected(&h, 0);
    assert_int_equal(hosts_pick(&h, NULL, true, 30), 0);
    hosts_fini(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_roundrobin),   cmocka_unit_test(test_weighed),
        cmocka_unit_test(test_weighed_many), cmocka_unit_test(test_first_is_random),
        cmocka_unit_test(test_down),         cmocka_unit_test(test_one_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
