package runs_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/helmholtz-go/helmholtz/runs"
)

// field returns the values of a field of a protocol buffer.
func field(t *testing.T, message []byte, number protowire.Number) (all [][]byte) {
	t.Helper()
	for len(message) > 0 {
		n, kind, length := protowire.ConsumeField(message)
		if length < 0 {
			t.Fatalf("no protocol buffer: %v", protowire.ParseError(length))
		}
		_, _, tag := protowire.ConsumeTag(message)
		value := message[tag:length]
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		if n == number {
			all = append(all, value)
		}
		message = message[length:]
	}
	return all
}

// scalarsOf reads an event file: the values of each tag by steps. It checks all checksums.
func scalarsOf(t *testing.T, path string) map[string]map[int]float64 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checked := func(n int) []byte {
		part, sum := data[:n], binary.LittleEndian.Uint32(data[n:])
		crc := crc32.Checksum(part, crc32.MakeTable(crc32.Castagnoli))
		if (crc>>15|crc<<17)+0xa282ead8 != sum {
			t.Fatal("a checksum is wrong")
		}
		data = data[n+4:]
		return part
	}
	all := map[string]map[int]float64{}
	for first := true; len(data) > 0; first = false {
		event := checked(int(binary.LittleEndian.Uint64(checked(8))))
		if version := field(t, event, 3); first && string(version[0]) != "brain.Event:2" {
			t.Fatalf("the version is %q", version)
		}
		step, _ := protowire.ConsumeVarint(field(t, event, 2)[0])
		for _, summary := range field(t, event, 5) {
			for _, value := range field(t, summary, 1) {
				tag, bits := string(field(t, value, 1)[0]), binary.LittleEndian.Uint32(field(t, value, 2)[0])
				if all[tag] == nil {
					all[tag] = map[int]float64{}
				}
				all[tag][int(step)] = float64(math.Float32frombits(bits))
			}
		}
	}
	return all
}

// The event file has the measures of all epochs, of a run that was resumed as well. TensorBoard reads the
// same from it, where it is installed (make tensorboard).
func TestTensorBoard(t *testing.T) {
	set, dir := overlapping(t), t.TempDir()
	e := brief(set)
	for _, epochs := range []int{2, 3} {
		e.Epochs = epochs
		if epochs > 2 {
			if _, err := runs.Extend(dir, epochs); err != nil {
				t.Fatal(err)
			}
		}
		events := runs.TensorBoard()
		run, err := runs.Train(t.Context(), e, set, dir, events)
		if err == nil {
			err = events.Err()
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "tensorboard", "events.out.tfevents.0.helmholtz")
		got, epochsOf := scalarsOf(t, path), run.History().Epochs
		if len(epochsOf) != epochs {
			t.Fatalf("the run has %d epochs, want %d", len(epochsOf), epochs)
		}
		want := map[string]map[int]float64{}
		for _, epoch := range epochsOf {
			tags := map[string]float64{"learning_rate": epoch.LearningRate}
			for part, measures := range map[string]runs.Measures{"train": epoch.Train, "validation": epoch.Validation} {
				for key, x := range measures {
					tags[part+"/"+key] = x
				}
			}
			for tag, x := range tags {
				if want[tag] == nil {
					want[tag] = map[int]float64{}
				}
				want[tag][epoch.Step] = float64(float32(x))
			}
		}
		wanted, _ := json.Marshal(want)
		if is, _ := json.Marshal(got); !bytes.Equal(is, wanted) {
			t.Errorf("after %d epochs the file has %s, want %s", epochs, is, wanted)
		}
		if python := os.Getenv("HELMHOLTZ_TENSORBOARD"); python != "" {
			out, err := exec.Command(python, "-c", `
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
a = EventAccumulator(sys.argv[1]); a.Reload()
print(json.dumps({tag: {e.step: e.value for e in a.Scalars(tag)} for tag in a.Tags()["scalars"]}))`, filepath.Dir(path)).Output()
			var read map[string]map[int]float64
			if err == nil {
				err = json.Unmarshal(out, &read)
			}
			if is, _ := json.Marshal(read); err != nil || !bytes.Equal(is, wanted) {
				t.Errorf("TensorBoard reads %s (%v), want %s", is, err, wanted)
			}
		}
	}
}
