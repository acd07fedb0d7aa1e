//go:build unix

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
	// Files are the files to damage, by their paths within the directory.
	Files []string
	// Foreign are files that replace others.
	Foreign []string
	// Twin returns the path of the same file in another seed's run of the experiment, which
	// replaces a file, or "" if there is none. Optional.
	Twin     func(file string) string
	Commands []string // words separated by spaces
	// Unsealed reports that the files have no checksum: damaged files may be valid, and the program
	// may do something else with them.
	Unsealed bool
}

// Try damages one file per trial, in a random way, and runs a command on the files. The command
// must either do what it does with intact files, or refuse the damaged file by name. Without
// -torture, there are few trials.
func (in Input) Try(t *testing.T, trials int) {
	if !*All {
		trials = 1 + trials/300
	}
	kinds := kinds()
	whole := map[string]outcome{}
	for i := range trials {
		draw := drawing(fmt.Sprint(in.Name, i))
		kind := kinds[draw.IntN(len(kinds))]
		file, command := in.Files[draw.IntN(len(in.Files))], in.Commands[draw.IntN(len(in.Commands))]
		want, known := whole[command]
		if !known {
			want = in.outcome(t, in.begin(t, in.Begin), command)
			if want.code != 0 {
				t.Fatalf("%s ended with %d and said %q", command, want.code, want.stderr)
			}
			whole[command] = want
		}
		name := fmt.Sprintf("%d-%s-%s-%s", i, strings.Fields(command)[0], kind, strings.ReplaceAll(file, "/", "~"))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repeatable(t)
			dir := in.begin(t, in.Begin)
			foreign := in.Foreign[draw.IntN(len(in.Foreign))]
			if kind == exchanged {
				foreign = ""
				if in.Twin != nil {
					foreign = in.Twin(file)
				}
				if foreign == "" {
					return
				}
			}
			foreign = filepath.Join(dir, foreign)
			spoilt, err := damage(draw, kind, filepath.Join(dir, file), foreign)
			if err != nil {
				t.Fatal(err)
			}
			if !spoilt { // this damage does not apply
				return
			}
			Count("damaged: "+kind, in.Name)
			in.check(t, dir, file, command, want)
		})
	}
}

type outcome struct {
	result
	files map[string]string
}

func (in Input) outcome(t *testing.T, dir, command string) outcome {
	t.Helper()
	r := in.run(t, dir, strings.Fields(command))
	return outcome{r, in.allFiles(t, dir)}
}

func (in Input) check(t *testing.T, dir, file, command string, want outcome) {
	t.Helper()
	before := in.allFiles(t, dir)
	got := in.outcome(t, dir, command)
	switch {
	case got.code < 0:
		t.Errorf("%s of a damaged %s was killed and said %q", command, file, got.stderr)
	case got.code > 0 && !names(got.stderr, file):
		t.Errorf("%s of a damaged %s ended with %d and said only %q", command, file, got.code, got.stderr)
	}
	if got.code != 0 || in.Unsealed {
		return
	}
	if got.stdout != want.stdout {
		t.Errorf("%s of a damaged %s printed %q, want %q", command, file, got.stdout, want.stdout)
	}
	all := maps.Clone(got.files)
	maps.Copy(all, want.files)
	for path := range all {
		untouched := path == file && got.files[path] == before[path]
		if got.files[path] != want.files[path] && !untouched {
			t.Errorf("%s of a damaged %s left %s as %.500q, want %.500q", command, file, path, got.files[path], want.files[path])
		}
	}
}

func names(message, file string) bool {
	parts := strings.Split(file, "/")
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(message, part) })
}
