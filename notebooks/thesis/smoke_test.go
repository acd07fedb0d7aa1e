package thesis

import (
	"reflect"
	"testing"

	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Every result that can be made is made at the smallest scale, one after the other, of
// runs that they share: each number that is not
// blocked has a value, each claim is judged, what is found is read again as it was, and
// a second time nothing is trained or estimated anew.
func TestSmoke(t *testing.T) {
	all, err := Catalog()
	if err != nil {
		t.Fatal(err)
	}
	var sets runs.Sets
	dir, results := t.TempDir(), t.TempDir()
	var pages [2]reproduce.Pages
	for round := range pages {
		for _, e := range all {
			if e.Make == nil {
				continue
			}
			for _, job := range reproduce.Jobs(reproduce.Catalog{e}.Trainings(reproduce.Smoke), dir, reproduce.Smoke) {
				_, enough, err := job.Done()
				switch {
				case err != nil:
					t.Fatalf("%s, %s: %v", e.ID, job.Name, err)
				case enough:
					continue
				case round > 0:
					t.Errorf("%s, %s is trained, and not done", e.ID, job.Name)
				}
				if err := job.Train(t.Context(), &sets); err != nil {
					t.Fatalf("%s, %s: %v", e.ID, job.Name, err)
				}
			}
			w := &reproduce.Work{
				Scale: reproduce.Smoke,
				Sets:  &sets,
				Say: func(format string, values ...any) {
					if round > 0 {
						t.Errorf("%s, once more: "+format, append([]any{e.ID}, values...)...)
					}
				},
			}
			made, err := e.Produce(t.Context(), w, dir, results)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range e.Numbers {
				if _, found := made.Value(n); !found && n.Blocked == "" {
					t.Errorf("%s: nothing is found of %s, %s", e.ID, n.Of, n.Measure)
				}
			}
			for _, c := range e.Claims {
				if _, judged := made.Verdict(c); !judged {
					t.Errorf("%s: the claim %q is not judged", e.ID, c.Says)
				}
			}
		}
		made, err := all.ReadMade(results, reproduce.Smoke)
		if err != nil {
			t.Fatal(err)
		}
		for id, m := range made {
			m.Made = m.Made.Truncate(1 << 62) // the day may have changed
			made[id] = m
		}
		if pages[round], err = all.Report(reproduce.Conclusions{}, made, "results"); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(pages[0], pages[1]) {
		t.Error("the same runs give other pages")
	}
}
