//go:build cuda

package gpu_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"gorgonia.org/cu"
)

const driverVariable = "HELMHOLTZ_CUDA_DRIVER"

// withDriver runs a test with another driver, in a separate process because the driver is opened
// only once.
func withDriver(t *testing.T, driver string, test func(t *testing.T)) {
	t.Helper()
	if os.Getenv(driverVariable) == driver {
		test(t)
		return
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), driverVariable+"="+driver)
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("with the driver %s: %v\n%s", driver, err, output)
	}
}

func TestProgramStartsWithoutDriver(t *testing.T) {
	withDriver(t, "/no/such/driver.so", func(t *testing.T) {
		if _, err := cu.NumDevices(); !errors.Is(err, cu.NoDevice) {
			t.Errorf("the number of devices without a driver: error %v, want %v", err, cu.NoDevice)
		}
	})
}

// These are the tasks of toolchain/emulated/test.h that Go tests run.
const (
	identity    = 0
	storeToNull = 15
)

func TestEmulatedDeviceThroughCu(t *testing.T) {
	driver, err := filepath.Abs("../build/cuda/libcuda-emulated-test.so")
	if err != nil {
		t.Fatal(err)
	}
	withDriver(t, driver, func(t *testing.T) {
		runtime.LockOSThread()
		for range 2 {
			outputs, err := launch(t, identity)
			if err != nil {
				t.Fatal(err)
			}
			for i, output := range outputs {
				if output != uint32(i) {
					t.Fatalf("thread %d stored %d", i, output)
				}
			}
			if _, err := launch(t, storeToNull); !errors.Is(err, cu.IllegalAddress) {
				t.Errorf("a store to NULL: error %v, want %v", err, cu.IllegalAddress)
			}
			if !panicsOnNil() {
				t.Error("after a kernel's fault, a nil pointer of Go's does not panic")
			}
		}
	})
}

func panicsOnNil() (panicked bool) {
	defer func() { panicked = recover() != nil }()
	var pointer *int
	return *pointer == 0
}

// launch runs a task of the emulated device's test kernel in a new context.
func launch(t *testing.T, task uint64) ([]uint32, error) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	device, err := cu.GetDevice(0)
	must(err)
	context, err := device.RetainPrimaryCtx()
	must(err)
	must(cu.SetCurrentContext(context))
	module, err := cu.LoadData(".version 8.0\n.target sm_70\n.visible .entry walk(")
	must(err)
	walk, err := module.Function("walk")
	must(err)

	outputs := make([]uint32, 128)
	size := int64(unsafe.Sizeof(outputs[0])) * int64(len(outputs))
	output, err := cu.MemAlloc(size)
	must(err)
	program, err := cu.MemAlloc(24)
	must(err)
	host := [3]uint64{task, uint64(output), 0}
	must(cu.MemcpyHtoD(program, unsafe.Pointer(&host), 24))

	var inputs cu.DevicePtr
	var passes uint64
	fault := walk.Launch(2, 1, 1, 64, 1, 1, 0, cu.NoStream,
		[]unsafe.Pointer{unsafe.Pointer(&program), unsafe.Pointer(&inputs), unsafe.Pointer(&passes)})
	if fault == nil {
		must(cu.MemcpyDtoH(unsafe.Pointer(&outputs[0]), output, size))
		must(cu.MemFree(program))
		must(cu.MemFree(output))
		must(module.Unload())
	}
	must(device.ReleasePrimaryCtx())
	return outputs, fault
}
