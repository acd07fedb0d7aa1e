package command

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

func newHistory() *cobra.Command {
	var norms bool
	c := &cobra.Command{
		Use:   "history DIR...",
		Short: "Write the history of runs as a table",
		Args:  someRuns,
	}
	tables := newTableFlags(c, "epochs", "text")
	c.Flags().BoolVar(&norms, "norms", false, "include the norms of each layer's weights, gradients and directions of ascent")

	c.RunE = func(c *cobra.Command, dirs []string) error {
		if err := tables.check(false); err != nil {
			return err
		}
		histories, err := historiesOf(c, dirs, norms)
		if err != nil {
			return err
		}
		if norms && !slices.ContainsFunc(histories, hasNorms) {
			return misuse(c, "--norms: these runs recorded no norms; omit it")
		}
		return tables.giveAndSay(histories[0].Table(histories[1:]...))
	}
	return c
}

func historiesOf(c *cobra.Command, dirs []string, norms bool) ([]runs.History, error) {
	var histories []runs.History
	seen := map[string]bool{}
	for _, dir := range dirs {
		seeds, err := runs.OpenSeeds(dir)
		if err != nil {
			return nil, err
		}
		if seeds.Waiting > 0 {
			fmt.Fprintf(c.ErrOrStderr(), "%s: %d more seeds have no checkpoint yet\n", dir, seeds.Waiting)
		}
		for _, run := range seeds.Runs {
			dir := filepath.Clean(run.Dir())
			if seen[dir] {
				return nil, misuse(c, "%s is named twice: name different directories", dir)
			}
			seen[dir] = true
			h := run.History()
			if h.Err != nil {
				return nil, h.Err
			}
			h.Name = run.Dir()
			if !norms {
				h = h.WithoutNorms()
			}
			histories = append(histories, h)
		}
	}
	return histories, nil
}
