#include "analyze/profile/wire.h"

#include <string.h>

enum { VARINT = 0, EIGHT_BYTES = 1, BYTES = 2, FOUR_BYTES = 5 };

struct wire wire_begin(struct slice message, const char *fields)
{
    const unsigned char *p = (const unsigned char *)message.p;

    return (struct wire){
        .p = p, .end = p + message.n, .fields = fields, .n_fields = strlen(fields)};
}

static bool fault(struct wire *w, const char *why)
{
    w->fault = why;
    return false;
}

/* Reads a number: little-endian, seven bits a byte, at most ten bytes. Bits past the 64th are
 * lost. */
static bool varint(struct wire *w, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < 10 && w->p < w->end; i++) {
        unsigned char c = *w->p++;
        *value |= (uint64_t)(c & 0x7f) << (7 * i);
        if ((c & 0x80) == 0)
            return true;
    }
    return fault(w, "a number without an end");
}

/* Reads what follows the tag of a field. */
static bool read_field(struct wire *w, unsigned type)
{
    const unsigned char *from = w->p;
    uint64_t n = type == EIGHT_BYTES ? 8 : 4;

    if (type == VARINT) {
        if (!varint(w, &w->value))
            return false;
        w->bytes = (struct slice){(const char *)from, (size_t)(w->p - from)};
        return true;
    }
    if (type != EIGHT_BYTES && type != BYTES && type != FOUR_BYTES)
        return fault(w, "a field of an unknown kind");
    if (type == BYTES && !varint(w, &n))
        return false;
    if (n > (uint64_t)(w->end - w->p))
        return fault(w, "a field is longer than what is left");
    w->bytes = (struct slice){(const char *)w->p, (size_t)n};
    w->p += n;
    return true;
}

bool wire_next(struct wire *w)
{
    char kind = '-';
    unsigned type = VARINT;

    while (kind == '-') {
        uint64_t tag;

        if (w->fault != NULL || w->p == w->end || !varint(w, &tag))
            return false;
        type = tag & 7;
        w->number = tag >> 3;
        kind = w->number < w->n_fields ? w->fields[w->number] : '-';
        if (!read_field(w, type))
            return false;
    }
    /* Profiles have no numbers of a fixed size. */
    bool fits = type == VARINT ? kind != 'm' : type == BYTES && (kind == 'm' || kind == 'r');
    return fits || fault(w, "a field is of the wrong kind");
}

bool wire_number(struct wire *w, uint64_t *value)
{
    return w->fault == NULL && w->p < w->end && varint(w, value);
}

bool wire_end(const struct wire *w, struct err *e)
{
    return w->fault == NULL || err_set(e, "%s", w->fault);
}

bool wire_numbers(struct slice message, const char *fields, uint64_t *v, struct err *e)
{
    struct wire w = wire_begin(message, fields);

    memset(v, 0, w.n_fields * sizeof *v);
    while (wire_next(&w))
        v[w.number] = w.value;
    return wire_end(&w, e);
}
