//go:build cuda

package gpu

/*
#include "toolchain/problem.h"

#include <cuda.h>

static CUresult launch(CUfunction walk, unsigned blocks, unsigned threads, unsigned shared_memory, CUstream stream,
                       void *program, CUdeviceptr inputs, unsigned long long passes)
{
	void *parameters[] = {program, &inputs, &passes};
	return cuLaunchCooperativeKernel(walk, blocks, 1, 1, threads, 1, 1, shared_memory, stream, parameters);
}
*/
import "C"

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"gorgonia.org/cu"
)

// The kernel for compute capability 7.0, and the kernel with tensor cores for 8.0 and later.
var (
	//go:embed kernels/walk.ptx
	walkPTX string
	//go:embed kernels/walk80.ptx
	walk80PTX string
)

const (
	mostThreads   = 256   // per block: kernels/walk.cu has room for eight warps
	sharedMemory  = 45816 // bytes per block: the structure Shared of kernels/walk.cu
	blocksAtOnce  = 2     // per multiprocessor
	kernelName    = "walk"
	counterLength = 4     // bytes of the counter of a launch's barriers
	leastDriver   = 12000 // the oldest CUDA that reads kernels/walk.ptx
)

// device is the first GPU of the machine. Its context, which takes 0.2 s to create, lives until the
// program ends, or until a call has failed and nothing holds memory on it any more.
type device struct {
	name         string
	memory       int64
	driver       int
	major, minor int

	processors int // multiprocessors
	threads    int // per block

	mutex   sync.Mutex
	opened  bool  // whether there is a context
	holders int   // users of the context
	held    int64 // bytes that all users hold
	context cu.CUContext
	module  cu.Module
	walk    cu.Function
	blocks  int // thread blocks that are resident at the same time

	// spare is memory to use again, by its bytes: freeing it would wait for the launches of all users.
	spare      map[int64][]cu.DevicePtr
	spareBytes int64

	trainers atomic.Int32 // that share the device
	failed   atomic.Bool  // whether a call has failed, for a reason other than a lack of memory
}

// findDevice returns the first GPU, or an error if the engine cannot use it.
func findDevice() (*device, error) {
	if problem := C.helmholtz_cuda_driver_problem(); problem != nil {
		return nil, fmt.Errorf("no NVIDIA driver can be used (%s): install NVIDIA's driver, or use the backend cpu", C.GoString(problem))
	}
	count, err := cu.NumDevices()
	if err != nil || count == 0 {
		return nil, fmt.Errorf("the NVIDIA driver sees no GPU (%v): check that one is visible to this process (CUDA_VISIBLE_DEVICES), or use the backend cpu", err)
	}
	first := cu.Device(0)
	d := &device{driver: cu.Version()}
	var errs [5]error
	d.name, errs[0] = first.Name()
	d.memory, errs[1] = first.TotalMem()
	d.major, d.minor, errs[2] = first.ComputeCapability()
	d.processors, errs[3] = first.Attribute(cu.MultiprocessorCount)
	d.threads, errs[4] = first.Attribute(cu.MaxThreadsPerBlock)
	d.threads = min(d.threads, mostThreads)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("the GPU does not answer: %w", err)
	}
	if d.driver < leastDriver {
		return nil, fmt.Errorf("%s has a driver for CUDA %s: the kernels need one for CUDA %s or later; install it, or use the backend cpu", d.name, version(d.driver), version(leastDriver))
	}
	if d.major < 7 {
		return nil, fmt.Errorf("%s has compute capability %d.%d: the kernels need 7.0 or more; use the backend cpu", d.name, d.major, d.minor)
	}
	return d, nil
}

func (d *device) describe() string {
	return fmt.Sprintf("CUDA, %s, %.0f GiB, compute capability %d.%d, driver for CUDA %s",
		d.name, float64(d.memory)/(1<<30), d.major, d.minor, version(d.driver))
}

// version formats a CUDA version number for people.
func version(driver int) string { return fmt.Sprintf("%d.%d", driver/1000, driver%1000/10) }

