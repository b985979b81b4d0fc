/* Reads protocol buffers: the wire format of profile.proto. Nothing is copied; slices point into
 * the message. */
#ifndef S3_ANALYZE_PROFILE_WIRE_H
#define S3_ANALYZE_PROFILE_WIRE_H

#include "libcommon/err.h"
#include "libcommon/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message that is being read, and its current field. */
struct wire {
    const unsigned char *p, *end;
    const char *fault; /* not NULL: the message is damaged; says how */
    uint64_t number;   /* number of the field */
    bool is_bytes;     /* a message, a text or packed numbers: `bytes` */
    bool is_varint;    /* a number: `value`; `bytes` has its encoding */
    uint64_t value;
    struct slice bytes;
};

/* Starts before the first field of a message, or before the first of packed numbers. */
struct wire wire_begin(struct slice message);

/* Goes to the next field. False: the message has ended, or is damaged (fault). */
bool wire_next(struct wire *w);

/* Reads the next of packed numbers, or the only one of a field that is a number. False as for
 * wire_next. */
bool wire_number(struct wire *w, uint64_t *value);

/* Reads the fields 1 .. n that are numbers into v[1 .. n]: 0 if a field is missing, the last value
 * if it is repeated. Skips the fields in the bit mask `others` (1 << number), and all above n.
 * False: *e says what is wrong. */
bool wire_numbers(struct slice message, uint64_t *v, size_t n, unsigned others, struct err *e);

#endif
