package hm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// ErrDiverged is the error of training whose parameters or likelihoods are no
// longer finite.
var ErrDiverged = errors.New("training has diverged: the log-likelihood or a parameter is not finite; any earlier checkpoint is kept; lower the learning rate or raise the damping")

// saveEvery is the longest time that training goes without a checkpoint.
const saveEvery = time.Minute

// Train trains a machine on set and keeps the run in the directory dir. A
// directory that holds the same experiment is resumed, and returned at once if
// it is finished; one that holds another is refused. Rows that FromRows made a
// set of are stored there, too. Cancelling the context stops training within a
// step, with a checkpoint, and returns its error beside the run. So does training
// that diverges, with ErrDiverged.
func (m Method) Train(ctx context.Context, machine Machine, set *dataset.Set, dir string, recorders ...Recorder) (*Run, error) {
	return m.Experiment(machine, set).TrainOn(ctx, set, dir, recorders...)
}

// Train is TrainOn with the experiment's data set, which it opens.
func (e Experiment) Train(ctx context.Context, dir string, recorders ...Recorder) (*Run, error) {
	set, err := e.OpenDataset(dir)
	if err != nil {
		return nil, err
	}
	return e.TrainOn(ctx, set, dir, recorders...)
}

// TrainOn trains as Method.Train does.
func (e Experiment) TrainOn(ctx context.Context, set *dataset.Set, dir string, recorders ...Recorder) (*Run, error) {
	if err := e.Check(set); err != nil {
		return nil, err
	}
	e.Fingerprint = set.Fingerprint()
	unlock, err := claim(dir, e, set)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if run, err := OpenRun(dir); err == nil && run.Finished() && run.position.Experiment == e.Hash() {
		return run, nil
	}
	t, err := newTraining(e, set, dir)
	if err != nil {
		return nil, err
	}
	defer t.trainer.Close()
	t.recorders = recorders
	failure := t.train(ctx)
	run, err := OpenRun(dir)
	if failure != nil {
		return run, failure
	}
	return run, err
}

// training is a run under way.
type training struct {
	experiment Experiment
	set        *dataset.Set
	dir        string
	recorders  []Recorder

	engine     engine.Engine
	trainer    engine.Trainer
	checkpoint *checkpoint // its state is that of the last fetch
	history    []Epoch

	job     engine.Job
	stepper stepper
	steps   int     // done
	fetched int     // steps done when the state was fetched last
	seconds float64 // time that steps have taken, since the start of training
	saved   time.Time
}