// mostBlocks returns the largest number of thread blocks of a launch.
func (d *device) mostBlocks() int { return d.processors * blocksAtOnce }

// share returns the number of thread blocks of a launch. Launches of several trainers run at the same time
// if all their blocks are resident, and one after another if not. The number does not affect results.
func (d *device) share() int { return max(1, d.blocks/max(1, int(d.trainers.Load()))) }

// hold creates the context if there is none. The context then exists at least until release has
// been called as often as hold.
func (d *device) hold() error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if !d.opened {
		if err := d.open(); err != nil {
			return err
		}
		d.opened = true
		d.failed.Store(false)
	}
	d.holders++
	return nil
}

func (d *device) release() error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.holders--; d.holders > 0 {
		return nil
	}
	if !d.failed.Load() {
		return d.do(d.freeSpare)
	}
	d.opened, d.spare, d.spareBytes = false, nil, 0
	return cu.Device(0).ReleasePrimaryCtx()
}

func (d *device) freeSpare() (err error) {
	for _, some := range d.spare {
		for _, a := range some {
			err = cmp.Or(err, cu.MemFree(a))
		}
	}
	d.spare, d.spareBytes = nil, 0
	return err
}

func (d *device) open() (err error) {
	if d.context, err = cu.Device(0).RetainPrimaryCtx(); err != nil {
		return &engine.DeviceError{Err: fmt.Errorf("cannot create a context on %s: %w: check whether another program is using all of the GPU", d.name, err)}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, cu.Device(0).ReleasePrimaryCtx())
		}
	}()
	return d.do(func() error {
		ptx := walkPTX
		if d.major >= 8 {
			ptx = walk80PTX
		}
		if d.module, err = cu.LoadData(ptx); err != nil {
			return fmt.Errorf("the driver for CUDA %s cannot load the kernels: %w", version(d.driver), err)
		}
		if d.walk, err = d.module.Function(kernelName); err != nil {
			return fmt.Errorf("kernel %s: %w", kernelName, err)
		}
		resident, err := d.walk.MaxActiveBlocksPerMultiProcessor(d.threads, sharedMemory)
		if err != nil || resident == 0 {
			return fmt.Errorf("kernel %s: %d blocks are resident on a multiprocessor (%v)", kernelName, resident, err)
		}
		d.blocks = d.processors * min(resident, blocksAtOnce)
		return nil
	})
}

// do calls f with the context current, and wraps its error in a DeviceError.
func (d *device) do(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cu.SetCurrentContext(d.context)
	if err == nil {
		err = f()
	}
	if err != nil {
		if !errors.Is(err, cu.OutOfMemory) {
			d.failed.Store(true)
		}
		return &engine.DeviceError{Err: err}
	}
	return nil
}

// launch starts the kernel by a cooperative launch, which package cu lacks. Only a cooperative
// launch fails if not all thread blocks can be resident at the same time.
func (d *device) launch(stream cu.Stream, program header, inputs address, passes int) error {
	if err := cu.MemsetD8Async(cu.DevicePtr(program.arrived), 0, counterLength, stream); err != nil {
		return err
	}
	walk, on := *(*C.CUfunction)(unsafe.Pointer(&d.walk)), *(*C.CUstream)(unsafe.Pointer(&stream))
	return result(cu.Success, C.launch(walk, C.uint(d.share()), C.uint(d.threads), sharedMemory, on,
		unsafe.Pointer(&program), C.CUdeviceptr(inputs), C.ulonglong(passes)))
}

// result converts a result of the driver to an error of package cu.
func result[E interface {
	~int
	error
}](success E, of C.CUresult) error {
	if of == C.CUDA_SUCCESS {
		return nil
	}
	return E(of)
}

// memory records the memory that one user of the device holds. Its copies and launches are in the order of
// a stream of its own, so that they do not wait for other users. After the first failure, all
// further calls do nothing. Without a device, memory only counts bytes, also after a failure.
type memory struct {
	device *device
	stream cu.Stream
	shared bool // whether the stream is another memory's
	held   []allocation
	bytes  int64
	err    error
}

