#include "loadgen/run/orders.h"

#include "libcommon/secret.h"

#include <string.h>

#define N_TEXTS (sizeof((struct options *)0)->text / sizeof(char *))

/* A byte says whether there is text. */
char *orders_pack(const struct orders *d, size_t *n)
{
    const char *const *text = d->options.text;

    *n = sizeof *d;
    for (size_t i = 0; i < N_TEXTS; i++)
        *n += 1 + (text[i] != NULL ? strlen(text[i]) + 1 : 0);
    char *data = secret_alloc(*n);
    if (data == NULL)
        return NULL;
    char *p = mempcpy(data, d, sizeof *d);
    for (size_t i = 0; i < N_TEXTS; i++) {
        *p++ = text[i] != NULL;
        if (text[i] != NULL)
            p = stpcpy(p, text[i]) + 1;
    }
    return data;
}

bool orders_unpack(struct orders *d, const char *data, size_t n, struct err *e)
{
    char *copy = secret_copy(data + sizeof *d, n - sizeof *d);

    if (copy == NULL)
        return err_set(e, "out of memory");
    memcpy(d, data, sizeof *d);
    const char *p = copy;
    for (size_t i = 0; i < N_TEXTS; i++) {
        d->options.text[i] = *p++ != 0 ? p : NULL;
        if (d->options.text[i] != NULL)
            p += strlen(p) + 1;
    }
    d->options.memory[0] = copy;
    d->options.n_memory = 1;
    return true;
}
