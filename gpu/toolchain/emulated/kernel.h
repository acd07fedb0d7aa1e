#ifndef HELMHOLTZ_EMULATED_KERNEL_H
#define HELMHOLTZ_EMULATED_KERNEL_H

namespace emulated {

// Runs the kernel `walk` as the current thread.
void run_walk(void **parameters);

} // namespace emulated

#endif
