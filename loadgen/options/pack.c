#include "libcommon/mem.h"
#include "libcommon/secret.h"
#include "loadgen/options/options.h"

#include <string.h>

#define N_TEXTS (sizeof((struct options *)0)->text / sizeof(char *))

/* A byte before each text says whether there is one. */
char *options_pack(const struct options *o, size_t *n)
{
    const char *const *text = o->text;

    *n = sizeof *o;
    for (size_t i = 0; i < N_TEXTS; i++)
        *n += 1 + (text[i] != NULL ? strlen(text[i]) + 1 : 0);
    char *data = secret_alloc(*n);
    if (data == NULL)
        return NULL;
    char *p = mempcpy(data, o, sizeof *o);
    for (size_t i = 0; i < N_TEXTS; i++) {
        *p++ = text[i] != NULL;
        if (text[i] != NULL)
            p = stpcpy(p, text[i]) + 1;
    }
    return data;
}

bool options_unpack(struct options *o, const char *data, size_t n, struct err *e)
{
    char *copy = secret_copy(data + sizeof *o, n - sizeof *o);

    if (copy == NULL)
        return mem_none(e);
    memcpy(o, data, sizeof *o);
    const char *p = copy;
    for (size_t i = 0; i < N_TEXTS; i++) {
        o->text[i] = *p++ != 0 ? p : NULL;
        if (o->text[i] != NULL)
            p += strlen(p) + 1;
    }
    o->show.slo = (struct cli_list){0};
    o->memory[0] = copy;
    o->n_memory = 1;
    return true;
}
