/* Writes a flame graph as SVG, the root on top. A box is a function at one place of the stacks; its
 * width is the share of the function and all that it calls. It needs no script and nothing from
 * elsewhere; pointing at a box shows its name and its figures. */
#ifndef S3_ANALYZE_TOOLS_PROFILE_FLAME_H
#define S3_ANALYZE_TOOLS_PROFILE_FLAME_H

#include "analyze/tools/profile/profile.h"

#include <stdio.h>

/* Writes an svg element. A profile with a base gets a graph of the difference: boxes are as wide as
 * both sides together, red where there is more than in the base, blue where there is less. Write
 * errors stay in `f`. False: out of memory. */
bool profile_write_flame(const struct profile *p, size_t type, FILE *f, struct err *e);

#endif
