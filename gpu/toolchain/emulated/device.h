// CUDA's device language for g++, as far as the kernels use it. Each thread of a
// launch is a fibre (fibres.h), so that barriers and shuffles work as on a device.
// There is no __shared__: a block's shared memory is what shared_memory() returns.

#ifndef HELMHOLTZ_EMULATED_DEVICE_H
#define HELMHOLTZ_EMULATED_DEVICE_H

#include "fibres.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace emulated {

template <class To, class From> inline To reinterpret(From from)
{
	static_assert(sizeof(To) == sizeof(From), "a change of type, not of size");
	To to;
	std::memcpy(&to, &from, sizeof to);
	return to;
}

// Only one fibre runs at a time, and none is interrupted.
template <class T> inline T fetch_and_add(T *address, T value)
{
	if (value != 0)
		made_progress();
	T before = *(volatile T *)address;
	*(volatile T *)address = before + value;
	return before;
}

} // namespace emulated

#define __global__
#define __device__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)

using emulated::blockDim;
using emulated::blockIdx;
using emulated::gridDim;
using emulated::threadIdx;

struct alignas(8) float2 {
	float x, y;
};
struct alignas(16) uint4 {
	unsigned x, y, z, w;
};
struct alignas(16) float4 {
	float x, y, z, w;
};

inline void *shared_memory() { return emulated::shared_memory(); }
inline void relax() { emulated::relax(); }
template <class T> inline T *global(T *address) { return address; }
inline void arrive(unsigned *count) { emulated::fetch_and_add(count, 1u); }
inline unsigned arrivals(const unsigned *count) { return *(const volatile unsigned *)count; }

inline void __syncthreads() { emulated::block_barrier(); }
inline void __syncwarp(unsigned mask = 0xffffffff) { emulated::warp_barrier(mask); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

inline float __uint_as_float(unsigned bits) { return emulated::reinterpret<float>(bits); }
inline unsigned __float_as_uint(float value) { return emulated::reinterpret<unsigned>(value); }

template <class T> inline T __shfl_sync(unsigned mask, T value, int lane)
{
	static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves at most eight bytes");
	uint64_t bits = 0;
	std::memcpy(&bits, &value, sizeof value);
	bits = emulated::exchange(mask, bits, lane);
	std::memcpy(&value, &bits, sizeof value);
	return value;
}

template <class T> inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask)
{
	return __shfl_sync(mask, value, emulated::lane() ^ lane_mask);
}

inline unsigned atomicAdd(unsigned *address, unsigned value) { return emulated::fetch_and_add(address, value); }

// The file is compiled without contraction, so each operation rounds once.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }

inline unsigned short to_half(float x) { return emulated::reinterpret<unsigned short>((_Float16)x); }
inline float2 from_halves(unsigned word)
{
	return {(float)emulated::reinterpret<_Float16>((unsigned short)word), (float)emulated::reinterpret<_Float16>((unsigned short)(word >> 16))};
}

// divide is the kernel's own division, which rounds like this one.
inline float divide(float a, float b) { return a / b; }

// add_products is what tensor cores do with numbers of tf32, of which they take no more digits.
inline float tf32(float x) { return __uint_as_float(__float_as_uint(x) & 0xffffe000u); }
inline void add_products(float (&sum)[2][4][4], const float (&a)[4][4], const float (&b)[4][4])
{
	// The rows and columns of a lane's sums come from other lanes, each of which has four depths.
	typedef const float (*Numbers)[4];
	float row[4][16], column[4][2][16];
	int g = emulated::lane() / 4, t = emulated::lane() % 4;
	for (int k = 0; k < 4; k++) {
		Numbers left = __shfl_sync(0xffffffffu, (Numbers)a, 4 * g + k);
		for (int i = 0; i < 4; i++)
			for (int d = 0; d < 4; d++)
				row[i][4 * k + d] = tf32(left[i][d]);
		for (int e = 0; e < 2; e++) {
			Numbers right = __shfl_sync(0xffffffffu, (Numbers)b, 4 * (2 * t + e) + k);
			for (int n = 0; n < 4; n++)
				for (int d = 0; d < 4; d++)
					column[n][e][4 * k + d] = tf32(right[n][d]);
		}
	}
	for (int m = 0; m < 2; m++)
		for (int n = 0; n < 4; n++)
			for (int i = 0; i < 4; i++)
				for (int k = 0; k < 16; k++)
					sum[m][n][i] += row[2 * m + i / 2][k] * column[n][i % 2][k];
	emulated::warp_barrier(0xffffffffu);
}

template <class T> inline T __ldg(const T *address) { return *address; }

// min of two whole numbers of the same or of different types, as CUDA converts them.
template <class A, class B> inline auto min(A a, B b) -> decltype(a + b) { return b < a ? b : a; }

using std::exp;
using std::log;
using std::sqrt;

#endif
