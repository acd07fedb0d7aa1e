package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/spf13/cobra"
)

func newData() *cobra.Command {
	return newGroup(&cobra.Command{
		Use:   "data",
		Short: "List, download and describe data sets",
	}, &cobra.Command{
		Use:   "list",
		Short: "List the named data sets and where their files are",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			listData(c.OutOrStdout())
			noteFolder(c.ErrOrStderr())
			return nil
		},
	}, ofNames("get NAME...", "Download data sets from their official addresses and verify them", some("name the data sets to fetch, such as mnist: helmholtz data list shows them all"), func(c *cobra.Command, name string) error {
		err := dataset.Get(c.Context(), name, download(c.ErrOrStderr()))
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "%s is ready\n", name)
		}
		return err
	}), newDataShow(), newDataCache(), &cobra.Command{
		Use:   "path",
		Short: "Print the folders that are searched for data",
		Args:  noArgs,
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

func newDataCache() *cobra.Command {
	var clear bool
	c := &cobra.Command{
		Use:   "cache",
		Short: "Print the folder that keeps the rows of large files, or remove its files",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			folder, err := dataset.CacheFolder()
			if err == nil && clear {
				err = dataset.ClearCache()
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), folder)
			return nil
		},
	}
	c.Flags().BoolVar(&clear, "clear", false, "remove the files in it")
	return c
}

func newDataShow() *cobra.Command {
	spec := dataset.Spec{Binarization: dataset.Gray} // show grey values, not rounded ones
	var out, schema string
	var n int
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "Describe a data set or a file, and draw its first rows",
		Args:  between(1, 1, "name one data set or file"),
	}
	f := c.Flags()
	readingFlags(f, &spec)
	figureFlag(f, "out", &out, "", "`file` to draw the rows into")
	numberFlag(f, &n, "n", 100, 1, "`number` of rows to draw")
	fileFlag(f, &schema, "write-schema", "", "`file` to write the columns of a table into", "toml")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := firstOf(refuseIdle(c, out != "", "--out", "n"), refuseUnwritable(c, "out", out), refuseUnwritable(c, "write-schema", schema)); err != nil {
			return err
		}
		spec.Name = args[0]
		open := spec.OpenNumbers // as "new" does
		if c.Flags().Changed("binarization") {
			open = spec.OpenNew
		}
		set, err := open()
		if err != nil {
			return err
		}
		if schema != "" {
			of := set.Schema()
			if of.Columns == nil {
				return misuse(c, "--write-schema: %s is no table with columns: omit it", args[0])
			}
			if err := savedAt(c, schema, writeFile(schema, of.TOML())); err != nil {
				return err
			}
		}
		about, err := work.Interruptible(func() (string, error) { return set.Description(), nil })
		if err != nil {
			return err
		}
		fmt.Fprint(c.OutOrStdout(), about)
		if out == "" {
			return nil
		}
		if err := set.CheckPixels(); err != nil {
			return err
		}
		return savedAt(c, out, plotting.Samples(set.Train().Sheet(n)).Save(out))
	}
	return c
}

func noteFolder(w io.Writer) {
	own := os.Getenv(dataset.Environment)
	if info, err := os.Stat(own); own != "" && (err != nil || !info.IsDir()) {
		fmt.Fprintf(w, "%s names %s, which is not a folder: create it, or name another one\n", dataset.Environment, own)
	}
}

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

// download returns a function that shows the progress of downloads: a bar for each file on a terminal,
// otherwise a line for each file.
func download(w io.Writer) func(file string, done, total int64) {
	terminal, current, bar := file.IsTerminal(w), "", &file.Bar{W: w}
	return func(path string, done, total int64) {
		begins := path != current
		if begins {
			current, bar.Start = path, time.Now()
		}
		switch {
		case terminal:
			const mega = 1e6
			bar.Draw(filepath.Base(path), fmt.Sprintf("(%.1f/%.1f MB) ", float64(done)/mega, float64(total)/mega), float64(done)/float64(max(done, total, 1)))
			if done == total {
				fmt.Fprintln(w)
			}
		case begins:
			fmt.Fprintln(w, path)
		}
	}
}
