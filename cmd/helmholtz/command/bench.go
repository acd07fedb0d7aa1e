package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/plainjson"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/stat"
)

func newBench() *cobra.Command {
	return newGroup(&cobra.Command{
		Use:   "bench",
		Short: "Measure how long training and evaluation take",
	}, computing(newBenchTrain()), computing(newBenchEval()), newBenchHere(), newBenchGrowth())
}

type machineRecord struct {
	PeakMB  int64  `json:"peak_rss_mb"`
	Threads int    `json:"threads"`
	ISA     string `json:"isa"`
}

func thisMachine() machineRecord {
	return machineRecord{peakMemory() >> 20, runtime.GOMAXPROCS(0), kernels.InstructionSet()}
}

// withoutEffect are the flags of experiments that change no step, or make further runs.
var withoutEffect = []string{"keep", "patience", "measure", "record-steps", "belief", "pretrain", "pretrain-lr"}

func newBenchTrain() *cobra.Command {
	c := newBenchOf("train", defaultFamily)
	c.Short = "Measure how long training steps take"
	addFamilies(c, func(family string) *cobra.Command { return newBenchOf(family, family) })
	return c
}

// newBenchOf returns a command that measures the training steps of experiments of a family.
func newBenchOf(use, family string) *cobra.Command {
	var steps int
	var asJSON bool
	var profile string
	c := &cobra.Command{Use: use, Args: noArgs}
	c.Example = fmt.Sprintf("  helmholtz bench train %s --config runs/%[1]s/experiment.toml --steps 100", family)
	c.Flags().SortFlags = false
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	all.SortFlags = false
	x := newDraftFlags(all, family)
	c.Short = "Measure how long training steps of " + x.Noun + " take"
	all.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(withoutEffect, f.Name) {
			c.Flags().AddFlag(f)
		}
	})
	numberFlag(c.Flags(), &steps, "steps", 2000, 1, "`number` of steps to measure")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.Flags().StringVar(&profile, "profile", "", "write a CPU profile to `file`, for go tool pprof")
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		e, err := x.experiment(c)
		if err != nil {
			return err
		}
		set, err := openTrained(c, e, "")
		if err != nil {
			return err
		}
		if err := refuseUnwritable(c, "profile", profile); err != nil {
			return err
		}
		if profile != "" {
			var to bytes.Buffer
			if err := pprof.StartCPUProfile(&to); err != nil {
				return err
			}
			defer func() {
				pprof.StopCPUProfile()
				err = errors.Join(err, writeFile(profile, to.Bytes()))
			}()
		}
		progress := newFraction(c.ErrOrStderr(), "training")
		if e, is := e.(benchmarker); is {
			timing, err := e.Benchmark(c.Context(), set, steps, progress)
			if err != nil {
				return err
			}
			machine := thisMachine()
			return machine.write(c, asJSON, timing.Device, struct {
				hm.Timing
				machineRecord
			}{timing, machine}, fmt.Sprintf("step %.3f ms (%.0f GFLOP/s), epoch %.2f s, refresh %.0f ms", timing.StepMS, timing.GFLOPS, timing.EpochS, timing.RefreshMS))
		}
		perEpoch := e.Header().StepsPerEpoch(set.Train().Rows)
		took, err := timed(c.Context(), e, set, min(perEpoch, 2000), steps, math.MaxInt64, progress)
		if err != nil {
			return err
		}
		slices.Sort(took)
		backend, device, err := hm.Device()
		machine := thisMachine()
		step, epoch := 1e3*took[len(took)/2], stat.Mean(took, nil)*float64(perEpoch)
		return errors.Join(err, machine.write(c, asJSON, device, struct {
			Backend string  `json:"backend"`
			Device  string  `json:"device"`
			StepMS  float64 `json:"step_ms"`
			EpochS  float64 `json:"epoch_s"`
			Steps   int     `json:"steps"`
			machineRecord
		}{backend, device, step, epoch, steps, machine}, fmt.Sprintf("step %.3f ms, epoch %.2f s", step, epoch)))
	}
	return c
}