type allocation struct {
	at    cu.DevicePtr
	bytes int64
}

func (d *device) newMemory() (*memory, error) {
	if err := d.hold(); err != nil {
		return nil, err
	}
	m := &memory{device: d}
	err := d.do(func() (err error) {
		m.stream, err = cu.MakeStream(cu.NonBlocking)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, d.release())
	}
	return m, nil
}

// close returns the memory to the device. If an earlier call has failed, close returns nil, because a second
// error would add nothing.
func (m *memory) close() error {
	err := m.device.do(func() error {
		err := m.stream.Synchronize()
		if !m.shared {
			err = cmp.Or(err, m.stream.Destroy())
		}
		return err
	})
	m.device.take(-m.bytes)
	err = cmp.Or(err, m.device.keep(m.held), m.device.release())
	m.held = nil
	if m.err != nil {
		return nil
	}
	return err
}

// leastSpare is the number of spare bytes that are kept however little memory is in use: evaluations of small
// machines use some 100 MB.
const leastSpare = 1 << 28

// keep adds memory that is no longer used to the spare memory, which it frees if it exceeds leastSpare and the
// memory in use.
func (d *device) keep(some []allocation) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.spare == nil {
		d.spare = map[int64][]cu.DevicePtr{}
	}
	for _, a := range some {
		d.spare[a.bytes] = append(d.spare[a.bytes], a.at)
		d.spareBytes += a.bytes
	}
	if d.spareBytes > max(d.held, leastSpare) {
		return d.do(d.freeSpare)
	}
	return nil
}

// find returns memory of the given size, spare or new.
func (d *device) find(bytes int64) (a cu.DevicePtr, err error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if n := len(d.spare[bytes]); n > 0 {
		a, d.spare[bytes] = d.spare[bytes][n-1], d.spare[bytes][:n-1]
		d.spareBytes -= bytes
		return a, nil
	}
	if a, err = cu.MemAlloc(bytes); errors.Is(err, cu.OutOfMemory) {
		if err := d.freeSpare(); err != nil {
			return a, err
		}
		a, err = cu.MemAlloc(bytes)
	}
	return a, err
}

// take adds to the bytes that this program holds, and returns the new total.
func (d *device) take(bytes int64) int64 {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.held += bytes
	return d.held
}

// allocate returns the address of a number of bytes set to 0.
func (m *memory) allocate(bytes int) address {
	if m.device == nil {
		m.bytes += int64(bytes)
		return 0
	}
	if m.err != nil || bytes == 0 {
		return 0
	}
	m.bytes += int64(bytes)
	held := m.device.take(int64(bytes))
	if held > m.device.memory { // even if no other program holds any
		m.err = m.device.tooLarge(bytes, held, cu.OutOfMemory, "the device has", m.device.memory)
		if m.bytes <= m.device.memory { // it fits when other users of this program have ended
			m.err = &engine.DeviceError{Err: m.err}
		}
		return 0
	}
	var a cu.DevicePtr
	m.err = m.device.do(func() (err error) {
		if a, err = m.device.find(int64(bytes)); err != nil {
			free, _, _ := cu.MemInfo()
			return m.device.tooLarge(bytes, held, err, "free:", free)
		}
		m.held = append(m.held, allocation{a, int64(bytes)})
		return cu.MemsetD8Async(a, 0, int64(bytes), m.stream)
	})
	return address(a)
}

// tooLarge returns the error for an allocation that does not fit. held is the number of bytes that
// this program would hold after the allocation.
func (d *device) tooLarge(bytes int, held int64, err error, what string, room int64) error {
	return fmt.Errorf("%s: %w: %d MB requested in addition to %d MB in use, %s %d MB: lower the batch size, the number of samples or the layers, choose the diagonal metric, or use --backend cpu",
		d.name, err, (bytes-1)>>20+1, (held-int64(bytes))>>20, what, room>>20)
}

func (m *memory) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

