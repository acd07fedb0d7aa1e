package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// saveEvery is the time after a checkpoint at which training saves the next, once a step is done.
const saveEvery = time.Minute

// Train trains an experiment on set and stores the run in the directory dir. If dir already contains a
// run of the same experiment, Train resumes it, or returns it immediately if it is finished; Train refuses
// a run of another experiment. If dataset.FromRows made the set, its rows are stored in dir as well. If the
// context is cancelled, Train stops within a step, saves a checkpoint, and returns the run with an
// Interruption. If training diverges, Train returns ErrDiverged with the run, or with nil if there is
// no checkpoint yet. Without a recorder, Printer reports training on a terminal; pass Quiet to prevent
// that. If a program on another machine holds the directory but may have stopped, Train first waits like
// Await.
func Train(ctx context.Context, e Experiment, set *dataset.Set, dir string, recorders ...Recorder) (*Run, error) {
	e, err := Resolve(e, set, dir)
	if err != nil {
		return nil, err
	}
	recorders = usual(recorders)
	if err := Await(ctx, dir, recorders...); err != nil {
		return nil, err
	}
	held, same, err := claim(dir, e, set)
	if err != nil {
		if run := finishedThere(dir, e, err); run != nil {
			return run, run.lost
		}
		return nil, err
	}
	defer held.Release()
	run, err := look(dir, loadCheckpoint)
	if err != nil {
		return nil, notWritten(dir, err)
	}
	if run.Finished() {
		return run, run.lost
	}
	if !same {
		if err := held.WriteAside(experimentFile, sealText(e.TOML())); err != nil {
			return nil, notWritten(dir, err)
		}
	}
	t, err := newTraining(run, e, set, held)
	if err != nil {
		return nil, notWritten(dir, err)
	}
	defer t.learner.Close()
	t.recorders = recorders
	failure := t.train(ctx)
	if errors.Is(failure, file.ErrLost) {
		return nil, failure // the directory now belongs to another program
	}
	if run, err = Open(dir); failure == nil && err == nil {
		err = run.lost
	}
	return run, cmp.Or(failure, err)
}

// finishedThere returns the finished run of an experiment in a read-only directory, because a finished
// run needs no writing. It returns nil if the run is not finished, or if the directory could not be
// claimed for another reason.
func finishedThere(dir string, e Experiment, unclaimed error) *Run {
	if !errors.As(unclaimed, new(*file.WriteError)) || errors.Is(unclaimed, file.ErrLost) {
		return nil
	}
	run, err := Open(dir)
	if err != nil || !run.Finished() {
		return nil
	}
	if _, err := compare(dir, run.experiment, e); err != nil {
		return nil
	}
	return run
}

// An Interruption is the error of training whose context is cancelled. Training has then saved a
// checkpoint, from which the same training resumes.
type Interruption struct {
	Dir           string
	Epoch, Epochs int   // current epoch, and number of epochs of the experiment
	Cause         error // error of the context
}

func (i *Interruption) Error() string {
	return fmt.Sprintf("%s: training stopped in epoch %d of %d with a checkpoint: repeat the same training to resume it",
		filepath.Clean(i.Dir), i.Epoch, i.Epochs)
}

func (i *Interruption) Unwrap() error { return i.Cause }

type training struct {
	experiment Experiment
	header     Header
	objective  Measure
	set        *dataset.Set
	dir        *file.Held
	recorders  []Recorder

	learner    Learner
	checkpoint *checkpoint // with the snapshot of the last fetch
	history    []Epoch
	baseline   *Baseline
	bound      binding
	seals      struct{ epochs, steps string } // checksums of the last lines
	recorded   []Epoch                        // records of steps that are not in steps.jsonl yet
	lines      int                            // number of records in steps.jsonl

	steps    int     // steps done
	fetched  int     // steps done at the last fetch of the snapshot
	seconds  float64 // time of all steps since the start of training
	sessions int     // number of sessions, including this one
	moved    string  // notice of a change of the processor's kernels, or ""
	saved    time.Time
}

