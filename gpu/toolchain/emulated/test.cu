// A kernel that tries what the emulated device offers, and what it has to catch.

#ifndef __CUDACC__
#include "device.h"
#else
extern __shared__ unsigned char block_memory[];
__device__ __forceinline__ void *shared_memory() { return block_memory; }
__device__ __forceinline__ void relax() {}
#endif

#include "test.h"

// Adds the values of a block's threads in shared memory.
__device__ __forceinline__ unsigned sum_of_block(unsigned value)
{
	unsigned *shared = (unsigned *)shared_memory();
	shared[threadIdx.x] = value;
	__syncthreads();
	for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			shared[threadIdx.x] += shared[threadIdx.x + half];
		__syncthreads();
	}
	unsigned sum = shared[0];
	__syncthreads();
	return sum;
}

// Waits for all blocks: `arrived` counts arrivals since the launch.
__device__ __forceinline__ void grid_barrier(unsigned *arrived, unsigned pass)
{
	__syncthreads();
	if (threadIdx.x == 0) {
		__threadfence();
		atomicAdd(arrived, 1u);
		while (*(volatile unsigned *)arrived < (pass + 1) * gridDim.x)
			relax();
		__threadfence();
	}
	__syncthreads();
}

extern "C" __global__ void walk(const Program *program, const unsigned *inputs, unsigned long long passes)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
	unsigned *output = program->output;
	switch (program->task) {
	case IDENTITY:
		output[i] = i;
		break;
	case BLOCK_SUM:
		output[i] = sum_of_block(inputs[i]);
		break;
	case WARP_SUM: {
		float value = inputs[i];
		double twice = 2. * inputs[i];
		for (int lane_mask = 16; lane_mask > 0; lane_mask /= 2) {
			value += __shfl_xor_sync(0xffffffff, value, lane_mask);
			twice += __shfl_xor_sync(0xffffffff, twice, lane_mask);
			__syncwarp();
		}
		output[i] = twice == 2. * value ? (unsigned)value : ~0u;
		break;
	}
	case HALF_WARP_SUMS: {
		unsigned value = inputs[i], mask = threadIdx.x % 32 < 16 ? 0x0000ffff : 0xffff0000;
		for (int lane_mask = 8; lane_mask > 0; lane_mask /= 2)
			value += __shfl_xor_sync(mask, value, lane_mask);
		output[i] = value;
		break;
	}
	case ROTATIONS: // each pass moves each value by one place, through the other buffer
		output[i] = inputs[i];
		for (unsigned pass = 0; pass < passes; pass++) {
			grid_barrier(program->arrived, 2 * pass);
			unsigned next = output[(i + 1) % n];
			grid_barrier(program->arrived, 2 * pass + 1);
			output[i] = next;
		}
		break;
	case ROUNDING:
		output[i] = __float_as_uint(__fadd_rn(__fmul_rn(__uint_as_float(inputs[0]), __uint_as_float(inputs[0])),
		                                      -__uint_as_float(inputs[1])));
		break;
	case RACE: // reads a neighbour's value without a barrier
		((unsigned *)shared_memory())[threadIdx.x] = i;
		output[i] = ((unsigned *)shared_memory())[(threadIdx.x + 1) % blockDim.x];
		break;
	case EARLY_RETURN:
		if (threadIdx.x == 3)
			return;
		__syncthreads();
		break;
	case DIVERGENCE:
		if (threadIdx.x < 32)
			__syncwarp();
		if (threadIdx.x == 0)
			__syncwarp();
		__syncthreads();
		break;
	case FOREIGN_LANE:
		if (threadIdx.x % 32 < 16)
			output[i] = __shfl_xor_sync(0x0000ffff, i, 16);
		break;
	case MISSING_BLOCK:
		if (blockIdx.x > 0)
			grid_barrier(program->arrived, 0);
		break;
	case STORE_PAST_END:
		output[n] = i;
		break;
	case STORE_FAR_PAST_END:
		output[n + 4096] = i;
		break;
	case STORE_BEFORE:
		output[-1] = i;
		break;
	case STORE_PAST_SHARED:
		((unsigned *)shared_memory())[blockDim.x + 4] = i;
		break;
	case STORE_TO_NULL:
		*(volatile unsigned *)nullptr = i;
		break;
	}
}
