// The kernel's own source, compiled for the emulated device: KERNEL names the file.

#include KERNEL

#include "kernel.h"

#include <utility>

namespace emulated {

namespace {
// The launch's parameters are pointers to the arguments, as in cuLaunchKernel.
template <class... A, size_t... I>
void call(void (*kernel)(A...), void **parameters, std::index_sequence<I...>)
{
	kernel(*static_cast<A *>(parameters[I])...);
}

template <class... A> void call(void (*kernel)(A...), void **parameters)
{
	call(kernel, parameters, std::index_sequence_for<A...>());
}
} // namespace

void run_walk(void **parameters) { call(walk, parameters); }

} // namespace emulated