// newTraining resumes a run, or begins it, by an experiment that differs from the run's at most in what it keeps and measures.
func newTraining(run *Run, e Experiment, set *dataset.Set, dir *file.Held) (*training, error) {
	measures := e.Measures()
	if len(measures) == 0 {
		return nil, fmt.Errorf("%v has no measures: its method Measures must return the objective first", e)
	}
	t := &training{
		experiment: e, header: e.Header(), objective: measures[0], set: set, dir: dir, saved: time.Now(),
		baseline: baseline(e, set), checkpoint: &checkpoint{run.position, run.snapshot}, bound: run.bound[:1],
	}
	for _, m := range measures {
		if err := checkKey(m.Key); err != nil {
			return nil, err
		}
	}
	var err error
	if !run.begun() {
		t.checkpoint.position.Experiment = e.Hash()
		if t.checkpoint.snapshot, err = e.Begin(set); err != nil {
			return nil, err
		}
	}
	if err := t.checkpoint.checkPlace(t.header, set.Train().Rows); err != nil {
		return nil, damaged(dir.Path(checkpointFile), err)
	}
	if t.history, t.seals.epochs, err = truncateMetrics(dir, metricsFile, run.bound, t.checkpoint.position.Epoch); err != nil {
		return nil, err
	}
	if err := t.checkpoint.position.checkNorms(t.history); err != nil {
		return nil, damaged(dir.Path(checkpointFile), err)
	}
	t.steps, t.fetched = t.checkpoint.snapshot.Step, t.checkpoint.snapshot.Step
	clock, recorded, seen, err := run.steps()
	if err != nil {
		return nil, err
	}
	if clock != nil {
		t.seconds = clock.Seconds
	} else if len(t.history) > 0 {
		t.seconds = lastOf(t.history).Seconds
	}
	t.lines = seen
	if t.header.RecordSteps > 0 || len(recorded) > 0 {
		if _, t.seals.steps, err = truncateMetrics(dir, stepsFile, run.bound, seen); err != nil {
			return nil, err
		}
	}
	if t.checkpoint.position.Sums == nil {
		t.checkpoint.position.Sums = Measures{}
	}
	if t.learner, err = takeUp(e, set, t.checkpoint.snapshot); err != nil {
		if errors.As(err, new(*SnapshotError)) {
			err = damaged(dir.Path(checkpointFile), err)
		}
		return nil, err
	}
	t.sessions, t.moved, err = appendProvenance(dir, clock, provenance(t.learner, t.header.Fingerprint, t.steps, t.baseline), run.bound)
	if err == nil && len(run.bound) > 1 && run.begun() { // the next checkpoint changes the binding of the clock
		err = t.writeClock()
	}
	if err != nil {
		return nil, errors.Join(err, t.learner.Close())
	}
	return t, nil
}

// takeUp returns a learner that resumes from a snapshot. It refuses a snapshot with tensors that the
// learner does not have, because the next checkpoint would lack them.
func takeUp(e Experiment, set *dataset.Set, at Snapshot) (Learner, error) {
	learner, err := e.Learner(set, at)
	if err != nil {
		return nil, err
	}
	taken, err := learner.Snapshot()
	for _, tensor := range at.Tensors {
		if err == nil && !slices.ContainsFunc(taken.Tensors, func(t Tensor) bool { return t.Name == tensor.Name }) {
			err = &SnapshotError{fmt.Errorf("the tensor %s does not belong to %v", tensor.Name, e)}
		}
	}
	if err != nil {
		return nil, errors.Join(err, learner.Close())
	}
	return learner, nil
}

func (t *training) stepsPerEpoch() int { return t.header.StepsPerEpoch(t.set.Train().Rows) }

