//go:build !unix

package command

import (
	"errors"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"
)

// noKernel explains that the kernel is not part of this program, and where it runs.
const noKernel = "the Jupyter kernel does not run on " + runtime.GOOS + ": run it on Linux or macOS, or in a container or a virtual machine with Linux"

func newKernel() *cobra.Command {
	return &cobra.Command{
		Use:                "kernel",
		Short:              "Report that the Jupyter kernel does not run here",
		Hidden:             true,
		Args:               cobra.ArbitraryArgs,
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE:               func(*cobra.Command, []string) error { return errors.New("kernel: " + noKernel) },
	}
}

func jupyterFolders() []string { return nil }

func programFinder() func(program string) (string, error) { return exec.LookPath }
