// Tests the trampolines without a driver, with a library that is none, and with
// the emulated one, whose file is the argument.

#include "problem.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(CONDITION)                                                                       \
	do {                                                                                    \
		if (!(CONDITION)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #CONDITION); \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

static void without_driver(void)
{
	int count;
	EXPECT(cuInit(0) == CUDA_SUCCESS);
	EXPECT(cuDeviceGetCount(&count) == CUDA_ERROR_NO_DEVICE);
	EXPECT(strstr(helmholtz_cuda_driver_problem(), "/no/such/driver.so"));
}

// The C library is a library without cuInit.
static void with_another_library(void)
{
	int count;
	EXPECT(cuDeviceGetCount(&count) == CUDA_ERROR_NO_DEVICE);
	EXPECT(strstr(helmholtz_cuda_driver_problem(), "cuInit"));
}

static void with_driver(void)
{
	int count, version;
	CUarray array;
	EXPECT(!helmholtz_cuda_driver_problem());
	EXPECT(cuInit(0) == CUDA_SUCCESS);
	EXPECT(cuDeviceGetCount(&count) == CUDA_SUCCESS && count == 1);
	EXPECT(cuDriverGetVersion(&version) == CUDA_SUCCESS && version == 12000);
	EXPECT(cuMemFree(0) == CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuArrayCreate(&array, NULL) == CUDA_ERROR_NOT_FOUND); // which it lacks
}

// Runs a test in a process of its own, since the driver is opened once.
static void in_process(void (*test)(void), const char *driver)
{
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		setenv("HELMHOLTZ_CUDA_DRIVER", driver, 1);
		test();
		exit(0);
	}
	int status;
	EXPECT(child > 0 && waitpid(child, &status, 0) == child);
	if (status != 0)
		exit(1);
}

int main(int argc, char **argv)
{
	EXPECT(argc == 2);
	in_process(without_driver, "/no/such/driver.so");
	in_process(with_another_library, "libc.so.6");
	in_process(with_driver, argv[1]);
	return 0;
}