func (t *training) train(ctx context.Context) (err error) {
	at := &t.checkpoint.position
	plan := Plan{
		Dir: t.dir.Path(""), Name: fmt.Sprintf("%v, seed %d", t.experiment, t.header.Seed), Epochs: t.header.Epochs, StepsPerEpoch: t.stepsPerEpoch(),
		Start: t.steps, Notice: names.Lines(t.set.Notice(), t.experiment.Notice(t.set), t.moved), History: History{Name: t.experiment.String(), Measures: t.experiment.Measures(), Epochs: t.history, Baseline: t.baseline},
	}
	for _, r := range t.recorders {
		r.Begin(plan)
	}
	defer func() {
		for _, r := range t.recorders {
			r.End(err)
		}
	}()
	defer func() { err = notWritten(t.dir.Path(""), err) }()
	for !at.Finished {
		if err := ctx.Err(); err != nil {
			if failure := t.save(); failure != nil {
				return failure
			}
			return &Interruption{t.dir.Path(""), at.Epoch + 1, t.header.Epochs, err}
		}
		if at.Rows >= t.set.Train().Rows {
			if err := t.endEpoch(ctx); err != nil && !errors.Is(err, ctx.Err()) {
				return err
			}
			continue
		}
		if err := t.advance(ctx); err != nil {
			return err
		}
		if time.Since(t.saved) > saveEvery || checkpointWanted(t.recorders) {
			if err := t.save(); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkpointWanted(recorders []Recorder) bool {
	for _, r := range recorders {
		if r, ok := r.(interface{ CheckpointWanted() bool }); ok && r.CheckpointWanted() {
			return true
		}
	}
	return false
}

func (t *training) rate(step int) float64 {
	return t.experiment.LearningRate(step, t.stepsPerEpoch())
}

// advance takes the next step of the current epoch, or several steps if the learner takes them together.
func (t *training) advance(ctx context.Context) error {
	first, perEpoch := t.steps, t.stepsPerEpoch()
	start := time.Now()
	most := perEpoch - first%perEpoch
	steps, err := t.learner.Steps(ctx, most, func(k int) float64 { return t.rate(first + k) })
	t.seconds += time.Since(start).Seconds()
	if err == nil && (len(steps) < 1 || len(steps) > most) {
		return fmt.Errorf("the learner of %v took %d steps, but Steps must take from 1 to %d", t.experiment, len(steps), most)
	}
	for _, measures := range steps {
		if !measures.finite() {
			// ErrDiverged replaces any error of the step, which is only a consequence: for example, a
			// matrix that is not finite cannot be inverted.
			err = ErrDiverged
			break
		}
		if _, measured := measures[t.objective.Key]; !measured && err == nil {
			return fmt.Errorf("the learner of %v did not measure %s, its objective, in a step", t.experiment, t.objective.Key)
		}
		if err := t.record(measures); err != nil {
			return err
		}
	}
	if err != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("step %d of epoch %d: %w", t.steps%perEpoch+1, t.checkpoint.position.Epoch+1, err)
	}
	return nil
}

func (t *training) record(measures Measures) error {
	at := &t.checkpoint.position
	rows := min(t.header.BatchSize, t.set.Train().Rows-at.Rows)
	t.steps++
	at.Rows += rows
	at.Sums.add(float64(rows), measures)
	if at.Rows >= t.set.Train().Rows {
		var err error
		if at.Norms, err = t.norms(); err != nil {
			return err
		}
	}
	if every := t.header.RecordSteps; every > 0 && t.steps%every == 0 {
		t.recorded = append(t.recorded, Epoch{
			Epoch: at.Epoch + 1, Step: t.steps, Seconds: t.seconds, LearningRate: t.rate(t.steps - 1), Train: measures,
		})
	}
	for _, r := range t.recorders {
		r.Step(Progress{
			Epoch: at.Epoch + 1, Step: t.steps, LearningRate: t.rate(t.steps - 1), Measures: at.mean(),
		})
	}
	return nil
}

func (t *training) norms() (Norms, error) {
	networks, err := t.learner.Norms()
	if err != nil {
		return nil, err
	}
	for _, layers := range networks {
		for _, l := range layers {
			if !statistics.Finite(l.Weights + l.Gradient + l.Direction) {
				return nil, ErrDiverged
			}
		}
	}
	return networks, nil
}

func (p *position) mean() Measures { return p.Sums.over(float64(p.Rows)) }

// endEpoch measures the validation rows and everything else that the experiment asks for, records
// the epoch and saves the checkpoint.
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
		measures, err := t.learner.Validate(ctx, validation)
		if err != nil {
			return t.keepSteps(ctx, err)
		}
		if !measures.finite() {
			return ErrDiverged
		}
		if _, measured := measures[t.objective.Key]; !measured {
			return fmt.Errorf("the learner of %v did not measure %s, its objective, on the validation rows", t.experiment, t.objective.Key)
		}
		record.Validation = measures
		best = at.BestEpoch == 0 || t.objective.Better(measures[t.objective.Key], at.Best)
	}
	var err error
	if record.Measured, err = t.observe(ctx, record.Epoch); err != nil {
		return t.keepSteps(ctx, err)
	}
	// The position has not changed before this point, so an interrupted epoch end is repeated.
	if best {
		at.BestEpoch, at.Best = record.Epoch, record.Validation[t.objective.Key]
	}
	at.Epoch, at.Sums, at.Rows, at.Norms = record.Epoch, Measures{}, 0, nil
	at.Finished = at.ended(t.header)
	if best {
		if err := t.checkpoint.save(t.dir, bestFile); err != nil {
			return err
		}
	}
	if slices.Contains(t.header.Keep, at.Epoch) {
		if err := t.checkpoint.save(t.dir, fmt.Sprintf(keptFile, at.Epoch)); err != nil {
			return err
		}
	}
	t.history = append(t.history, record)
	if t.seals.epochs, err = appendMetrics(t.dir, metricsFile, t.seals.epochs, record); err != nil {
		return err
	}
	for _, r := range t.recorders {
		r.Epoch(record)
	}
	return t.save()
}

