// What the test kernel is told to do.

#ifndef HELMHOLTZ_EMULATED_TEST_H
#define HELMHOLTZ_EMULATED_TEST_H

enum Task {
	IDENTITY,
	BLOCK_SUM,
	WARP_SUM,
	HALF_WARP_SUMS,
	ROTATIONS,
	ROUNDING,
	RACE,
	EARLY_RETURN,
	DIVERGENCE,
	FOREIGN_LANE,
	MISSING_BLOCK,
	STORE_PAST_END,
	STORE_FAR_PAST_END,
	STORE_BEFORE,
	STORE_PAST_SHARED,
	STORE_TO_NULL,
};

struct Program {
	Task task;
	unsigned *output;  // an element for each thread
	unsigned *arrived; // the blocks at the grid's barrier, zero at first
};

#endif
