//go:build unix

package command

import (
	"fmt"
	"path/filepath"

	"github.com/helmholtz-go/helmholtz/kernelext/kernel"
	"github.com/spf13/cobra"
)

func newKernel() *cobra.Command {
	return newGroup(&cobra.Command{
		Use:   "kernel",
		Short: "Register the Jupyter kernel Go (Helmholtz)",
		Long: `Register the Jupyter kernel "Go (Helmholtz)": GoNB, with a session in which
experiments go on after the cell that started them has ended.`,
		Example: `  helmholtz kernel install
  helmholtz kernel fetch
  helmholtz kernel list
  helmholtz kernel remove`,
	}, newKernelInstall(), newKernelFetch(), newKernelList(), newKernelRemove(), newKernelRun(), newKernelGuard())
}

// placeFlags adds the flags that choose a Jupyter data folder.
func placeFlags(c *cobra.Command) (folder func() (string, error)) {
	var user bool
	var prefix string
	c.Flags().BoolVar(&user, "user", false, "for the user, in JUPYTER_DATA_DIR where it is set (the default)")
	c.Flags().StringVar(&prefix, "prefix", "", "in `DIR`/share/jupyter")
	return func() (string, error) {
		switch {
		case prefix == "":
			return kernel.UserFolder()
		case user:
			return "", misuse(c, "--user and --prefix both say where the kernel is registered: give one of them")
		}
		dir, err := filepath.Abs(prefix)
		return filepath.Join(dir, "share", "jupyter"), err
	}
}

// toolFlags adds the flags that name the kernel's tools, and returns what finds these.
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
	c := &cobra.Command{Use: "install", Short: "Register the kernel with Jupyter", Args: noArgs}
	folder := placeFlags(c)
	find := toolFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		tools, err := find()
		if err != nil {
			return err
		}
		dir, err := folder()
		if err != nil {
			return err
		}
		path, err := kernel.Install(dir, tools)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "registered in %s\n", path)
		if c.Flags().Changed("prefix") {
			fmt.Fprintf(c.ErrOrStderr(), "a Jupyter of another prefix finds it with JUPYTER_PATH=%s\n", dir)
		}
		return nil
	}
	return c
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

// noKernel is what doctor says where the kernel is not registered.
const noKernel = "no Jupyter kernel for Go: make notebook registers one"

// jupyterFolders are the Jupyter data folders of the project, of the user and of
// the machine.
func jupyterFolders() []string { return append([]string{"build/jupyter"}, kernel.Folders()...) }

func newKernelList() *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List where the kernel is registered", Args: noArgs}
	folder := placeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		dir, err := folder()
		if err != nil {
			return err
		}
		folders := []string{dir}
		if !c.Flags().Changed("prefix") {
			folders = jupyterFolders()
		}
		found := kernel.Registered(folders...)
		if len(found) == 0 {
			fmt.Fprintln(c.ErrOrStderr(), "the kernel is not registered: helmholtz kernel install does it")
		}
		for _, path := range found {
			fmt.Fprintln(c.OutOrStdout(), path)
		}
		return nil
	}
	return c
}

func newKernelRemove() *cobra.Command {
	c := &cobra.Command{Use: "remove", Short: "Take the kernel away from Jupyter", Args: noArgs}
	folder := placeFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		dir, err := folder()
		if err != nil {
			return err
		}
		switch was, err := kernel.Remove(dir); {
		case err != nil:
			return err
		case !was:
			return fmt.Errorf("the kernel is not registered in %s: helmholtz kernel list says where it is", dir)
		}
		fmt.Fprintf(c.OutOrStdout(), "removed from %s\n", dir)
		return nil
	}
	return c
}

func newKernelRun() *cobra.Command {
	c := &cobra.Command{
		Use:    "run CONNECTION_FILE [GONB_OPTION]...",
		Short:  "Run the kernel; Jupyter does",
		Args:   cobra.MinimumNArgs(1),
		Hidden: true,
	}
	find := toolFlags(c)
	c.Flags().SetInterspersed(false)
	c.RunE = func(c *cobra.Command, args []string) error {
		found, err := find()
		if err != nil {
			return err
		}
		return kernel.Run(c.Context(), args[0], found, args[1:]...)
	}
	return c
}

func newKernelGuard() *cobra.Command {
	c := &cobra.Command{
		Use:    "guard DIR PROGRAM [ARGUMENT]...",
		Short:  "Run a program that shall not outlive the kernel; the kernel does",
		Args:   cobra.MinimumNArgs(2),
		Hidden: true,
		RunE:   func(_ *cobra.Command, args []string) error { return kernel.Guard(args[0], args[1:]) },
	}
	c.Flags().SetInterspersed(false)
	return c
}
