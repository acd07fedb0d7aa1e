// What the trampolines share with the file that opens the driver.

#ifndef HELMHOLTZ_DRIVER_H
#define HELMHOLTZ_DRIVER_H

#include <cuda.h>

// driver_function looks NAME up in the driver, which it opens on first use, and
// stores the function's address. It fails as the driver's initialisation did.
CUresult driver_function(const char *name, void **address);

#define TRAMPOLINE(NAME, PARAMETERS, ARGUMENTS)                          \
	CUresult NAME PARAMETERS                                         \
	{                                                                \
		static void *address;                                    \
		CUresult result = driver_function(#NAME, &address);      \
		if (result != CUDA_SUCCESS)                              \
			return result;                                   \
		return ((CUresult(*) PARAMETERS)__atomic_load_n(&address, __ATOMIC_ACQUIRE)) ARGUMENTS; \
	}

#endif
