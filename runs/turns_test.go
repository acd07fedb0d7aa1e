package runs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// heard is a recorder that writes down what it is told.
type heard []string

func (h *heard) Begin(p Plan) {
	*h = append(*h, fmt.Sprintf("%s begins at step %d with %d epochs, late %v", p.Name, p.Start, len(p.History.Epochs), p.Late))
}
func (h *heard) Step(p Progress) { *h = append(*h, fmt.Sprintf("step %d", p.Step)) }
func (h *heard) Epoch(e Epoch)   { *h = append(*h, fmt.Sprintf("epoch %d", e.Epoch)) }
func (h *heard) End(err error)   { *h = append(*h, fmt.Sprint("ends: ", err)) }

// Recorders must hear of trainings that run side by side one after the other, and of each whatever
// the order in which they end.
func TestTrainingsAreReportedInTurn(t *testing.T) {
	h := &heard{}
	reports := &turns{recorders: []Recorder{h}}
	a, b, c := &turn{turns: reports}, &turn{turns: reports}, &turn{turns: reports}
	for i, of := range []*turn{a, b, c} {
		of.Begin(Plan{Name: string(rune('a' + i))})
	}
	b.Step(Progress{Step: 1})
	b.Epoch(Epoch{Epoch: 1})
	a.Step(Progress{Step: 1})
	b.End(errors.New("diverged"))
	a.Epoch(Epoch{Epoch: 1})
	c.Step(Progress{Step: 1})
	a.End(nil)
	c.Step(Progress{Step: 2})
	c.End(nil)
	if diff := cmp.Diff(heard{
		"a begins at step 0 with 0 epochs, late false", "step 1", "epoch 1", "ends: <nil>",
		"b begins at step 1 with 1 epochs, late true", "ends: diverged",
		"c begins at step 1 with 0 epochs, late true", "step 2", "ends: <nil>",
	}, *h); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
}

// TensorBoard reads nothing after an event that is incomplete, so none follows it.
func TestNoEventFollowsAFailedWrite(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	v := &Events{file: write}
	for _, deadline := range []time.Time{time.Unix(1, 0), {}} { // the first write fails
		if err := write.SetWriteDeadline(deadline); err != nil {
			t.Skip(err) // pipes of Windows have no deadlines
		}
		v.Epoch(Epoch{Epoch: 1})
	}
	v.End(nil)
	if after, err := io.ReadAll(read); err != nil || len(after) > 0 || !errors.Is(v.Err(), os.ErrDeadlineExceeded) {
		t.Errorf("after the error %v, %d bytes are written, %v", v.Err(), len(after), err)
	}
}
