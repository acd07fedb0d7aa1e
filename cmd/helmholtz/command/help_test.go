package command

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"

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

// Help offers the algorithms of Boltzmann machines only where they are trained or timed.
func TestOnlyTrainAndBenchOfferBoltzmannMachines(t *testing.T) {
	for command, want := range map[string]bool{"train": true, "new": false, "bench train": true} {
		flags := commands()[command].Flags()
		if got := strings.Contains(flags.FlagUsages(), "pcd"); got != want {
			t.Errorf("%s offers pcd: %v", command, got)
		}
		if flags.SortFlags {
			t.Errorf("the flags of %s are not in the order of their groups", command)
		}
	}
}

// The help of train fits on a screen, with the most used flags first, and shows all flags on
// demand.
func TestHelpOfTrainFitsOnAScreen(t *testing.T) {
	short, whole := succeed(t, "train", "--help"), succeed(t, "train", "--help", "all")
	if lines := strings.Count(short, "\n"); lines > 36 {
		t.Errorf("the help of train has %d lines:\n%s", lines, short)
	}
	if at := strings.Index(short, "--dataset name"); at < 0 || at > strings.Index(short, "--seeds N") || !strings.Contains(short, "train --help all") || strings.Contains(short, "--sparsity") {
		t.Errorf("the help of train is\n%s", short)
	}
	train := commands()["train"]
	train.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && !strings.Contains(whole, "--"+f.Name+" ") {
			t.Errorf("--help all does not show --%s", f.Name)
		}
	})
}

// The first example in the help of a family trains as written, for one epoch on few rows, except for values in capitals,
// which the user has to choose, and for data that are not here.
func TestExamplesOfFamiliesTrain(t *testing.T) {
	train := commands()["train"]
	for _, c := range train.Commands() {
		example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
		if regexp.MustCompile(`\b[A-Z]+\b`).MatchString(example) {
			continue
		}
		t.Run(c.Name(), func(t *testing.T) {
			args := strings.Fields(example)[1:]
			for _, info := range dataset.List() {
				if slices.Contains(args, info.Name) && !info.Ready() {
					t.Skipf("the data of %s are not here", info.Name)
				}
			}
			if !slices.Contains(args, "--subset") {
				args = append(args, "--subset", "400")
			}
			if i := slices.Index(args, "--epochs"); i >= 0 {
				args[i+1] = "1"
			}
			t.Chdir(t.TempDir())
			succeed(t, args...)
		})
	}
}

// Without --binarization, data show describes the values as its help says, before rounding.
func TestDataShowKeepsGreyValues(t *testing.T) {
	help, shown := succeed(t, "data", "show", "--help"), succeed(t, "data", "show", "miniglyphs")
	if !strings.Contains(help, "(default grey)") || !strings.Contains(shown, "type: grey levels (binarization grey)") {
		t.Errorf("data show prints\n%s\nand its help is\n%s", shown, help)
	}
}
