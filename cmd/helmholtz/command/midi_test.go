package command

import (
	"bytes"
	"os"
	"testing"
)

// sample --midi plays the keys of the data.
func TestMIDIPlaysTheKeysOfTheData(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("low.json", []byte(`{"keys": [30, 33], "train": [[[30, 33], [30]], [[33], [30, 33]]]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "train", "temporal-belief", "--dataset", "./low.json", "--validation", "0", "--hidden", "1", "--batch", "1", "--epochs", "1", "--out", "low")
	succeed(t, "sample", "low", "--n", "20", "--midi", "low.mid")
	file, err := os.ReadFile("low.mid")
	if err != nil {
		t.Fatal(err)
	}
	events := bytes.Split(file, []byte{0x90})[1:] // a key follows each start of a note
	for _, event := range events {
		if key := event[0]; key < 30 || key > 33 {
			t.Errorf("the key %d sounds, but the data have the keys 30 to 33", key)
		}
	}
	if len(events) == 0 {
		t.Error("no key sounds")
	}
}
