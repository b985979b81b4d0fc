#include "loadgen/run/orders.h"

#include "libcommon/secret.h"

#include <stddef.h>
#include <string.h>

/* All that points to text. */
static const size_t TEXTS[] = {
    offsetof(struct orders, options.hosts),
    offsetof(struct orders, options.access_key),
    offsetof(struct orders, options.secret_key),
    offsetof(struct orders, options.session_token),
    offsetof(struct orders, options.profile),
    offsetof(struct orders, options.credential_process),
    offsetof(struct orders, options.region),
    offsetof(struct orders, options.bucket),
    offsetof(struct orders, options.cacert),
    offsetof(struct orders, options.syncstart),
    offsetof(struct orders, options.prefix),
    offsetof(struct orders, options.storage_class),
    offsetof(struct orders, options.benchdata),
    offsetof(struct orders, options.label),
    offsetof(struct orders, options.run_id),
    offsetof(struct orders, command_line),
};
#define N_TEXTS (sizeof TEXTS / sizeof *TEXTS)

static const char *text_of(const struct orders *d, size_t i)
{
    const char *text = NULL;

    memcpy(&text, (const char *)d + TEXTS[i], sizeof text);
    return text;
}

/* A byte says whether there is text. */
char *orders_pack(const struct orders *d, size_t *n)
{
    *n = sizeof *d;
    for (size_t i = 0; i < N_TEXTS; i++)
        *n += 1 + (text_of(d, i) != NULL ? strlen(text_of(d, i)) + 1 : 0);
    char *data = secret_alloc(*n);
    if (data == NULL)
        return NULL;
    char *p = mempcpy(data, d, sizeof *d);
    for (size_t i = 0; i < N_TEXTS; i++) {
        *p++ = text_of(d, i) != NULL;
        if (text_of(d, i) != NULL)
            p = stpcpy(p, text_of(d, i)) + 1;
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
        const char *text = *p++ != 0 ? p : NULL;
        memcpy((char *)d + TEXTS[i], &text, sizeof text);
        if (text != NULL)
            p += strlen(text) + 1;
    }
    d->options.memory[0] = copy;
    d->options.n_memory = 1;
    return true;
}
