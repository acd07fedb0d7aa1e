package cell

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// endings are cells that an error ends, by name.
var endings = map[string]func(error){
	"Check": Check,
	"Must":  func(err error) { Must(1, err) },
	"Must2": func(err error) { Must2(1, "two", err) },
}

// An error ends the program of the cell, says what it is and fails; without one values
// come through.
func TestErrorsEndTheCell(t *testing.T) {
	const ending = "CELL_THAT_ENDS"
	if end := endings[os.Getenv(ending)]; end != nil {
		end(nil)
		os.Stdout.WriteString("begun\n")
		end(errors.New("no such run"))
		os.Stdout.WriteString("gone on\n")
		return
	}
	for name := range endings {
		program := exec.Command(os.Args[0], "-test.run=^TestErrorsEndTheCell$")
		program.Env = append(os.Environ(), ending+"="+name)
		out, err := program.CombinedOutput()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("%s: the cell ends with %v, want exit status 1", name, err)
		}
		if said := string(out); !strings.Contains(said, "begun") || !strings.Contains(said, "no such run") || strings.Contains(said, "gone on") {
			t.Errorf("%s: the cell says %q", name, said)
		}
	}
	if value := Must(7, nil); value != 7 {
		t.Errorf("Must returns %d, want 7", value)
	}
	if first, second := Must2(7, "eight", nil); first != 7 || second != "eight" {
		t.Errorf("Must2 returns %d and %q, want 7 and eight", first, second)
	}
}

// An interrupt cancels the context, and does not end the program, which has to save.
func TestInterrupt(t *testing.T) {
	ctx := Context()
	if err := ctx.Err(); err != nil {
		t.Fatalf("the context begins with %v", err)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("an interrupt does not cancel the context")
	}
	if err := ctx.Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("the context ends with %v, want %v", err, context.Canceled)
	}
}
