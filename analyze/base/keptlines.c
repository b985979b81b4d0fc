#include "analyze/base/keptlines.h"

#include "libcommon/mem.h"

#include <stdlib.h>
#include <string.h>

bool keptlines_add(struct keptlines *k, size_t n_each, const char *text, size_t n, struct err *e)
{
    struct keptline *line;

    if (k->n < 2 * n_each) {
        if (!mem_more(&k->line, k->n, e))
            return false;
        line = &k->line[k->n++];
        *line = (struct keptline){0};
    } else {
        /* The second half of the lines is a ring buffer. */
        if (k->n_left_out++ == 0 || k->next == k->n)
            k->next = n_each;
        line = &k->line[k->next++];
    }
    if (!mem_fit(&line->text, &line->room, n + 1, e))
        return false;
    memcpy(line->text, text, n);
    line->text[n] = '\0';
    return true;
}

const char *keptlines_get(const struct keptlines *k, size_t i)
{
    size_t half = k->n / 2;

    if (k->n_left_out > 0 && i >= half)
        i = i + k->next - half < k->n ? i + k->next - half : i + k->next - k->n;
    return k->line[i].text;
}

void keptlines_fini(struct keptlines *k)
{
    for (size_t i = 0; i < k->n; i++)
        free(k->line[i].text);
    free(k->line);
    *k = (struct keptlines){0};
}