// benchmarker is an experiment that measures its own steps, in more detail.
type benchmarker interface {
	Benchmark(ctx context.Context, set *dataset.Set, steps int, progress func(done float64)) (hm.Timing, error)
}

// timed returns the times of steps in seconds, after warm others. It takes fewer steps, but at least one, if they take
// longer than within. If an epoch is one step, each step starts training anew, since the first may finish it.
func timed(ctx context.Context, e runs.Experiment, set *dataset.Set, warm, steps int, within time.Duration, progress func(float64)) (took []float64, err error) {
	if e, err = runs.Resolve(e, set, ""); err != nil {
		return nil, err
	}
	at, err := e.Begin(set)
	if err != nil {
		return nil, err
	}
	perEpoch := e.Header().StepsPerEpoch(set.Train().Rows)
	var learner runs.Learner
	for done, first := 0, time.Now(); done < warm+steps && (len(took) == 0 || time.Since(first) < within); {
		if learner == nil || perEpoch == 1 {
			if learner != nil {
				learner.Close()
			}
			if learner, err = e.Learner(set, at); err != nil {
				return nil, err
			}
		}
		left, start := warm+steps-done, time.Now()
		if done < warm {
			left, first = warm-done, start
		}
		measured, err := learner.Steps(ctx, left, func(int) float64 { return e.LearningRate(0, perEpoch) })
		if err != nil {
			return nil, errors.Join(err, learner.Close())
		}
		if done += len(measured); done > warm {
			took = append(took, slices.Repeat([]float64{time.Since(start).Seconds() / float64(len(measured))}, len(measured))...)
		}
		if progress != nil {
			progress(float64(done) / float64(warm+steps))
		}
	}
	return took, learner.Close()
}

func newBenchEval() *cobra.Command {
	var samples, rows int
	var asJSON bool
	c := &cobra.Command{
		Use:   "eval DIR",
		Short: "Measure how many rows per second the machine of a run evaluates",
		Args:  oneRun,
	}
	numberFlag(c.Flags(), &samples, "samples", 1000, 1, "`K` importance samples per row, or chains of annealing")
	numberFlag(c.Flags(), &rows, "rows", 1000, 0, "`N` test rows drawn from the run's seed, 0 for all")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	c.RunE = func(c *cobra.Command, args []string) error {
		run, model, err := openModel(args[0], "last")
		if err != nil {
			return err
		}
		estimator, is := model.(runs.Estimator)
		if !is {
			return run.Lacks("estimates no measures")
		}
		set, err := run.Dataset()
		if err != nil {
			return err
		}
		backend, device, err := hm.Device()
		if err != nil {
			return err
		}
		seed := run.Experiment().Header().Seed
		data := set.Test().Subset(rows, seed)
		start := time.Now()
		if _, err := estimator.Estimate(c.Context(), data, samples, seed, newFraction(c.ErrOrStderr(), "evaluating")); err != nil {
			return err
		}
		perSecond := float64(data.Rows) / time.Since(start).Seconds()
		machine, text, drawn := thisMachine(), fmt.Sprintf("%.4g rows per second", perSecond), 0.0
		if evaluator, is := model.(runs.Evaluator); is && slices.Contains(evaluator.Evaluations().Uses, "samples") {
			drawn = perSecond * float64(samples)
			text = fmt.Sprintf("%.0f samples per second", drawn)
		}
		return machine.write(c, asJSON, device, struct {
			Backend string  `json:"backend"`
			Device  string  `json:"device"`
			Rows    float64 `json:"rows_per_s"`
			Samples float64 `json:"samples_per_s,omitzero"`
			machineRecord
		}{backend, device, perSecond, drawn, machine}, text)
	}
	return c
}

