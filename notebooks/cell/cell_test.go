package cell

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
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

// Only the given rows count, greys count as black or white, and of equally near rows the first is returned.
func TestNearest(t *testing.T) {
	split := dataset.Split{Shape: dataset.Shape{Height: 1, Width: 3}, Values: dataset.Bytes(3, []uint8{
		255, 255, 0,
		255, 0, 0,
		127, 128, 0,
		0, 255, 0,
	})}
	for _, test := range []struct {
		rows  []int
		image []uint8
		want  int
	}{
		{[]int{0, 1, 2, 3}, []uint8{0, 255, 0}, 2},
		{[]int{3, 2}, []uint8{0, 255, 0}, 3},
		{[]int{0, 1}, []uint8{0, 255, 0}, 0},
		{[]int{1, 3}, []uint8{200, 10, 90}, 1},
	} {
		if got := Nearest(split, test.rows, test.image); got != test.want {
			t.Errorf("nearest to %v of rows %v is %d, want %d", test.image, test.rows, got, test.want)
		}
	}
}