// keepSteps saves the steps done so far, unless training diverged or ctx is cancelled. It returns err.
func (t *training) keepSteps(ctx context.Context, err error) error {
	if errors.Is(err, ctx.Err()) || errors.Is(err, ErrDiverged) {
		return err
	}
	return errors.Join(err, t.save())
}

// observe returns the measurements that the experiment asks for after an epoch. It omits values that are
// not finite, because metrics cannot hold them and training can continue without them.
func (t *training) observe(ctx context.Context, epoch int) (map[string]Measures, error) {
	all, err := t.learner.Observe(ctx, epoch)
	if err != nil {
		return nil, err
	}
	for name, measures := range all {
		if err := CheckMeasured(name); err != nil {
			return nil, err
		}
		for key := range measures {
			if err := checkKey(name + "." + key); err != nil {
				return nil, err
			}
		}
		maps.DeleteFunc(measures, func(_ string, value float64) bool { return !statistics.Finite(value) })
	}
	return all, nil
}

// fetch updates the snapshot of the checkpoint to the learner's state after the last step, which may be
// on a device.
func (t *training) fetch() (err error) {
	if t.fetched < t.steps {
		if t.checkpoint.snapshot, err = t.learner.Snapshot(); err == nil && t.checkpoint.snapshot.Step != t.steps {
			err = fmt.Errorf("the learner of %v returned a snapshot of step %d after step %d", t.experiment, t.checkpoint.snapshot.Step, t.steps)
		}
		t.fetched = t.steps
	}
	return err
}

func (t *training) save() (err error) {
	if err := t.fetch(); err != nil {
		return err
	}
	t.saved = time.Now()
	if t.seals.steps, err = appendMetrics(t.dir, stepsFile, t.seals.steps, t.recorded...); err != nil {
		return err
	}
	t.lines += len(t.recorded)
	t.recorded = nil
	if err := t.checkpoint.save(t.dir, checkpointFile); err != nil {
		return err
	}
	return t.writeClock()
}

func (t *training) writeClock() error {
	line, err := marshalSealed(clock{t.steps, t.seconds, t.lines, t.sessions}, t.bound.to(clockFile)[0])
	if err != nil {
		return err
	}
	return t.dir.WriteAside(clockFile, line)
}

// refuseLostCheckpoint returns an error if the checkpoint in dir is missing although the metrics or the
// clock show that there was one. A crash before the first checkpoint leaves at most one epoch and no clock.
func refuseLostCheckpoint(dir string, e Experiment) error {
	epochs, err := readMetrics(filepath.Join(dir, metricsFile), bindingOf(e, position{}), 2)
	if err != nil {
		return err
	}
	beyond := metricsFile
	if len(epochs) < 2 {
		if _, err := os.Stat(filepath.Join(dir, clockFile)); err != nil {
			return nil
		}
		beyond = clockFile
	}
	path := filepath.Join(dir, checkpointFile)
	if _, err := os.Stat(path); err == nil {
		return nil // another program has written it meanwhile
	}
	return damaged(path, fmt.Errorf("the file is missing, but %s is there", beyond))
}
