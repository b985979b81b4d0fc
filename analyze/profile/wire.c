#include "analyze/profile/wire.h"

#include <string.h>

enum { VARINT = 0, EIGHT_BYTES = 1, BYTES = 2, FOUR_BYTES = 5 };

struct wire wire_begin(struct slice message)
{
    const unsigned char *p = (const unsigned char *)message.p;

    return (struct wire){.p = p, .end = p + message.n};
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

/* Skips n bytes: profiles have no numbers of a fixed size. */
static bool skip(struct wire *w, size_t n)
{
    if ((size_t)(w->end - w->p) < n)
        return fault(w, "a field is cut");
    w->p += n;
    return true;
}

bool wire_next(struct wire *w)
{
    uint64_t tag;

    if (w->fault != NULL || w->p == w->end || !varint(w, &tag))
        return false;
    w->number = tag >> 3;
    w->is_bytes = (tag & 7) == BYTES;
    w->is_varint = (tag & 7) == VARINT;
    w->value = 0;
    switch (tag & 7) {
    case VARINT:
        w->bytes.p = (const char *)w->p;
        if (!varint(w, &w->value))
            return false;
        w->bytes.n = (size_t)((const char *)w->p - w->bytes.p);
        return true;
    case EIGHT_BYTES:
        return skip(w, 8);
    case FOUR_BYTES:
        return skip(w, 4);
    case BYTES:
        break;
    default:
        return fault(w, "a field of an unknown kind");
    }
    uint64_t n;
    if (!varint(w, &n))
        return false;
    if (n > (uint64_t)(w->end - w->p))
        return fault(w, "a field is longer than what is left");
    w->bytes = (struct slice){(const char *)w->p, (size_t)n};
    w->p += n;
    return true;
}

bool wire_number(struct wire *w, uint64_t *value)
{
    return w->fault == NULL && w->p < w->end && varint(w, value);
}

bool wire_numbers(struct slice message, uint64_t *v, size_t n, unsigned others, struct err *e)
{
    struct wire w = wire_begin(message);

    memset(v, 0, (n + 1) * sizeof *v);
    while (wire_next(&w)) {
        if (w.number == 0 || w.number > n || (others >> w.number & 1) != 0)
            continue;
        if (!w.is_varint)
            return err_set(e, "a field is of the wrong kind");
        v[w.number] = w.value;
    }
    return w.fault == NULL || err_set(e, "%s", w.fault);
}
