#include "loadgen/util/util.h"

#include <inttypes.h>
#include <stdio.h>

#define N_TRIES 16

int64_t clock_offset_ns(void)
{
    int64_t best_ns = CLOCK_NEVER;
    int64_t offset_ns = 0;

    for (int i = 0; i < N_TRIES; i++) {
        int64_t before_ns = clock_now_ns();
        int64_t real_ns = clock_real_ns();
        int64_t taken_ns = clock_now_ns() - before_ns;

        if (taken_ns < best_ns) {
            best_ns = taken_ns;
            offset_ns = real_ns - (before_ns + taken_ns / 2);
        }
    }
    return offset_ns;
}

struct clock_share clock_thread_share(const char *root)
{
    char text[128];
    struct clock_share s;
    bool known = kernel_text(root, "/proc/thread-self/schedstat", text, sizeof text) &&
                 sscanf(text, "%" SCNd64 " %" SCNd64, &s.ran_ns, &s.waited_ns) == 2;

    return known ? s : (struct clock_share){-1, -1};
}

bool clock_cond_wait(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ns)
{
    const struct timespec t = {until_ns / NS_PER_S, until_ns % NS_PER_S};

    return pthread_cond_clockwait(c, lock, CLOCK_MONOTONIC, &t) == 0;
}
