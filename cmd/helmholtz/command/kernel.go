//go:build unix

package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/kernelext/kernel"
	"github.com/spf13/cobra"
)

func newKernel() *cobra.Command {
	return newGroup(&cobra.Command{
		Use:   "kernel",
		Short: "Register the Jupyter kernel Go (Helmholtz)",
	}, newKernelInstall(), newKernelFetch(), newKernelList(), newKernelRemove(), newKernelRun(),
		programmatic("guard DIR PROGRAM [ARGUMENT]...", "Run a program that must not outlive the kernel (used by the kernel)", 2,
			func(_ *cobra.Command, args []string) error { return kernel.Guard(args[0], args[1:]) }),
		programmatic("leash PROGRAM [ARGUMENT]...", "Run a program that ends with its parent (used by the kernel)", 1,
			func(_ *cobra.Command, args []string) error { return kernel.Leash(args) }))
}

// inFolder adds the flag that chooses a Jupyter data folder to a command that works in this folder.
func inFolder(c *cobra.Command, do func(c *cobra.Command, dir string) error) *cobra.Command {
	var prefix string
	c.Args = noArgs
	c.Flags().StringVar(&prefix, "prefix", "", "in `DIR`/share/jupyter instead of the user's folder, which JUPYTER_DATA_DIR sets")
	c.RunE = func(c *cobra.Command, _ []string) error {
		dir, err := kernel.UserFolder()
		if prefix != "" {
			dir, err = filepath.Abs(filepath.Join(prefix, "share", "jupyter"))
		}
		if err != nil {
			return err
		}
		return do(c, dir)
	}
	return c
}

func toolFlags(c *cobra.Command) (find func() (kernel.Tools, error)) {
	var t kernel.Tools
	f := c.Flags()
	f.StringVar(&t.Go, "go", "", "`path` of go")
	f.StringVar(&t.GoNB, "gonb", "", "`path` of gonb")
	f.StringVar(&t.GoImports, "goimports", "", "`path` of goimports")
	f.StringVar(&t.GoPLS, "gopls", "", "`path` of gopls")
	f.StringVar(&t.Module, "module", "", "`DIR` of this library's module")
	return func() (kernel.Tools, error) { return kernel.Find(t) }
}

func newKernelInstall() *cobra.Command {
	install := &cobra.Command{Use: "install", Short: "Register the kernel with Jupyter"}
	find := toolFlags(install)
	return inFolder(install, func(c *cobra.Command, dir string) error {
		tools, err := find()
		if err != nil {
			return err
		}
		path, err := kernel.Install(dir, tools)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "registered in %s\n", path)
		fmt.Fprintf(c.ErrOrStderr(), "papermill -p needs a package in its environment: python3 -m pip install %s\n", filepath.Join(tools.Module, "clients"))
		if c.Flags().Changed("prefix") {
			fmt.Fprintf(c.ErrOrStderr(), "Jupyter in another prefix finds it with JUPYTER_PATH=%s\n", dir)
		}
		return nil
	})
}

func newKernelFetch() *cobra.Command {
	c := &cobra.Command{Use: "fetch", Short: "Fetch the modules that cells import, so that notebooks need no network", Args: noArgs}
	find := toolFlags(c)
	c.RunE = func(*cobra.Command, []string) error {
		tools, err := find()
		if err != nil {
			return err
		}
		return kernel.Fetch(tools)
	}
	return c
}

// noKernel is doctor's message if the kernel is not registered.
const noKernel = "no Jupyter kernel for Go: make notebook registers one"

func jupyterFolders() []string {
	folders := kernel.Folders()
	if own, err := filepath.Abs("build/jupyter"); err == nil && !slices.Contains(folders, own) {
		folders = append([]string{own}, folders...)
	}
	return folders
}

// programFinder returns a function that finds programs where kernel.Find does, or in the project's
// build folder.
func programFinder() func(program string) (string, error) {
	places := append(kernel.Places("go", ""), "build/venv/bin")
	return func(program string) (string, error) { return kernel.FindProgram(program, places) }
}

func newKernelList() *cobra.Command {
	return inFolder(&cobra.Command{Use: "list", Short: "List where the kernel is registered"}, func(c *cobra.Command, dir string) error {
		folders := []string{dir}
		if !c.Flags().Changed("prefix") {
			folders = jupyterFolders()
		}
		found := kernel.Registered(folders...)
		if len(found) == 0 {
			fmt.Fprintf(c.ErrOrStderr(), "the kernel is not registered in %s: run helmholtz kernel install, with --prefix for another folder\n", strings.Join(folders, ", "))
		}
		for _, path := range found {
			fmt.Fprintln(c.OutOrStdout(), path)
		}
		return nil
	})
}

func newKernelRemove() *cobra.Command {
	return inFolder(&cobra.Command{Use: "remove", Short: "Remove the kernel from Jupyter"}, func(c *cobra.Command, dir string) error {
		switch was, err := kernel.Remove(dir); {
		case err != nil:
			return err
		case !was:
			return fmt.Errorf("the kernel is not registered in %s: helmholtz kernel list shows where it is", dir)
		}
		fmt.Fprintf(c.OutOrStdout(), "removed from %s\n", dir)
		return nil
	})
}

func newKernelRun() *cobra.Command {
	var find func() (kernel.Tools, error)
	c := programmatic("run CONNECTION_FILE [GONB_OPTION]...", "Run the kernel (used by Jupyter)", 1, func(c *cobra.Command, args []string) error {
		found, err := find()
		if err != nil {
			return err
		}
		return kernel.Run(c.Context(), args[0], found, args[1:]...)
	})
	find = toolFlags(c)
	return c
}

// programmatic returns a hidden command, which only programs call, with a least number of arguments.
// Flags after the first argument belong to its arguments.
func programmatic(use, short string, least int, run func(*cobra.Command, []string) error) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.MinimumNArgs(least), Hidden: true, RunE: run}
	c.Flags().SetInterspersed(false)
	return c
}
