// An emulated driver: the functions of CUDA's driver interface that the engine
// calls, over host memory and fibres. It is stricter than a device where it can
// be. A kernel's fault fails the launch, and each later call in the context, as a
// device does; the text goes to the standard error.

#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#include "fibres.h"
#include "kernel.h"
#include "memory.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>

// What CUDA leaves to the driver.
struct CUctx_st {};
struct CUmod_st {
	std::string image;
};
struct CUfunc_st {};
struct CUstream_st {};

using namespace emulated;

namespace {

const int multiprocessors = 2;

std::mutex mutex; // of all that follows
bool initialised;
CUctx_st primary;
unsigned retained;
CUresult broken = CUDA_SUCCESS; // the fault of an earlier launch in the context
CUfunc_st walk;
std::map<CUdeviceptr, std::unique_ptr<Allocation>> memory;
size_t allocated;
std::set<CUstream> streams;

thread_local CUcontext current;

size_t total_memory()
{
	const char *limit = getenv("HELMHOLTZ_EMULATED_MEMORY");
	return limit && *limit ? strtoull(limit, nullptr, 10) : size_t(2) << 30;
}

// Of a block: few, since each is a fibre.
unsigned most_threads()
{
	const char *threads = getenv("HELMHOLTZ_EMULATED_THREADS");
	return threads && *threads ? strtoul(threads, nullptr, 10) : 64;
}

CUresult check_device(CUdevice device)
{
	if (!initialised)
		return CUDA_ERROR_NOT_INITIALIZED;
	return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult check_context()
{
	if (!initialised)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!current)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (retained == 0)
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return broken;
}

bool within_an_allocation(CUdeviceptr address, size_t bytes)
{
	auto after = memory.upper_bound(address);
	return after != memory.begin() && std::prev(after)->second->contains(address, bytes);
}

// NULL is the default stream.
CUresult check_stream(CUstream stream)
{
	if (CUresult result = check_context())
		return result;
	return !stream || streams.count(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult copy(void *to, const void *from, size_t bytes, bool to_device, bool from_device, CUstream stream = nullptr)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (CUresult result = check_stream(stream))
		return result;
	if (bytes == 0)
		return CUDA_SUCCESS;
	if ((to_device && !within_an_allocation((CUdeviceptr)to, bytes)) ||
	    (from_device && !within_an_allocation((CUdeviceptr)from, bytes)))
		return CUDA_ERROR_INVALID_VALUE;
	memmove(to, from, bytes);
	return CUDA_SUCCESS;
}

template <class T> CUresult set(CUdeviceptr to, T value, size_t n, CUstream stream = nullptr)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (CUresult result = check_stream(stream))
		return result;
	if (to % sizeof(T) != 0 || n > SIZE_MAX / sizeof(T) || (n > 0 && !within_an_allocation(to, n * sizeof(T))))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++)
		((T *)to)[i] = value;
	return CUDA_SUCCESS;
}

std::string beside(const Allocation &allocation)
{
	char text[128];
	snprintf(text, sizeof text, ", just before or after the %zu bytes at %p", allocation.size(), (void *)allocation.begin());
	return text;
}

struct Error {
	CUresult result;
	const char *name, *text;
};

