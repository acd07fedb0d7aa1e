package command

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/docs"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

func newDocs() *cobra.Command {
	return &cobra.Command{
		Use:               "docs [PAGE]",
		Short:             "Print a guide, or list the guides",
		Args:              between(0, 1, "name at most one guide"),
		ValidArgsFunction: cobra.FixedCompletions(docs.Names(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				page, err := docs.Find(args[0])
				if err != nil {
					return misuse(c, "%w", err)
				}
				_, err = fmt.Fprint(c.OutOrStdout(), page.Text)
				return err
			}
			t := runs.NewTable("docs", "", runs.Column{Key: "page", Label: "page"}, runs.Column{Key: "about", Label: "about"})
			for _, p := range docs.Pages() {
				t.Add(p.Name, p.Title)
			}
			if err := t.WriteText(c.OutOrStdout()); err != nil {
				return err
			}
			if site := docs.Site(); site != "" {
				fmt.Fprintf(c.OutOrStdout(), "\nThe whole site: file://%s\n", site)
			}
			return nil
		},
	}
}
