package torture

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Input is a directory that commands read.
type Input struct {
	Program
	Name  string
	Begin string // the directory
	// Files are those to damage, by their paths within it.
	Files    []string
	Commands []string // with words that spaces separate
	// Unsealed says that the files have no checksum: damaged ones may be as good as
	// others, and the program's work on them another.
	Unsealed bool
}

// Try damages files, one at a time and in as many ways as trials are asked for, and
// runs a command on them: it has to do what it does to whole files, or to refuse one
// by its name. Without -torture, there are a few trials.
func (in Input) Try(t *testing.T, trials int) {
	type done struct {
		result result
		files  map[string]string
	}
	whole := map[string]done{}
	for _, command := range in.Commands {
		dir := in.begin(t, in.Begin)
		r := in.run(t, dir, strings.Fields(command))
		if r.code != 0 {
			t.Fatalf("%s ended with %d and said %q", command, r.code, r.stderr)
		}
		whole[command] = done{r, in.allFiles(t, dir)}
	}
	if !*All {
		trials = 3
	}
	kinds := kinds()
	for i := range trials {
		draw := drawing(fmt.Sprint(in.Name, i))
		kind := kinds[draw.IntN(len(kinds))]
		file, command := in.Files[draw.IntN(len(in.Files))], in.Commands[draw.IntN(len(in.Commands))]
		name := fmt.Sprintf("%d-%s-%s-%s", i, strings.Fields(command)[0], kind, strings.ReplaceAll(file, "/", "~"))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := in.begin(t, in.Begin)
			path := filepath.Join(dir, file)
			var others []string
			for _, other := range in.Files {
				others = append(others, filepath.Join(dir, other))
			}
			spoilt, err := damage(draw, kind, path, others)
			if err != nil {
				t.Fatal(err)
			}
			if !spoilt { // there is no such way
				return
			}
			count("damaged: "+kind, in.Name)
			before := in.allFiles(t, dir)
			r := in.run(t, dir, strings.Fields(command))
			switch {
			case r.code < 0:
				t.Errorf("%s of a damaged %s was killed and said %q", command, file, r.stderr)
			case r.code > 0 && !names(r.stderr, file):
				t.Errorf("%s of a damaged %s ended with %d and said only %q", command, file, r.code, r.stderr)
			}
			if r.code != 0 || in.Unsealed {
				return
			}
			want, got := whole[command], in.allFiles(t, dir)
			if r.stdout != want.result.stdout {
				t.Errorf("%s of a damaged %s printed %q, want %q", command, file, r.stdout, want.result.stdout)
			}
			for path := range merged(got, want.files) {
				if got[path] != want.files[path] && !(path == file && got[path] == before[path]) {
					t.Errorf("%s of a damaged %s left %s as %.500q, want %.500q", command, file, path, got[path], want.files[path])
				}
			}
		})
	}
}

// names says whether a message names a file, or the directory that it is in and
// the file.
func names(message, file string) bool {
	parts := strings.Split(file, "/")
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(message, part) })
}

func merged(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