const Error errors[] = {
	{CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
	{CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
	{CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
	{CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
	{CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
	{CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
	{CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
	{CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
	{CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
	{CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "memory is still allocated in the context"},
	{CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
	{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
	{CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
	{CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
	{CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
	{CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
};

const Error *find_error(CUresult result)
{
	for (const Error &error : errors)
		if (error.result == result)
			return &error;
	return nullptr;
}

} // namespace

CUresult cuInit(unsigned flags)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	initialised = true;
	return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	*version = 12000;
	return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
	const Error *error = find_error(result);
	*name = error ? error->name : nullptr;
	return error ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
	const Error *error = find_error(result);
	*text = error ? error->text : nullptr;
	return error ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *count)
{
	*count = 1;
	return check_device(0);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	*device = ordinal;
	return check_device(ordinal);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
	snprintf(name, length, "emulated device");
	return check_device(device);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	*bytes = total_memory();
	return check_device(device);
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
	*major = 7;
	*minor = 0;
	return check_device(device);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		*value = 7;
		break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		*value = 0;
		break;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		*value = multiprocessors;
		break;
	case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
		*value = warp_size;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
		*value = most_threads();
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
		*value = most_shared_memory;
		break;
	case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
		*value = 65536;
		break;
	case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
	case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
		*value = 1;
		break;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
		*value = CU_COMPUTEMODE_DEFAULT;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return check_device(device);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (CUresult result = check_device(device))
		return result;
	retained++;
	*context = &primary;
	return CUDA_SUCCESS;
}

// The last release fails where memory is still allocated or a stream was not
// destroyed, unless a fault kept it from that. A device would free them and be silent.
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (CUresult result = check_device(device))
		return result;
	if (retained == 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (--retained > 0)
		return CUDA_SUCCESS;
	bool leaked = !(memory.empty() && streams.empty()) && !broken;
	if (leaked)
		fprintf(stderr, "emulated device: the context was released with %zu allocations of %zu bytes and %zu streams\n", memory.size(), allocated, streams.size());
	memory.clear();
	for (CUstream stream : streams)
		delete stream;
	streams.clear();
	allocated = 0;
	broken = CUDA_SUCCESS;
	return leaked ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	if (!initialised)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (context && context != &primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	current = context;
	return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize()
{
	std::lock_guard<std::mutex> lock(mutex);
	return check_context();
}

// All is done in the order of the calls, in whichever stream.
CUresult cuStreamCreate(CUstream *stream, unsigned)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (CUresult result = check_context())
		return result;
	streams.insert(*stream = new CUstream_st);
	return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (CUresult result = check_context())
		return result;
	if (streams.erase(stream) == 0)
		return CUDA_ERROR_INVALID_HANDLE;
	delete stream;
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	std::lock_guard<std::mutex> lock(mutex);
	return check_stream(stream);
}

// The image is not run, but it has to be PTX with the kernel in it.
CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (CUresult result = check_context())
		return result;
	std::string ptx = (const char *)image;
	for (const char *part : {".version", ".target", ".entry walk("})
		if (ptx.find(part) == std::string::npos) {
			fprintf(stderr, "emulated device: the module's image has no %s\n", part);
			return CUDA_ERROR_INVALID_IMAGE;
		}
	*module = new CUmod_st{ptx};
	return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (CUresult result = check_context())
		return result;
	delete module;
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (CUresult result = check_context())
		return result;
	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	if (strcmp(name, "walk") != 0)
		return CUDA_ERROR_NOT_FOUND;
	*function = &walk;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared_bytes)
{
	if (function != &walk)
		return CUDA_ERROR_INVALID_HANDLE;
	if (threads <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	*blocks = (unsigned)threads <= most_threads() && shared_bytes <= most_shared_memory;
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (CUresult result = check_context())
		return result;
	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (allocated > total_memory() || bytes > total_memory() - allocated)
		return CUDA_ERROR_OUT_OF_MEMORY;
	try {
		auto allocation = std::make_unique<Allocation>(bytes);
		*address = (CUdeviceptr)allocation->begin();
		memory[*address] = std::move(allocation);
	} catch (const std::bad_alloc &) {
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	allocated += bytes;
	return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (CUresult result = check_context())
		return result;
	if (!address)
		return CUDA_SUCCESS;
	auto found = memory.find(address);
	if (found == memory.end())
		return CUDA_ERROR_INVALID_VALUE;
	allocated -= found->second->size();
	memory.erase(found);
	return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total)
{
	std::lock_guard<std::mutex> lock(mutex);
	*total = total_memory();
	*free = *total > allocated ? *total - allocated : 0;
	return check_context();
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	return copy((void *)to, from, bytes, true, false);
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	return copy(to, (const void *)from, bytes, false, true);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	return copy((void *)to, from, bytes, true, false, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return copy(to, (const void *)from, bytes, false, true, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return copy((void *)to, (const void *)from, bytes, true, true, stream);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t n) { return set(to, value, n); }

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream) { return set(to, value, n, stream); }

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t n) { return set(to, value, n); }

// One block is resident on a multiprocessor.
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void **parameters)
{
	if (1ull * grid_x * grid_y * grid_z > multiprocessors)
		return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, nullptr);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **parameters, void **extra)
{
	std::lock_guard<std::mutex> lock(mutex);
	if (CUresult result = check_stream(stream))
		return result;
	if (function != &walk)
		return CUDA_ERROR_INVALID_HANDLE;
	unsigned long long threads = 1ull * block_x * block_y * block_z;
	if (extra || !grid_x || !grid_y || !grid_z || !threads || threads > most_threads() ||
	    shared_bytes > most_shared_memory)
		return CUDA_ERROR_INVALID_VALUE;
	Fault fault;
	try {
		fault = launch({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes,
		               [parameters] { run_walk(parameters); });
	} catch (const std::bad_alloc &) {
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	}
	for (const auto &[address, allocation] : memory)
		if (fault.outcome == Outcome::done && !allocation->intact())
			fault = {Outcome::bad_address, "a store" + beside(*allocation), 0};
		else if (fault.address && allocation->guards(fault.address))
			fault.text += beside(*allocation);
	switch (fault.outcome) {
	case Outcome::done:
		return CUDA_SUCCESS;
	case Outcome::misused:
		broken = CUDA_ERROR_LAUNCH_FAILED;
		break;
	case Outcome::spins:
		broken = CUDA_ERROR_LAUNCH_TIMEOUT;
		break;
	case Outcome::bad_address:
		broken = CUDA_ERROR_ILLEGAL_ADDRESS;
		break;
	}
	fprintf(stderr, "emulated device: the kernel walk: %s\n", fault.text.c_str());
	return broken;
}
