// Opens CUDA's driver when its first function is called: the file that
// HELMHOLTZ_CUDA_DRIVER names, or else libcuda.so.1. A program linked with the
// trampolines therefore starts where there is no driver.

#include "driver.h"
#include "problem.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *driver;
static CUresult initialised = CUDA_ERROR_NO_DEVICE;
static char problem[512];

static void open_driver(void)
{
	const char *name = getenv("HELMHOLTZ_CUDA_DRIVER");
	if (!name || !*name)
		name = "libcuda.so.1";
	driver = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!driver) {
		snprintf(problem, sizeof problem, "%s", dlerror());
		return;
	}
	CUresult (*init)(unsigned) = (CUresult(*)(unsigned))dlsym(driver, "cuInit");
	if (!init) {
		snprintf(problem, sizeof problem, "%s", dlerror());
		return;
	}
	initialised = init(0);
	// That it sees no device is for the driver's other functions to say.
	if (initialised == CUDA_SUCCESS || initialised == CUDA_ERROR_NO_DEVICE)
		return;
	const char *text = NULL;
	CUresult (*describe)(CUresult, const char **) =
		(CUresult(*)(CUresult, const char **))dlsym(driver, "cuGetErrorString");
	if (!describe || describe(initialised, &text) != CUDA_SUCCESS || !text)
		text = "which the driver does not describe";
	snprintf(problem, sizeof problem, "cuInit: error %d (%s)", initialised, text);
}

// Package cu calls this before main and ends the program where it fails. So it
// succeeds always, and at once; the driver's own is called with the first of the
// other functions, which return what it did.
CUresult cuInit(unsigned flags)
{
	(void)flags;
	return CUDA_SUCCESS;
}

CUresult driver_function(const char *name, void **address)
{
	pthread_once(&once, open_driver);
	if (initialised != CUDA_SUCCESS)
		return initialised;
	if (__atomic_load_n(address, __ATOMIC_ACQUIRE))
		return CUDA_SUCCESS;
	void *found = dlsym(driver, name);
	if (!found)
		return CUDA_ERROR_NOT_FOUND;
	__atomic_store_n(address, found, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}

const char *helmholtz_cuda_driver_problem(void)
{
	pthread_once(&once, open_driver);
	return *problem ? problem : NULL;
}
