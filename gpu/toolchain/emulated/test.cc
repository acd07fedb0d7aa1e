// Tests the emulated device, through its driver, with the kernel of test.cu.

#include "test.h"

#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

#define EXPECT(CONDITION)                                                        \
	do {                                                                     \
		if (!(CONDITION)) {                                              \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #CONDITION); \
			exit(1);                                                 \
		}                                                                \
	} while (0)
#define SUCCEED(CALL) EXPECT((CALL) == CUDA_SUCCESS)

const unsigned blocks = 2, threads = 64, n = blocks * threads;
const char *const ptx = ".version 8.0\n.target sm_70\n.visible .entry walk(";

static CUdeviceptr allocate(size_t bytes)
{
	CUdeviceptr address;
	SUCCEED(cuMemAlloc_v2(&address, bytes));
	return address;
}

// Runs a task on a device of its own, and returns the launch's result.
static CUresult run(Task task, const std::vector<unsigned> &inputs, unsigned long long passes, std::vector<unsigned> &outputs)
{
	CUcontext context;
	CUmodule module;
	CUfunction function;
	SUCCEED(cuDevicePrimaryCtxRetain(&context, 0));
	SUCCEED(cuCtxSetCurrent(context));
	SUCCEED(cuModuleLoadData(&module, ptx));
	SUCCEED(cuModuleGetFunction(&function, module, "walk"));

	CUdeviceptr output = allocate(n * sizeof(unsigned)), input = allocate(n * sizeof(unsigned));
	CUdeviceptr arrived = allocate(sizeof(unsigned)), program = allocate(sizeof(Program));
	Program host = {task, (unsigned *)output, (unsigned *)arrived};
	SUCCEED(cuMemcpyHtoD_v2(program, &host, sizeof host));
	SUCCEED(cuMemcpyHtoD_v2(input, inputs.data(), inputs.size() * sizeof(unsigned)));
	SUCCEED(cuMemsetD32_v2(arrived, 0, 1));

	void *parameters[] = {&program, &input, &passes};
	CUresult result = cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, threads * sizeof(unsigned), nullptr, parameters, nullptr);
	EXPECT(cuCtxSynchronize() == result);
	EXPECT(cuMemcpyDtoH_v2(outputs.data(), output, n * sizeof(unsigned)) == result);
	if (result == CUDA_SUCCESS) {
		for (CUdeviceptr address : {output, input, arrived, program})
			SUCCEED(cuMemFree_v2(address));
		SUCCEED(cuModuleUnload(module));
	}
	SUCCEED(cuDevicePrimaryCtxRelease_v2(0));
	return result;
}

static void computes()
{
	std::vector<unsigned> inputs(n), outputs(n);
	for (unsigned i = 0; i < n; i++)
		inputs[i] = i * i;
	auto sum = [&](unsigned from, unsigned to) {
		unsigned s = 0;
		for (unsigned i = from; i < to; i++)
			s += inputs[i];
		return s;
	};
	// The sums of a task that adds each `group` consecutive inputs.
	auto adds = [&](Task task, unsigned group) {
		SUCCEED(run(task, inputs, 0, outputs));
		for (unsigned i = 0; i < n; i++)
			EXPECT(outputs[i] == sum(i / group * group, i / group * group + group));
	};
	SUCCEED(run(IDENTITY, inputs, 0, outputs));
	for (unsigned i = 0; i < n; i++)
		EXPECT(outputs[i] == i);
	adds(BLOCK_SUM, threads);
	adds(WARP_SUM, 32);
	adds(HALF_WARP_SUMS, 16);
	SUCCEED(run(ROTATIONS, inputs, 1000, outputs));
	for (unsigned i = 0; i < n; i++)
		EXPECT(outputs[i] == inputs[(i + 1000) % n]);
}

// (1+2⁻¹²)² rounds to 1+2⁻¹¹, of which a fused operation would keep the lost 2⁻²⁴.
static void rounds()
{
	float x = 1 + 0x1p-12f, y = 1 + 0x1p-11f;
	std::vector<unsigned> inputs(n), outputs(n);
	memcpy(&inputs[0], &x, sizeof x);
	memcpy(&inputs[1], &y, sizeof y);
	SUCCEED(run(ROUNDING, inputs, 0, outputs));
	EXPECT(outputs[0] == 0);
}

static void finds_faults()
{
	const struct {
		Task task;
		CUresult result;
	} faults[] = {
		{EARLY_RETURN, CUDA_ERROR_LAUNCH_FAILED},
		{DIVERGENCE, CUDA_ERROR_LAUNCH_FAILED},
		{FOREIGN_LANE, CUDA_ERROR_LAUNCH_FAILED},
		{MISSING_BLOCK, CUDA_ERROR_LAUNCH_TIMEOUT},
		{STORE_PAST_END, CUDA_ERROR_ILLEGAL_ADDRESS},
		{STORE_FAR_PAST_END, CUDA_ERROR_ILLEGAL_ADDRESS},
		{STORE_BEFORE, CUDA_ERROR_ILLEGAL_ADDRESS},
		{STORE_PAST_SHARED, CUDA_ERROR_ILLEGAL_ADDRESS},
		{STORE_TO_NULL, CUDA_ERROR_ILLEGAL_ADDRESS},
	};
	std::vector<unsigned> inputs(n), outputs(n);
	for (auto fault : faults) {
		EXPECT(run(fault.task, inputs, 0, outputs) == fault.result);
		SUCCEED(run(IDENTITY, inputs, 0, outputs)); // the device can be used again
		EXPECT(outputs[n - 1] == n - 1);
	}
	// A thread sees what its neighbour stored or uninitialised memory, by its turn.
	SUCCEED(run(RACE, inputs, 0, outputs));
	bool stale = false;
	for (unsigned i = 0; i < n; i++)
		stale = stale || outputs[i] == ~0u;
	EXPECT(stale);
}

static void accounts_for_memory()
{
	CUcontext context;
	SUCCEED(cuDevicePrimaryCtxRetain(&context, 0));
	size_t free, total;
	SUCCEED(cuMemGetInfo_v2(&free, &total));
	EXPECT(free == total && total == 1 << 20);
	CUdeviceptr most = allocate(total), more;
	EXPECT(cuMemAlloc_v2(&more, 1) == CUDA_ERROR_OUT_OF_MEMORY);
	SUCCEED(cuMemFree_v2(most));
	EXPECT(cuMemFree_v2(most) == CUDA_ERROR_INVALID_VALUE);
	CUdeviceptr address = allocate(10);
	char bytes[11] = {};
	EXPECT(cuMemcpyHtoD_v2(address, bytes, 11) == CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemsetD8_v2(address + 1, 0, 10) == CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuDevicePrimaryCtxRelease_v2(0) == CUDA_ERROR_ILLEGAL_STATE);
	EXPECT(cuCtxSynchronize() == CUDA_ERROR_CONTEXT_IS_DESTROYED);
	SUCCEED(cuCtxSetCurrent(nullptr));
	EXPECT(cuMemAlloc_v2(&more, 1) == CUDA_ERROR_INVALID_CONTEXT);
}

int main()
{
	EXPECT(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED);
	SUCCEED(cuInit(0));
	computes();
	rounds();
	finds_faults();
	setenv("HELMHOLTZ_EMULATED_MEMORY", "1048576", 1);
	accounts_for_memory();
	return 0;
}
