package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// TestFilesOfFirstRules evaluates and resumes runs of programs that did not record by which rules they read the user's
// files. Each folder of testdata/rules is a case that make.py has made.
func TestFilesOfFirstRules(t *testing.T) {
	cases, err := filepath.Glob("testdata/rules/*/made.json")
	if err != nil || len(cases) == 0 {
		t.Fatalf("there are no cases (%v)", err)
	}
	from, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range cases {
		folder := filepath.Join(from, filepath.Dir(path))
		t.Run(filepath.Base(folder), func(t *testing.T) {
			var made struct {
				InstructionSet string `json:"instruction_set"`
				Flags          []string
				Evaluation     map[string]any
			}
			readJSON(t, filepath.Join(folder, "made.json"), &made)
			home, exact := t.TempDir(), made.InstructionSet == kernels.InstructionSet()
			if err := os.CopyFS(home, os.DirFS(folder)); err != nil {
				t.Fatal(err)
			}
			t.Chdir(home)

			var now map[string]any
			if err := json.Unmarshal([]byte(succeed(t, append([]string{"eval", "whole"}, made.Flags...)...)), &now); err != nil {
				t.Fatal(err)
			}
			delete(made.Evaluation, "seconds")
			compareValues(t, "eval", made.Evaluation, now, map[bool]float64{true: 0, false: 1e-4}[exact])

			succeed(t, "train", "--resume", "half")
			whole, half := tensorsOf(t, checkpointBytes(t, "whole")), tensorsOf(t, checkpointBytes(t, "half"))
			if exact && !reflect.DeepEqual(whole, half) {
				t.Error("the run that was stopped ends in other tensors than the one that was not")
			}
			succeed(t, "train", "--resume", "whole")
		})
	}
}
