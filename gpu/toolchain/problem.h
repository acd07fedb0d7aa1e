// What is wrong with CUDA's driver, for programs linked with the trampolines.

#ifndef HELMHOLTZ_PROBLEM_H
#define HELMHOLTZ_PROBLEM_H

// helmholtz_cuda_driver_problem opens the driver where no call did so before. It
// returns NULL if the driver was opened and initialised, and else says why not.
const char *helmholtz_cuda_driver_problem(void);

#endif
