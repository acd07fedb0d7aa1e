package command

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestFlagGroups(t *testing.T) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.SortFlags = false
	f.Bool("quiet", false, "say nothing")
	inGroup(f, "metric", func(f *pflag.FlagSet) { f.Float64("damping", 0.2, "`α` of the inverse") })
	f.Int("n", 3, "`N`   rows")
	inGroup(f, "data", func(f *pflag.FlagSet) { f.String("dataset", "", "a `name`") })
	inGroup(f, "metric", func(f *pflag.FlagSet) { f.Int("k", 0, "steps") })
	got := flagGroups(f)
	const want = `Flags:
      --quiet          say nothing
      --n N            N   rows (default 3)

Metric:
      --damping α      α of the inverse (default 0.2)
      --k int          steps

Data:
      --dataset name   a name
`
	if got != want {
		t.Errorf("the usage is\n%s\nwant\n%s", got, want)
	}
}

// Help offers the algorithms of Boltzmann machines where they are trained, and nowhere else.
func TestOnlyTrainOffersBoltzmannMachines(t *testing.T) {
	for command, want := range map[string]bool{"train": true, "new": false, "bench train": false} {
		flags := commands()[command].Flags()
		if got := strings.Contains(flags.FlagUsages(), "pcd"); got != want {
			t.Errorf("%s offers pcd: %v", command, got)
		}
		if flags.SortFlags {
			t.Errorf("the flags of %s are not in the order of their groups", command)
		}
	}
}
