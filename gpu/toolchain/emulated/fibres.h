// The threads of a launch as fibres: all blocks are resident, one fibre runs at a
// time, and it runs until it waits. Whom a barrier releases first changes from one
// barrier to the next, in the same way in each process, so that a kernel that
// lacks a barrier does not pass by the luck of one order.

#ifndef HELMHOLTZ_EMULATED_FIBRES_H
#define HELMHOLTZ_EMULATED_FIBRES_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace emulated {

struct Index {
	unsigned x, y, z;
};

// Of the fibre that runs.
extern Index threadIdx, blockIdx;
// Of the launch.
extern Index blockDim, gridDim;

const int warp_size = 32;
const size_t most_shared_memory = 48 << 10; // bytes of a block

int lane();
void *shared_memory();

// Waits for all threads of the block.
void block_barrier();

// Waits for the threads of the warp that the mask names.
void warp_barrier(unsigned mask);

// Waits as warp_barrier does, and returns the bits that the lane `source` brought.
uint64_t exchange(unsigned mask, uint64_t bits, int source);

// Lets the other threads run: a spin loop's body.
void relax();

// Tells that a thread did what another's spin loop may wait for. A launch whose
// threads all spin for long without it is stopped.
void made_progress();

enum class Outcome {
	done,
	misused,     // a barrier that a thread misses, or a shuffle from one
	spins,       // every thread waits for another
	bad_address, // a load or store outside of what was allocated
};

struct Fault {
	Outcome outcome;
	std::string text;  // what went wrong, and in which thread
	uintptr_t address; // the bad one, where it is known
};

// Runs kernel() once for each thread of the grid, one launch at a time. Throws
// std::bad_alloc where there are too many threads.
Fault launch(Index grid, Index block, size_t shared_bytes, const std::function<void()> &kernel);

} // namespace emulated

#endif
