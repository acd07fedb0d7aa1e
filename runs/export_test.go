package runs

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
