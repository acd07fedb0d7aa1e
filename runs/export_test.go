package runs

// Rung is a round of a tuning.
type Rung struct{ Candidates, Epochs int }

// Rungs returns the rungs of a tuning, and reports whether candidates continue their runs.
func Rungs(t *Tuning) (all []Rung, continues bool, err error) {
	rungs, continues, err := t.rungs()
	for _, r := range rungs {
		all = append(all, Rung{r.candidates, r.epochs})
	}
	return all, continues, err
}

// MeasuresText formats measures.
var MeasuresText = measuresText

// ListOf returns the list of runs that are like the one in a directory, but have other experiments and the directories a, b, c
// and so on.
func ListOf(dir string, experiments ...Experiment) *Table {
	var found []*Run
	for i, e := range experiments {
		run, err := look(dir, peekCheckpoint)
		if err != nil {
			panic(err)
		}
		run.dir, run.experiment = string(rune('a'+i)), e
		found = append(found, run)
	}
	return listOf(found)
}
