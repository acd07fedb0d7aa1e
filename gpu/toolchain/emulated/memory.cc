#include "memory.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace emulated {

namespace {
const size_t alignment = 16; // of the widest load
const uint8_t uninitialised = 0xff, canary = 0xc5;

size_t round_up(size_t n, size_t multiple) { return (n + multiple - 1) / multiple * multiple; }

bool all_canaries(const uint8_t *from, const uint8_t *to)
{
	return std::all_of(from, to, [](uint8_t b) { return b == canary; });
}
} // namespace

size_t page_size()
{
	static const size_t size = sysconf(_SC_PAGESIZE);
	return size;
}

Allocation::Allocation(size_t size) : size_(size)
{
	size_t room = round_up(size, alignment);
	length_ = round_up(room, page_size()) + 2 * page_size();
	void *pages = mmap(nullptr, length_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pages == MAP_FAILED)
		throw std::bad_alloc();
	pages_ = (uint8_t *)pages;
	uint8_t *first = pages_ + page_size(), *last = pages_ + length_ - page_size();
	if (mprotect(first, last - first, PROT_READ | PROT_WRITE) != 0) {
		munmap(pages_, length_);
		throw std::bad_alloc();
	}
	begin_ = last - room;
	std::fill(first, begin_, canary);
	std::fill(begin_ + size_, last, canary);
	forget();
}

Allocation::~Allocation() { munmap(pages_, length_); }

void Allocation::forget() { memset(begin_, uninitialised, size_); }

bool Allocation::contains(uintptr_t address, size_t bytes) const
{
	uintptr_t begin = (uintptr_t)begin_;
	return address >= begin && bytes <= size_ && address - begin <= size_ - bytes;
}

bool Allocation::guards(uintptr_t address) const
{
	uintptr_t pages = (uintptr_t)pages_;
	return address >= pages && address < pages + length_;
}

bool Allocation::intact() const
{
	return all_canaries(pages_ + page_size(), begin_) &&
	       all_canaries(begin_ + size_, pages_ + length_ - page_size());
}

} // namespace emulated
