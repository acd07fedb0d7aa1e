// glibc's checked longjmp refuses to go from one stack to another.
#undef _FORTIFY_SOURCE

#include "fibres.h"

#include "memory.h"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

namespace emulated {

Index threadIdx, blockIdx, blockDim, gridDim;

namespace {

const size_t stack_size = 256 << 10;
// Turns of every fibre without progress, after which a launch counts as stuck.
const unsigned long patience = 10000;

struct Block;
struct Warp;

struct Fibre {
	Fibre();
	~Fibre();
	Fibre(const Fibre &) = delete;

	uint8_t *pages; // a page that cannot be touched, and the stack
	jmp_buf state;
	bool started = false; // its stack holds a frame that waits for the next launch

	Index thread;
	Block *block;
	Warp *warp;
	int lane;
	uint64_t bits, received; // what it brings to an exchange, and what it takes away
	int source;              // the lane from which, or itself
};

// Lanes as bits: those that a warp's barrier waits for, and those that are there.
struct Gathering {
	unsigned mask, here;
};

struct Warp {
	std::vector<Fibre *> lanes;
	unsigned living; // the lanes that did not return
	std::vector<Gathering> gatherings;
};

struct Block {
	Index index;
	std::unique_ptr<Allocation> shared;
	std::vector<Warp> warps;
	std::vector<Fibre *> waiting; // at the block's barrier
	unsigned threads, living;
};

std::deque<std::unique_ptr<Fibre>> fibres; // kept from launch to launch
std::vector<Block> blocks;
std::deque<Fibre *> ready;
Fibre *current;
const std::function<void()> *kernel;
size_t living;      // threads of the launch that did not return
unsigned long idle; // turns since there was progress

jmp_buf launcher;
ucontext_t new_context;
pthread_t launching_thread;
volatile sig_atomic_t in_kernel;
Outcome outcome;
char fault_text[512];
uintptr_t fault_address;

struct sigaction others_action[2]; // of SIGSEGV and SIGBUS

[[noreturn]] void stop(Outcome why)
{
	outcome = why;
	in_kernel = false;
	_longjmp(launcher, 1);
}

template <class... A> [[noreturn]] void misuse(const char *format, A... values)
{
	snprintf(fault_text, sizeof fault_text, format, values...);
	stop(Outcome::misused);
}

void finish();

void run_kernels()
{
	for (;;) {
		(*kernel)();
		finish();
	}
}

[[noreturn]] void resume(Fibre *fibre)
{
	current = fibre;
	threadIdx = fibre->thread;
	blockIdx = fibre->block->index;
	if (fibre->started)
		_longjmp(fibre->state, 1);
	fibre->started = true;
	getcontext(&new_context);
	new_context.uc_stack.ss_sp = fibre->pages + page_size();
	new_context.uc_stack.ss_size = stack_size;
	new_context.uc_link = nullptr;
	makecontext(&new_context, run_kernels, 0);
	setcontext(&new_context);
	abort();
}

Fibre *next_ready()
{
	if (ready.empty())
		misuse("every thread waits at a barrier that another one does not reach");
	Fibre *next = ready.front();
	ready.pop_front();
	return next;
}

// Lets others run, and returns when this fibre's turn has come.
void wait()
{
	Fibre *next = next_ready();
	if (next != current && !_setjmp(current->state))
		resume(next);
}

// Numerical Recipes' linear congruence: an order, not a random number.
unsigned next_order()
{
	static unsigned state = 1;
	state = state * 1664525u + 1013904223u;
	return state >> 16;
}

// Makes those who waited at a barrier ready, and empties the list.
void release(std::vector<Fibre *> &waiting)
{
	made_progress();
	size_t n = waiting.size(), order = next_order(), first = order / 2 % n;
	for (size_t i = 0; i < n; i++)
		ready.push_back(waiting[(order % 2 ? first + i : first + n - i) % n]);
	waiting.clear();
}

void check_block_barrier(Block *block)
{
	if (block->waiting.empty() || block->waiting.size() < block->living)
		return;
	if (block->living < block->threads)
		misuse("block (%u, %u, %u): %u of %u threads returned, and the others wait at __syncthreads",
		       block->index.x, block->index.y, block->index.z, block->threads - block->living, block->threads);
	release(block->waiting);
}

// Hands over what the lanes of a gathering brought, and releases them, if all are
// there that have not returned.
void check_gathering(Warp *warp, size_t i)
{
	Gathering gathering = warp->gatherings[i];
	if (gathering.here != (gathering.mask & warp->living))
		return;
	static std::vector<Fibre *> waiting;
	for (Fibre *fibre : warp->lanes) {
		if (!(gathering.here >> fibre->lane & 1))
			continue;
		if (!(gathering.here >> fibre->source & 1))
			misuse("block (%u, %u, %u), thread (%u, %u, %u): a shuffle of the mask %#x from lane %d, which takes no part in it",
			       fibre->block->index.x, fibre->block->index.y, fibre->block->index.z,
			       fibre->thread.x, fibre->thread.y, fibre->thread.z, gathering.mask, fibre->source);
		fibre->received = warp->lanes[fibre->source]->bits;
		waiting.push_back(fibre);
	}
	warp->gatherings.erase(warp->gatherings.begin() + i);
	if (!waiting.empty())
		release(waiting);
}

void gather(unsigned mask, int source)
{
	Warp *warp = current->warp;
	if (!(mask >> current->lane & 1))
		misuse("block (%u, %u, %u), thread (%u, %u, %u): lane %d calls a warp's barrier or shuffle whose mask %#x lacks it",
		       blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, current->lane, mask);
	current->source = source % warp_size;
	size_t i = 0;
	while (i < warp->gatherings.size() && warp->gatherings[i].mask != mask)
		i++;
	if (i == warp->gatherings.size())
		warp->gatherings.push_back({mask, 0});
	warp->gatherings[i].here |= 1u << current->lane;
	check_gathering(warp, i);
	wait();
}

// What waited for the current fibre alone goes on, and the launch ends with its
// last fibre. Returns in the next launch.
void finish()
{
	made_progress();
	living--;
	current->block->living--;
	current->warp->living &= ~(1u << current->lane);
	check_block_barrier(current->block);
	for (size_t i = current->warp->gatherings.size(); i-- > 0;)
		check_gathering(current->warp, i);
	if (!_setjmp(current->state)) {
		if (living == 0)
			stop(Outcome::done);
		resume(next_ready());
	}
}

void on_fault(int signal, siginfo_t *info, void *context)
{
	if (in_kernel && pthread_equal(pthread_self(), launching_thread)) {
		uintptr_t address = (uintptr_t)info->si_addr;
		const char *where = "";
		for (const auto &fibre : fibres)
			if (address - (uintptr_t)fibre->pages < page_size())
				where = ", past the end of a thread's stack";
		for (const Block &block : blocks)
			if (block.shared->guards(address))
				where = ", past the end of a block's shared memory";
		snprintf(fault_text, sizeof fault_text, "block (%u, %u, %u), thread (%u, %u, %u): access to %p%s",
		         blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, info->si_addr, where);
		fault_address = address;
		stop(Outcome::bad_address);
	}
	const struct sigaction &other = others_action[signal == SIGBUS];
	if (other.sa_flags & SA_SIGINFO)
		other.sa_sigaction(signal, info, context);
	else if (other.sa_handler != SIG_DFL && other.sa_handler != SIG_IGN)
		other.sa_handler(signal);
	else
		sigaction(signal, &other, nullptr); // the fault recurs, and ends the process
}

// Catches faults of the kernel while it lives, on a stack of its own where the
// thread has none.
class FaultHandler {
public:
	FaultHandler()
	{
		launching_thread = pthread_self();
		sigaltstack(nullptr, &others_stack);
		if (others_stack.ss_flags & SS_DISABLE) {
			own_stack.resize(64 << 10);
			stack_t stack = {};
			stack.ss_sp = own_stack.data();
			stack.ss_size = own_stack.size();
			sigaltstack(&stack, nullptr);
		}
		// The handler is left by a jump, which does not unblock the signal.
		struct sigaction action = {};
		action.sa_sigaction = on_fault;
		action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
		sigemptyset(&action.sa_mask);
		sigaction(SIGSEGV, &action, &others_action[0]);
		sigaction(SIGBUS, &action, &others_action[1]);
	}
	~FaultHandler()
	{
		sigaction(SIGSEGV, &others_action[0], nullptr);
		sigaction(SIGBUS, &others_action[1], nullptr);
		if (!own_stack.empty())
			sigaltstack(&others_stack, nullptr);
	}

private:
	stack_t others_stack;
	std::vector<char> own_stack;
};

Fibre::Fibre()
{
	void *memory = mmap(nullptr, page_size() + stack_size, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		throw std::bad_alloc();
	pages = (uint8_t *)memory;
	mprotect(pages, page_size(), PROT_NONE);
}

Fibre::~Fibre() { munmap(pages, page_size() + stack_size); }

void populate(Index grid, Index block, size_t shared_bytes)
{
	size_t threads = (size_t)block.x * block.y * block.z;
	blocks.resize((size_t)grid.x * grid.y * grid.z);
	living = blocks.size() * threads;
	while (fibres.size() < living)
		fibres.push_back(std::make_unique<Fibre>());
	for (size_t b = 0; b < blocks.size(); b++) {
		Block &resident = blocks[b];
		resident.index = {unsigned(b % grid.x), unsigned(b / grid.x % grid.y), unsigned(b / grid.x / grid.y)};
		resident.threads = resident.living = threads;
		resident.waiting.clear();
		resident.warps.assign((threads + warp_size - 1) / warp_size, Warp{});
		if (resident.shared && resident.shared->size() == shared_bytes)
			resident.shared->forget();
		else
			resident.shared = std::make_unique<Allocation>(shared_bytes);
		for (size_t t = 0; t < threads; t++) {
			Fibre *fibre = fibres[b * threads + t].get();
			fibre->thread = {unsigned(t % block.x), unsigned(t / block.x % block.y), unsigned(t / block.x / block.y)};
			fibre->block = &resident;
			fibre->warp = &resident.warps[t / warp_size];
			fibre->lane = t % warp_size;
			fibre->warp->lanes.push_back(fibre);
			fibre->warp->living |= 1u << fibre->lane;
			ready.push_back(fibre);
		}
	}
}

} // namespace

int lane() { return current->lane; }

void *shared_memory() { return current->block->shared->begin(); }

void made_progress() { idle = 0; }

void relax()
{
	if (++idle > patience * (ready.size() + 1)) {
		snprintf(fault_text, sizeof fault_text, "block (%u, %u, %u), thread (%u, %u, %u) and %zu others spin for ever",
		         blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, ready.size());
		stop(Outcome::spins);
	}
	ready.push_back(current);
	wait();
}

void block_barrier()
{
	Block *block = current->block;
	block->waiting.push_back(current);
	check_block_barrier(block);
	wait();
}

void warp_barrier(unsigned mask) { gather(mask, current->lane); }

uint64_t exchange(unsigned mask, uint64_t bits, int source)
{
	current->bits = bits;
	gather(mask, source);
	return current->received;
}

Fault launch(Index grid, Index block, size_t shared_bytes, const std::function<void()> &k)
{
	blockDim = block;
	gridDim = grid;
	kernel = &k;
	idle = 0;
	fault_address = 0;
	ready.clear();
	populate(grid, block, shared_bytes);
	FaultHandler handler;
	if (!_setjmp(launcher)) {
		in_kernel = true;
		resume(next_ready());
	}
	if (outcome != Outcome::done) {
		for (const auto &fibre : fibres)
			fibre->started = false; // what it was doing is given up
		return {outcome, fault_text, fault_address};
	}
	for (const Block &resident : blocks)
		if (!resident.shared->intact())
			return {Outcome::bad_address, "a store just before or after a block's shared memory", 0};
	return {Outcome::done, "", 0};
}

} // namespace emulated
