#include "analysis_internal.h"
#include <stdlib.h>
bool analysis_warnings(struct analysis *a, struct err *e)
{
    (void)a;(void)e;
    return true;
}
void analysis_warnings_free(struct analysis *a)
{
    free(a->warnings);
}