func newBenchHere() *cobra.Command {
	var steps int
	c := &cobra.Command{
		Use:   "here",
		Short: "Measure how fast this machine computes, with each instruction set that it has",
		Args:  noArgs,
	}
	numberFlag(c.Flags(), &steps, "steps", 200, 1, "`number` of steps to measure")
	c.RunE = func(c *cobra.Command, args []string) error {
		set, err := dataset.Spec{Name: "glyphs", Subset: 500}.OpenNew()
		if err := errors.Join(err, hm.UseBackend("cpu")); err != nil {
			return err
		}
		e := hm.RWS().Experiment(hm.New(set.Shape()).Dense(200, 100), set)
		defer kernels.SetInstructionSet(kernels.InstructionSet())
		fmt.Fprintf(c.OutOrStdout(), "%s/%s, %s\n", runtime.GOOS, runtime.GOARCH, processor())
		portable := 0.0
		for _, name := range kernels.InstructionSets() {
			if err := kernels.SetInstructionSet(name); err != nil {
				return err
			}
			timing, err := e.Benchmark(c.Context(), set, steps, newFraction(c.ErrOrStderr(), name))
			if err != nil {
				return err
			}
			if portable == 0 { // the first set
				portable = timing.StepMS
			}
			fmt.Fprintf(c.OutOrStdout(), "%-8s  products %.1f GFLOP/s on one thread, step of RWS %.3f ms, %.3f of portable\n",
				name, productRate(), timing.StepMS, timing.StepMS/portable)
		}
		return nil
	}
	return c
}

// productRate returns the billions of operations per second of a large matrix product.
func productRate() float64 {
	const rows, depth, columns = 320, 785, 300
	a, b, product := kernels.NewMatrix(rows, depth), kernels.NewMatrix(columns, depth), kernels.NewMatrix(rows, columns)
	best := time.Duration(math.MaxInt64)
	for range 5 {
		start := time.Now()
		kernels.MulNT(product, a, b)
		best = min(best, time.Since(start))
	}
	return 2 * rows * depth * columns / best.Seconds() / 1e9
}

func newBenchGrowth() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "growth FILE...",
		Short: "Draw how cost grows, with a panel for each file that notebooks/speed.py has measured",
		Args:  some("name one or more files of measurements, as notebooks/speed.py --family growth writes them"),
	}
	figureFlag(c.Flags(), "out", &out, "growth.png", "`file` to draw into")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := refuseUnwritable(c, "out", out); err != nil {
			return err
		}
		var panels []*plotting.Figure
		for _, path := range args {
			panel, err := growthOf(path)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			panels = append(panels, panel)
		}
		return savedAt(c, out, plotting.Row(panels...).Save(out))
	}
	return c
}

// growthOf draws the measurements in a file, one JSON object per line.
func growthOf(path string) (*plotting.Figure, error) {
	text, err := file.ReadNamed(path, file.Small)
	if err != nil {
		return nil, err
	}
	label, curves := "", []plotting.Measured(nil)
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var at struct {
			Label, Program string
			X, US          float64
		}
		var line json.RawMessage
		err := d.Decode(&line)
		if err == nil {
			err = plainjson.Check(line, false)
		}
		if err == nil {
			err = json.Unmarshal(line, &at)
		}
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(curves, func(m plotting.Measured) bool { return m.Name == at.Program })
		if i < 0 {
			i, curves = len(curves), append(curves, plotting.Measured{Name: at.Program})
		}
		label, curves[i].X, curves[i].Y = at.Label, append(curves[i].X, at.X), append(curves[i].Y, at.US)
	}
	return plotting.Measurements(plotting.Axis{Label: label, Logarithmic: true}, plotting.Axis{Label: "µs", Logarithmic: true}, curves...), nil
}

func (m machineRecord) write(c *cobra.Command, asJSON bool, device string, all any, text string) error {
	if asJSON {
		return json.NewEncoder(c.OutOrStdout()).Encode(all)
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), "%s\n%s\npeak memory %d MB, %d threads, %s\n", text, device, m.PeakMB, m.Threads, m.ISA)
	return err
}
