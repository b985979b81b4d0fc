#include "loadgen/run/launcher.h"

#include <stddef.h>
#include <stdlib.h>

static long number_in(const char *name)
{
    const char *value = getenv(name);

    return value != NULL ? strtol(value, NULL, 10) : 0;
}

long launcher_copies(void)
{
    const long numbers[] = {
        number_in("OMPI_COMM_WORLD_SIZE"),
        number_in("PMI_SIZE"),
        number_in("PMIX_RANK") + 1,
        /* A batch script has the number of tasks too, but only what srun starts is one of them. */
        getenv("SLURM_STEP_ID") != NULL ? number_in("SLURM_NTASKS") : 0,
    };
    long n = 1;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        n = numbers[i] > n ? numbers[i] : n;
    return n;
}
