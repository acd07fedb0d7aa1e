// Package wasm has a test that trains a machine in WebAssembly, as a web page might.
package wasm

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// trains is an environment variable that turns the binary of this test into a program that trains a machine.
const trains = "HELMHOLTZ_TRAINS"

func TestMain(m *testing.M) {
	if os.Getenv(trains) == "" {
		os.Exit(m.Run())
	}
	if err := train(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// train prints the log p of each epoch and of the test rows.
func train() error {
	dir, err := os.MkdirTemp("", "wasm")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	set, err := dataset.Spec{Name: "3by3", Subset: 500, Validation: new(100)}.Open()
	if err != nil {
		return err
	}
	ctx := context.Background()
	machine := hm.New(set.Shape()).Dense(6, 3)
	nrws := hm.NRWS().LearningRate(0.05).Damping(0.1).RefreshEvery(10).Epochs(10)
	run, err := nrws.Train(ctx, machine, set, dir, runs.Quiet)
	if err != nil {
		return err
	}
	history := run.History()
	if history.Err != nil {
		return history.Err
	}
	for _, epoch := range history.Epochs {
		fmt.Println(epoch.Train[runs.LogP.Key])
	}
	test, err := run.Evaluate(ctx, set.Test(), 100, nil)
	if err != nil {
		return err
	}
	fmt.Println(test.LogP)
	return nil
}

// Node trains the machine to the log p that the portable kernels of this machine reach.
// On amd64 the numbers differ by the last digits of exp and log alone, which are assembly
// there. Other processors may round a product and a sum once, after which training draws
// other samples; amd64 that does so differs by 0.005 nats.
func TestNodeTrainsAsThisMachineDoes(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		// The other tests run on a machine without Node; .ci/run refuses to begin there.
		t.Skip("node is not on the PATH: install Node.js 20 or later to train in WebAssembly")
	}
	tolerance := 1e-9
	if runtime.GOARCH != "amd64" {
		tolerance = 0.05
	}
	readSources(t)
	dir := t.TempDir()
	native, inNode := filepath.Join(dir, "native"), filepath.Join(dir, "wasm")
	build(t, native, "GOAMD64=v1")
	build(t, inNode, "GOOS=js", "GOARCH=wasm")
	want := logPs(t, exec.CommandContext(t.Context(), native))
	node := filepath.Join(fromGo(t, "env", "GOROOT"), "lib", "wasm", "wasm_exec_node.js")
	got := logPs(t, exec.CommandContext(t.Context(), "node", "--stack-size=8192", node, inNode))
	if len(got) != len(want) {
		t.Fatalf("Node printed %v, this machine %v", got, want)
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Errorf("number %d is %v in Node and %v on this machine: they may differ by %v", i+1, got[i], want[i], tolerance)
		}
	}
	if first, last := got[0], got[len(got)-1]; !(last > first+2) {
		t.Errorf("log p rises from %v to %v only", first, last)
	}
}

// build builds this test with portable kernels in an environment.
func build(t *testing.T, out string, environment ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", "test", "-c", "-tags", "purego", "-o", out, ".")
	c.Env = append(os.Environ(), environment...)
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// readSources opens the folders of what is built: go test takes a passed test as passed for
// as long as what the test itself opened is the same, and does not know what go build reads.
func readSources(t *testing.T) {
	t.Helper()
	for _, dir := range strings.Split(fromGo(t, "list", "-test", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.Dir}}{{end}}{{end}}", "."), "\n") {
		if _, err := os.ReadDir(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join("..", "..", "go.mod")); err != nil {
		t.Fatal(err)
	}
}

// fromGo returns what the go command prints.
func fromGo(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// logPs runs the program and returns the numbers that it prints. It has little of the
// environment: Go in WebAssembly takes no more than some kilobytes.
func logPs(t *testing.T, c *exec.Cmd) []float64 {
	t.Helper()
	var complaint strings.Builder
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), trains + "=1"}
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", c, err, complaint.String())
	}
	var numbers []float64
	for _, word := range strings.Fields(string(out)) {
		number, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, number)
	}
	return numbers
}
