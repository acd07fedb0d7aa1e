package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/spf13/cobra"
)

func newImport() *cobra.Command {
	var data dataset.Spec
	var names []string
	var coding []boltzmann.Coding
	var from boltzmann.Imported
	var transposed bool
	var out string
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Make a run from a Boltzmann machine that another program trained",
		Args:  between(1, 1, "name the file of the machine, such as rbm.safetensors"),
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringSliceVar(&names, "names", []string{"W", "b", "c"}, "`names` of the weights, the visible and the hidden biases in the file")
	f.BoolVar(&transposed, "transposed", false, "the weights are hidden x visible")
	listFlag(f, &coding, "coding", "values of units: 01, or pm1 for -1 and 1; or one for visible and one for hidden units, such as pm1,01")
	textFlag(f, &from.Sign, "sign", "sign of the parameters in the energy: minus for -bv - ch - vWh, or plus")
	f.Lookup("sign").DefValue = "" // required
	f.StringVar(&out, "out", "", "`DIR` of the run")
	dataFlags(f, &data)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := refuseMissing(c, "dataset", "coding", "sign", "out"); err != nil {
			return err
		}
		if len(names) != 3 {
			return misuse(c, "--names %s: give three names, of the weights, the visible and the hidden biases", strings.Join(names, ","))
		}
		if len(coding) > 2 {
			return misuse(c, "--coding: give one coding for all units, or one for the visible and one for the hidden units")
		}
		from.File, from.Visible, from.Hidden = args[0], coding[0], coding[len(coding)-1]
		w, err := work.Interruptible(func() (boltzmann.Weights, error) {
			return boltzmann.ReadWeights(args[0], boltzmann.Layout{Weights: names[0], Visible: names[1], Hidden: names[2], Transposed: transposed})
		})
		if err != nil {
			return misuse(c, "%w", err)
		}
		set, err := data.OpenNew()
		if err != nil {
			return err
		}
		run, err := w.Import(set, from, out)
		if err != nil {
			return err
		}
		_, constant := w.Converted(from.Visible, from.Hidden, from.Sign)
		said := ""
		if slices.Contains(coding, boltzmann.PlusMinusOne) {
			said = fmt.Sprintf("log Z of the other program is log Z here plus %.6f; log p is the same\n", constant)
		}
		if len(w.Ignored) > 0 {
			said += fmt.Sprintf("ignored: %s\n", strings.Join(w.Ignored, ", "))
		}
		if visible, hidden := w.W.Dims(); visible == hidden {
			as, other, err := w.Orders(set, from)
			if err != nil {
				return err
			}
			remedy := ""
			if other > as {
				remedy = ": check --transposed"
			}
			said += fmt.Sprintf("%s is square: training rows have a log pseudo-likelihood of %.3f nats, or of %.3f with --transposed=%t%s\n", names[0], as, other, !transposed, remedy)
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %v\n%shelmholtz eval %[1]s evaluates it\n", shell.Argument(out), run.Model, said)
		return err
	}
	return c
}
