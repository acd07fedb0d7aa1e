package command

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/notebooks/thesis"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Training commands wait for the lease of a restarted machine, and print that they do. With
// --no-wait they refuse its directory at once.
func TestLeasesOfRestartedMachinesAreAwaited(t *testing.T) {
	at := t.TempDir()
	one, seeds, finished := filepath.Join(at, "one"), filepath.Join(at, "seeds"), filepath.Join(at, "finished")
	train := append([]string{"train"}, strings.Fields("--dataset 3by3 --subset 64 --validation 18 --layers 4 --samples 3 --epochs 2")...)
	for _, dir := range []string{one, finished} {
		succeed(t, append(train, "--out", dir)...)
	}
	succeed(t, append(train, "--seeds", "2", "--out", seeds)...)
	all, err := thesis.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	const id = "varady/tableD.1"
	chosen, err := all.Select(id)
	if err != nil {
		t.Fatal(err)
	}
	reproductions := filepath.Join(at, "reproductions")
	job := reproduce.Jobs(chosen.Trainings(reproduce.Laptop), reproductions, reproduce.Laptop)[0]
	for _, c := range []struct {
		leased string
		args   []string
	}{
		{one, append(train, "--out", one)},
		{one, []string{"train", "--resume", one}},
		{finished, []string{"train", "--resume", finished, "--epochs", "3"}},
		{runs.SeedDir(seeds, 2), []string{"train", "--resume", seeds}},
		{runs.SeedDir(seeds, 2), append(train, "--seeds", "2", "--out", seeds)},
		{runs.SeedDir(seeds, 2), []string{"train", "--resume", seeds, "--epochs", "3"}},
		{filepath.Join(at, "general"), []string{"train", "general-boltzmann", "--dataset", "3by3", "--hidden", "2", "--lr", "0.1", "--epochs", "1", "--out", filepath.Join(at, "general")}},
		{job.Dir, []string{"reproduce", id, "--scale", "laptop", "--dir", reproductions}},
	} {
		if err := os.MkdirAll(c.leased, 0o755); err != nil {
			t.Fatal(err)
		}
		lease := `{"holder":"` + strings.Join(c.args, " ") + `","host":"there","system":"before-the-restart"}`
		if err := os.WriteFile(filepath.Join(c.leased, file.LeaseFile), []byte(lease), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stderr := &watched{seen: "waiting up to 1m0s: a program on there trains in " + c.leased, do: cancel}
		if code := run(ctx, c.args, stderr, stderr); code != exitInterrupted || strings.Contains(stderr.String(), "with a checkpoint") {
			t.Errorf("%v ended with %d and said %s", c.args, code, stderr)
		}
		code, _, errOut := helmholtz(t, t.Context(), append(c.args, "--no-wait")...)
		if code != exitFailed || !strings.Contains(errOut, "another program trains in "+c.leased+" on there") {
			t.Errorf("%v --no-wait ended with %d and said %s", c.args, code, errOut)
		}
	}
}
