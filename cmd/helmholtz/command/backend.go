package command

import (
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/spf13/cobra"
)

// computing gives a command the flag that chooses what computes, and makes sure,
// before the command begins, that this can be had.
func computing(c *cobra.Command) *cobra.Command {
	name := backendFlag(c)
	c.PreRunE = func(*cobra.Command, []string) error {
		if *name != "" {
			return hm.UseBackend(*name)
		}
		_, _, err := hm.Device()
		return err
	}
	return c
}

// backendFlag adds the flag that chooses what computes, here or in tasks elsewhere.
func backendFlag(c *cobra.Command) *string {
	var name string
	c.Flags().Var(choice(&name, "cpu", "cuda", "auto"), "backend",
		"`what` computes: cpu, cuda (an NVIDIA GPU), or auto, cuda where it can be had (default $"+hm.BackendVariable+", or cpu)")
	return &name
}

// givenBackend is the flag of a command that chooses what computes, for the programs that compute
// in its place, or nothing where it was left out.
func givenBackend(c *cobra.Command) []string {
	if f := c.Flags().Lookup("backend"); f.Changed {
		return []string{"--backend", f.Value.String()}
	}
	return nil
}
