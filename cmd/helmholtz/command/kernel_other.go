//go:build !unix

package command

import (
	"errors"
	"runtime"

	"github.com/spf13/cobra"
)

// noKernel says that the kernel is not part of this program, and where it is.
const noKernel = "the Jupyter kernel does not run on " + runtime.GOOS + ": run it on Linux or macOS, or in a container or a virtual machine with Linux"

// newKernel makes the command kernel, which says that the kernel does not run here.
func newKernel() *cobra.Command {
	return &cobra.Command{
		Use:                "kernel",
		Short:              "Say that the Jupyter kernel does not run here",
		Hidden:             true,
		Args:               cobra.ArbitraryArgs,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE:               func(*cobra.Command, []string) error { return errors.New("kernel: " + noKernel) },
	}
}

// jupyterFolders are none.
func jupyterFolders() []string { return nil }
