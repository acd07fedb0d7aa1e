// Memory of exact size: a page that cannot be touched follows each allocation and
// precedes it, and what lies between the pages and it holds known bytes. An access
// outside is stopped at once by the pages, or found later by its traces.

#ifndef HELMHOLTZ_EMULATED_MEMORY_H
#define HELMHOLTZ_EMULATED_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace emulated {

class Allocation {
public:
	// Uninitialised memory is all ones: NaN as a number, and as an index out of range.
	// Throws std::bad_alloc.
	explicit Allocation(size_t size);
	~Allocation();
	Allocation(const Allocation &) = delete;
	Allocation &operator=(const Allocation &) = delete;

	uint8_t *begin() const { return begin_; }
	size_t size() const { return size_; }
	bool contains(uintptr_t address, size_t bytes) const;
	// A fault at this address is of an access that went past this allocation.
	bool guards(uintptr_t address) const;
	// True if the bytes around it are as they were at first.
	bool intact() const;
	void forget(); // makes it uninitialised again

private:
	uint8_t *pages_, *begin_;
	size_t length_, size_;
};

size_t page_size();

} // namespace emulated

#endif
