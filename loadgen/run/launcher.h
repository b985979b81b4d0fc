/* What started this process: mpirun, srun and the like set variables for the copies they start. */
#ifndef S3_LOADGEN_RUN_LAUNCHER_H
#define S3_LOADGEN_RUN_LAUNCHER_H

/* How many copies of this program a launcher says it has started; 1: one, or there was none. Where
 * it tells only the number of this copy, at least so many. */
long launcher_copies(void);

#endif