func newTraining(e Experiment, set *dataset.Set, dir string) (*training, error) {
	t := &training{
		experiment: e, set: set, dir: dir, saved: time.Now(),
		job: e.job(set),
	}
	var err error
	if t.engine, err = openBackend(); err != nil {
		return nil, err
	}
	t.checkpoint, err = loadCheckpoint(t.path(checkpointFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		if err := refuseLostCheckpoint(dir); err != nil {
			return nil, err
		}
		t.checkpoint = e.start(set)
	case err != nil:
		return nil, err
	}
	if err := errors.Join(t.checkpoint.check(e), t.checkpoint.checkPlace(e, set.Train().Rows)); err != nil {
		return nil, fmt.Errorf("%s: %w: restore the file from a copy, or start a new run in another directory", t.path(checkpointFile), err)
	}
	if t.history, err = truncateMetrics(t.path(metricsFile), t.checkpoint.position.Epoch); err != nil {
		return nil, err
	}
	t.steps, t.fetched = t.checkpoint.state.Step, t.checkpoint.state.Step
	t.seconds = readClock(t.path(clockFile), t.steps, t.history)
	if t.trainer, err = t.engine.NewTrainer(t.job, t.checkpoint.state); err != nil {
		return nil, err
	}
	t.stepper.trainer = t.trainer
	return t, nil
}

// start is the checkpoint of a run before its first step.
func (e Experiment) start(set *dataset.Set) *checkpoint {
	architecture := e.Machine.architecture(set.Shape())
	return &checkpoint{
		state:    engine.NewState(e.algorithm(set), initialise(architecture, e.Machine, e.Seed)),
		position: position{Experiment: e.Hash(), Shape: set.Shape()},
	}
}

// data returns a split as the engine takes it.
func (e Experiment) data(s dataset.Split) engine.Data {
	return engine.Data{
		Rows: s.Rows, Units: s.Shape.Units(), Values: s.Values,
		Stochastic: e.Dataset.Binarization == dataset.Stochastic,
	}
}

func (t *training) stepsPerEpoch() int { return t.experiment.stepsPerEpoch(t.set) }

func (t *training) path(file string) string { return filepath.Join(t.dir, file) }

// train takes the steps that are left, and reports them to the recorders.
func (t *training) train(ctx context.Context) (err error) {
	at := &t.checkpoint.position
	plan := Plan{
		Name: fmt.Sprintf("%v, seed %d", t.experiment.Method, t.experiment.Seed), Epochs: t.experiment.Epochs, StepsPerEpoch: t.stepsPerEpoch(),
		Start: t.steps, History: History{t.experiment.Method.String(), t.history},
	}
	for _, r := range t.recorders {
		r.Begin(plan)
	}
	defer func() {
		for _, r := range t.recorders {
			r.End(err)
		}
	}()
	for !at.Finished {
		if err := ctx.Err(); err != nil {
			if failure := t.save(); failure != nil {
				return failure
			}
			return err
		}
		if at.Rows == t.set.Train().Rows {
			if err := t.endEpoch(ctx); err != nil && !errors.Is(err, ctx.Err()) {
				return err
			}
			continue
		}
		if err := t.advance(ctx); err != nil {
			return err
		}
		if time.Since(t.saved) > saveEvery || t.checkpointWanted() {
			if err := t.save(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *training) checkpointWanted() bool {
	for _, r := range t.recorders {
		if r, ok := r.(CheckpointRequester); ok && r.CheckpointWanted() {
			return true
		}
	}
	return false
}

func (t *training) rate(step int) float64 {
	return t.experiment.Method.rate(step, t.stepsPerEpoch(), t.experiment.Epochs)
}

// advance takes the next steps of the epoch under way: one, or several where the
// engine takes them at once.
func (t *training) advance(ctx context.Context) error {
	first, perEpoch := t.steps, t.stepsPerEpoch()
	reports, elapsed, err := t.stepper.take(ctx, perEpoch-first%perEpoch, func(k int) float64 { return t.rate(first + k) })
	t.seconds += elapsed.Seconds()
	for _, report := range reports {
		if !finite(report.LogP + report.Bound) {
			// The error, if there is one, follows from this: what is not finite
			// cannot be inverted.
			err = ErrDiverged
			break
		}
		if err := t.record(report); err != nil {
			return err
		}
	}
	if err != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("step %d of epoch %d: %w", t.steps%perEpoch+1, t.checkpoint.position.Epoch+1, err)
	}
	return nil
}

// record accounts for a step, and tells the recorders.
func (t *training) record(report engine.Report) error {
	at := &t.checkpoint.position
	count := len(t.job.Rows(t.steps))
	rows := float64(count)
	t.steps++
	at.Rows += count
	at.Sums.LogP += rows * report.LogP
	at.Sums.Bound += rows * report.Bound
	at.Sums.ESS += rows * report.ESS
	if at.Rows == t.set.Train().Rows {
		var err error
		if at.Norms, err = t.norms(); err != nil {
			return err
		}
	}
	for _, r := range t.recorders {
		r.Step(Progress{
			Epoch: at.Epoch + 1, Step: t.steps, LearningRate: t.rate(t.steps - 1), Measures: at.mean(),
		})
	}
	return nil
}

// norms returns the norms of the layers after a step.
func (t *training) norms() (*Norms, error) {
	n, err := t.trainer.Norms()
	if err != nil {
		return nil, err
	}
	for _, l := range slices.Concat(n.Generative, n.Recognition) {
		if !finite(l.Weights + l.Gradient + l.Direction) {
			return nil, ErrDiverged
		}
	}
	return &n, nil
}

// mean is the mean of the epoch's measures so far.
func (p *position) mean() Measures {
	n := float64(p.Rows)
	return Measures{p.Sums.LogP / n, p.Sums.Bound / n, p.Sums.ESS / n}
}

// endEpoch measures the validation rows, records the epoch and saves.
func (t *training) endEpoch(ctx context.Context) error {
	if err := t.fetch(); err != nil {
		return err
	}
	at := &t.checkpoint.position
	record := Epoch{
		Epoch: at.Epoch + 1, Step: t.steps, Seconds: t.seconds, LearningRate: t.rate(t.steps - 1), Train: at.mean(),
		Norms: at.Norms,
	}
	best := false
	if validation := t.set.Validation(); validation.Rows > 0 {
		measures, err := t.measure(ctx, validation)
		if err != nil {
			return err
		}
		record.Validation = &measures
		best = at.BestEpoch == 0 || measures.LogP > at.BestLogP
		if best {
			at.BestEpoch, at.BestLogP = record.Epoch, measures.LogP
		}
	}
	at.Epoch, at.Sums, at.Rows, at.Norms = record.Epoch, Measures{}, 0, nil
	at.Finished = at.Epoch == t.experiment.Epochs ||
		t.experiment.Patience > 0 && at.Epoch-at.BestEpoch >= t.experiment.Patience
	if best {
		if err := t.checkpoint.save(t.path(bestFile)); err != nil {
			return err
		}
	}
	t.history = append(t.history, record)
	if err := appendMetrics(t.path(metricsFile), record); err != nil {
		return err
	}
	for _, r := range t.recorders {
		r.Epoch(record)
	}
	return t.save()
}

// measure evaluates rows with the largest number of samples that training has in
// any epoch: estimates from different numbers could not be compared.
func (t *training) measure(ctx context.Context, s dataset.Split) (Measures, error) {
	model, err := t.engine.NewModel(t.checkpoint.state.Parameters)
	if err != nil {
		return Measures{}, err
	}
	likelihoods, err := model.Evaluate(ctx, t.experiment.data(s), t.job.Algorithm.MostSamples(), t.experiment.Seed, nil)
	if err != nil {
		return Measures{}, err
	}
	var mean Measures
	n := float64(len(likelihoods))
	for _, l := range likelihoods {
		mean.LogP += l.LogP / n
		mean.Bound += l.Bound / n
		mean.ESS += l.ESS / n
	}
	if !finite(mean.LogP + mean.Bound) {
		return Measures{}, ErrDiverged
	}
	return mean, nil
}

// fetch brings the state of the checkpoint up to the last step, from wherever the
// engine keeps it.
func (t *training) fetch() (err error) {
	if t.fetched < t.steps {
		t.checkpoint.state, err = t.trainer.State()
		t.fetched = t.steps
	}
	return err
}

func (t *training) save() error {
	if err := t.fetch(); err != nil {
		return err
	}
	t.saved = time.Now()
	if err := t.checkpoint.save(t.path(checkpointFile)); err != nil {
		return err
	}
	return writeClock(t.path(clockFile), t.steps, t.seconds)
}
