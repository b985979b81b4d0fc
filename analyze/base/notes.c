#include "analyze/base/notes.h"

#include "libcommon/mem.h"

#include <stdarg.h>
#include <stdlib.h>

bool notes_add(struct notes *notes, struct err *e, const char *code, const char *op,
               const char *fmt, ...)
{
    struct note note = {code, op, NULL};
    va_list args;

    if (!mem_more(&notes->v, notes->n, e))
        return false;
    va_start(args, fmt);
    bool ok = mem_vformat(&note.message, e, fmt, args);
    va_end(args);
    if (ok)
        notes->v[notes->n++] = note;
    return ok;
}

void notes_free(struct notes *notes)
{
    for (size_t i = 0; i < notes->n; i++)
        free(notes->v[i].message);
    free(notes->v);
}