func (m *memory) floats(n int) address  { return m.allocate(4 * n) }
func (m *memory) doubles(n int) address { return m.allocate(8 * n) }

func upload[T any](m *memory, to address, from []T) {
	if m.err != nil || m.device == nil || len(from) == 0 {
		return
	}
	defer runtime.KeepAlive(from)
	m.err = m.device.do(func() error {
		err := cu.MemcpyHtoDAsync(cu.DevicePtr(to), unsafe.Pointer(unsafe.SliceData(from)), size(from), m.stream)
		return cmp.Or(err, m.stream.Synchronize()) // only then may from change
	})
}

// hold copies numbers to newly allocated memory and returns its address.
func hold[T any](m *memory, from []T) address {
	a := m.allocate(int(size(from)))
	upload(m, a, from)
	return a
}

// holdRows copies rows to the device, whose kernels read bytes.
func holdRows(m *memory, data engine.Data) address {
	if data.AreReal() && m.err == nil {
		m.err = errors.New("the GPU cannot compute with real numbers (binarization real): use --backend cpu")
	}
	if data.Missing != nil && m.err == nil {
		m.err = refuse(engine.MissingUnits)
	}
	return hold(m, data.Bytes())
}

func download[T any](m *memory, to []T, from address) {
	if m.err != nil || len(to) == 0 {
		return
	}
	defer runtime.KeepAlive(to)
	m.err = m.device.do(func() error {
		err := cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(to)), cu.DevicePtr(from), size(to), m.stream)
		return cmp.Or(err, m.stream.Synchronize())
	})
}

func (m *memory) copy(to, from address, bytes int) {
	if m.err != nil || bytes == 0 {
		return
	}
	m.err = m.device.do(func() error {
		return cu.MemcpyDtoDAsync(cu.DevicePtr(to), cu.DevicePtr(from), int64(bytes), m.stream)
	})
}

func size[T any](x []T) int64 {
	var t T
	return int64(len(x)) * int64(unsafe.Sizeof(t))
}

// part returns memory on the same device that can be closed separately.
func (m *memory) part() *memory {
	m.device.mutex.Lock()
	defer m.device.mutex.Unlock()
	m.device.holders++ // the part holds the context in addition to m
	return &memory{device: m.device, stream: m.stream, shared: true, err: m.err}
}

// loaded is a program in the memory of the device.
type loaded struct {
	*program
	memory *memory
	header header
	inputs address
}

// mostPasses is the largest number of passes launched together: enough to make the cost of a launch
// small, few enough to stop soon.
const mostPasses = 64

// load copies a program to the device. key seeds its draws.
func (m *memory) load(p *program, key uint64) *loaded {
	var operations []operation
	var listed []tile
	phases := make([]phase, len(p.phases))
	for i, groups := range p.phases {
		first := len(listed)
		for _, g := range groups {
			for k := range g.tiles {
				listed = append(listed, tile{uint32(len(operations)), uint32(g.first + k)})
			}
			operations = append(operations, g.operations...)
		}
		phases[i] = phase{uint32(first), uint32(len(listed) - first)}
	}
	return &loaded{
		program: p, memory: m, inputs: m.allocate(4 * mostPasses * max(1, len(p.inputs))),
		header: header{
			operations: hold(m, operations), tiles: hold(m, listed), phases: hold(m, phases), arrived: m.allocate(counterLength),
			key: key, phaseCount: uint32(len(phases)), inputCount: uint32(len(p.inputs)),
		},
	}
}

// run executes the program once for each moment, and waits until it is done.
func (l *loaded) run(what string, moments ...moment) error {
	m := l.memory
	upload(m, l.inputs, l.words(moments))
	if m.err != nil {
		return m.err
	}
	m.err = m.device.do(func() error {
		err := m.device.launch(m.stream, l.header, l.inputs, len(moments))
		if err == nil {
			err = m.stream.Synchronize()
		}
		if err != nil {
			return fmt.Errorf("kernel %s, %s, on %s: %w", kernelName, what, m.device.name, err)
		}
		return nil
	})
	return m.err
}
