/* Reads protocol buffers: the wire format of profile.proto. Nothing is copied; slices point into
 * the message.
 *
 * A text says what the fields of a message are, a letter for each number from 0 on: 'n' a number,
 * 's' one that stands for a string, 'm' a message or a text, 'r' numbers, packed or not, and '-'
 * what is passed over, as are all fields behind. A field of another kind is damage. */
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
    const char *fields;
    size_t n_fields;
    const char *fault;  /* not NULL: the message is damaged; says how */
    size_t number;      /* of the field */
    uint64_t value;     /* of a number */
    struct slice bytes; /* of the field as it stands there */
};

/* Starts before the first field of a message, or before the first of packed numbers. */
struct wire wire_begin(struct slice message, const char *fields);

/* Goes to the next field. False: the message has ended, or is damaged (fault). */
bool wire_next(struct wire *w);

/* Reads the next of packed numbers, or the only one of a field that is a number. False as for
 * wire_next. */
bool wire_number(struct wire *w, uint64_t *value);

/* Returns whether the message was not damaged; else *e says how it is. */
bool wire_end(const struct wire *w, struct err *e);

/* Reads the fields of a message of numbers into v, by their number: 0 if a field is missing, the
 * last value if it is repeated. False: *e says what is wrong. */
bool wire_numbers(struct slice message, const char *fields, uint64_t *v, struct err *e);

#endif
