package command

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// preemptions are the signals that schedulers send to preempt a program. Windows has only one.
var preemptions = []os.Signal{syscall.SIGTERM}

func peakMemory() int64 {
	var counters struct { // PROCESS_MEMORY_COUNTERS
		size, _ uint32
		peak    uintptr
		_       [7]uintptr
	}
	counters.size = uint32(unsafe.Sizeof(counters))
	get := windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")
	_, _, _ = get.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&counters)), uintptr(counters.size))
	return int64(counters.peak)
}

// isReady returns false: connections that wait to be accepted are reset when the listener closes.
func isReady(syscall.Conn) bool { return false }
