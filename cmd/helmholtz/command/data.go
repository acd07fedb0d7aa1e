package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

func newData() *cobra.Command {
	return newGroup(&cobra.Command{
		Use:   "data",
		Short: "List, fetch and find data sets",
		Long: `List, fetch and find data sets. The program looks for their files in the folder that
HELMHOLTZ_DATA names, then in the user's cache directory. Only "data get" downloads
anything.`,
		Example: `  helmholtz data list
  helmholtz data get mnist
  helmholtz data path`,
	}, &cobra.Command{
		Use:     "list",
		Short:   "List the named data sets and where their files are",
		Example: "  helmholtz data list",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			listData(c.OutOrStdout())
			noteFolder(c.ErrOrStderr())
			return nil
		},
	}, &cobra.Command{
		Use:   "get NAME...",
		Short: "Fetch data sets from their official addresses and verify them",
		Long: `Fetch data sets from their official addresses and verify them. If a server sends
nothing for a minute, the request is repeated once and then given up. Partial
downloads are kept, and the next "data get" resumes them.`,
		Example: "  helmholtz data get mnist fashion",
		Args:    some("name the data sets to fetch, such as mnist: helmholtz data list shows all"),
		RunE: func(c *cobra.Command, names []string) error {
			for _, name := range names {
				if err := dataset.Get(c.Context(), name, download(c.ErrOrStderr())); err != nil {
					return err
				}
				fmt.Fprintf(c.OutOrStdout(), "%s is ready\n", name)
			}
			return nil
		},
	}, &cobra.Command{
		Use:     "path",
		Short:   "Print the folders that are searched for data",
		Example: "  helmholtz data path",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			folders, err := dataset.Folders()
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), strings.Join(folders, "\n"))
			noteFolder(c.ErrOrStderr())
			return nil
		},
	})
}

// noteFolder warns if the folder that the environment names does not exist.
func noteFolder(w io.Writer) {
	own := os.Getenv(dataset.Environment)
	if info, err := os.Stat(own); own != "" && (err != nil || !info.IsDir()) {
		fmt.Fprintf(w, "%s names %s, which is not a folder: create it, or name another\n", dataset.Environment, own)
	}
}

// listData writes a table of the named data sets.
func listData(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tSHAPE\tTRAIN\tVALIDATION\tTEST\tFILES\tDESCRIPTION")
	for _, i := range dataset.List() {
		files := "built in"
		switch {
		case len(i.Files) > 0 && i.Ready():
			files = filepath.Dir(i.Files[0].Path)
		case i.Offered:
			files = "missing: helmholtz data get " + i.Name
		case !i.Ready() && os.Getenv(dataset.Environment) != "":
			files = "missing: not in " + os.Getenv(dataset.Environment)
		case !i.Ready():
			files = "missing: set " + dataset.Environment
		}
		fmt.Fprintf(t, "%s\t%v\t%d\t%d\t%d\t%s\t%s\n", i.Name, i.Shape, i.Train, i.Validation, i.Test, files, i.Description)
	}
	t.Flush()
}

// download returns a function that draws the progress of downloads, one bar per file, or writes one
// line per file if w is not a terminal.
func download(w io.Writer) func(file string, done, total int64) {
	terminal := file.IsTerminal(w)
	var current string
	var bar *progressbar.ProgressBar
	return func(file string, done, total int64) {
		if file != current {
			current = file
			if !terminal {
				fmt.Fprintln(w, file)
				return
			}
			bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(w),
				progressbar.OptionSetDescription(filepath.Base(file)), progressbar.OptionShowBytes(true),
				progressbar.OptionOnCompletion(func() { fmt.Fprintln(w) }))
		}
		if bar != nil {
			_ = bar.Set64(done)
		}
	}
}
