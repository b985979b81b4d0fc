/* Allocation that reports errors like other functions: when memory runs out, or a size overflows,
 * each of these returns false and fills *e (which may be NULL). */
#ifndef S3_LIBCOMMON_MEM_H
#define S3_LIBCOMMON_MEM_H

#include "libcommon/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets *e to "out of memory". Returns false. */
static inline bool mem_none(struct err *e)
{
    return err_set(e, "out of memory");
}

/* For the macros below. `pointer` is the address of a pointer of any type, so it is read and
 * written with memcpy. */
static inline bool mem_put(void *pointer, void *memory, struct err *e)
{
    memcpy(pointer, &memory, sizeof memory);
    return memory != NULL || mem_none(e);
}

static inline bool mem_malloc(void *pointer, size_t n, size_t size, struct err *e)
{
    return mem_put(pointer, reallocarray(NULL, n > 0 ? n : 1, size), e);
}

static inline bool mem_calloc(void *pointer, size_t n, size_t size, struct err *e)
{
    return mem_put(pointer, calloc(n > 0 ? n : 1, size), e);
}

static inline bool mem_resize(void *pointer, size_t n, size_t size, struct err *e)
{
    void *memory;

    memcpy(&memory, pointer, sizeof memory);
    memory = reallocarray(memory, n, size);
    return memory != NULL ? mem_put(pointer, memory, e) : mem_none(e);
}

static inline bool mem_reserve(void *pointer, size_t *cap, size_t n, size_t size, struct err *e)
{
    size_t larger = n < 2 * *cap ? 2 * *cap : n;

    if (n <= *cap)
        return true;
    if (!mem_resize(pointer, larger, size, e))
        return false;
    *cap = larger;
    return true;
}

static inline bool mem_grow(void *pointer, size_t n, size_t size, struct err *e)
{
    return (n & (n - 1)) != 0 || mem_resize(pointer, n > 0 ? 2 * n : 1, size, e);
}

/* Allocates n elements (one if n is 0) and points *v to them; the caller frees them. mem_cleared
 * zeroes them. False: *v is NULL. */
#define mem_new(v, n, e)     mem_malloc((v), (n), sizeof **(v), (e))
#define mem_cleared(v, n, e) mem_calloc((v), (n), sizeof **(v), (e))

/* Points *to to a copy of a text, for the caller to free. False: *to is NULL. */
static inline bool mem_text(char **to, const char *text, struct err *e)
{
    *to = strdup(text);
    return *to != NULL || mem_none(e);
}

/* Like mem_text, with a text that is formatted as by printf. */
static inline bool __attribute__((format(printf, 3, 0)))
mem_vformat(char **to, struct err *e, const char *fmt, va_list args)
{
    if (vasprintf(to, fmt, args) >= 0)
        return true;
    *to = NULL;
    return mem_none(e);
}

static inline bool __attribute__((format(printf, 3, 4)))
mem_format(char **to, struct err *e, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    bool ok = mem_vformat(to, e, fmt, args);
    va_end(args);
    return ok;
}

/* Makes room for n > 0 elements in the array *v. False: out of memory, and *v is as it was. */
#define mem_room(v, n, e) mem_resize((v), (n), sizeof **(v), (e))

/* Makes room for n elements in the array *v, which has *cap; when it grows, it at least doubles. */
#define mem_fit(v, cap, n, e) mem_reserve((v), (cap), (n), sizeof **(v), (e))

/* Makes room for one more element in the array *v of n. The capacity is the next power of two, so
 * grow the array by this macro alone. False: out of memory; *v is unchanged. */
#define mem_more(v, n, e) mem_grow((v), (n), sizeof **(v), (e))

#endif
