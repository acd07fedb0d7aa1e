package runs

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
)

var someEpochs = []Epoch{
	{Epoch: 1, Step: 6, Seconds: 0.1, LearningRate: 0.2, Train: Measures{"log_p": -6.1, "bound": -7.2}},
	{Epoch: 2, Step: 12, Seconds: 0.3, LearningRate: 0.1, Train: Measures{"log_p": -1.0 / 3}, Validation: Measures{"log_p": -5, "ess": 1},
		Measured: map[string]Measures{"test": {"log_p": -5.5}, "train-rows": {"log_z2": -0.1}}},
	{Epoch: 3, Step: 18, Seconds: 0.4, LearningRate: 0.05, Train: Measures{"log_p": -4},
		Norms: Norms{"generative": {{1, 2, 3}, {4, 5, 6}}, "recognition": {{0, 0, 1e-9}}}},
}

// of1 is the binding of the files of some run.
var of1 = binding{"1"}

func wantError(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that says %q", says)
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error %q does not say %q", err, text)
		}
	}
}

// parsed reads the text of a metrics file.
func parsed(b []byte) ([]Epoch, error) {
	_, epochs, err := parseMetrics(linesOf(b), []string{""}, math.MaxInt, nextEpoch, func(int) bool { return true })
	return epochs, err
}

// linesOf returns the lines of a file's content, as package file reads them.
func linesOf(b []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for line := range bytes.Lines(b) {
			if !yield(line, nil) {
				return
			}
		}
	}
}

// written returns the text of a metrics file.
func written(t *testing.T, epochs []Epoch) string {
	t.Helper()
	text, _, err := sealed(epochs, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestMetricsAreAppendedAndTruncated(t *testing.T) {
	dir := held(t, t.TempDir())
	path := dir.Path(metricsFile)
	want := func(epochs []Epoch) {
		t.Helper()
		got, err := readMetrics(path, of1, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(epochs, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
	}
	want(nil)
	_, seal, err := truncateMetrics(dir, metricsFile, of1, 0) // creates the file
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range someEpochs {
		if seal, err = appendMetrics(dir, metricsFile, seal, e); err != nil {
			t.Fatal(err)
		}
		want(someEpochs[:i+1])
	}
	oneByOne, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, seal, err = truncateMetrics(dir, metricsFile, of1, 0); err == nil {
		_, err = appendMetrics(dir, metricsFile, seal, someEpochs...)
	}
	if together, failure := os.ReadFile(path); err != nil || failure != nil || !bytes.Equal(together, oneByOne) {
		t.Errorf("appended together, the epochs are\n%s\none by one\n%s\nerrors %v, %v", together, oneByOne, err, failure)
	}
	for n := len(someEpochs); n >= 0; n-- {
		if _, _, err := truncateMetrics(dir, metricsFile, of1, n); err != nil {
			t.Fatal(err)
		}
		want(someEpochs[:n])
	}
	_, _, err = truncateMetrics(dir, metricsFile, of1, 1)
	wantError(t, err, path, "has 0 epochs", "has seen 1", "restore")
}

func TestParseMetricsLeavesOutTheLastLineIfItIsTorn(t *testing.T) {
	line := strings.TrimSuffix(written(t, someEpochs[:1]), "\n")
	for cut := range line {
		epochs, err := parsed([]byte(line + "\n" + line[:cut]))
		if err != nil || len(epochs) != 1 {
			t.Fatalf("cut after %d bytes: %d epochs, error %v; want the one of the whole line", cut, len(epochs), err)
		}
	}
	_, err := parsed([]byte(line + "\n" + line[:9] + "\n" + line + "\n"))
	wantError(t, err, "line 2")
}

// Every flipped bit in a metrics file is noticed, and so is every line that is doubled, moved or
// removed, except at the end.
func TestDamagedMetricsAreNoticed(t *testing.T) {
	text := written(t, someEpochs)
	for i := range len(text) - 1 { // without its last byte the last line is torn
		for bit := range 8 {
			damaged := []byte(text)
			damaged[i] ^= 1 << bit
			epochs, err := parsed(damaged)
			if err == nil && !cmp.Equal(epochs, someEpochs, cmpopts.EquateEmpty()) {
				t.Fatalf("bit %d of byte %d flipped is read as %+v", bit, i, epochs)
			}
		}
	}
	lines := strings.SplitAfter(text, "\n")
	for name, other := range map[string]string{
		"doubled": lines[0] + lines[1] + lines[1] + lines[2],
		"moved":   lines[0] + lines[2] + lines[1],
		"removed": lines[0] + lines[2],
		"behind":  lines[1] + lines[2],
		"without": lines[0] + `{"epoch":2,"step":12,"seconds":1,"learning_rate":1,"train.log_p":-1}` + "\n",
	} {
		_, err := parsed([]byte(other))
		if err == nil || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// A line without a checksum after one with a checksum, or in an impossible order, is not accepted
// as a line of an earlier version.
func TestOddLinesOfEarlierVersionsAreRefused(t *testing.T) {
	lines := strings.SplitAfter(written(t, someEpochs), "\n")
	for what, text := range map[string]string{
		"carriage returns": strings.ReplaceAll(strings.Join(lines, ""), "\n", "\r\n"),
		"spaces":           strings.ReplaceAll(strings.Join(lines, ""), "\n", " \n"),
		"the second first": written(t, []Epoch{someEpochs[1], someEpochs[0], someEpochs[2]}),
		"the first twice":  written(t, []Epoch{someEpochs[0], someEpochs[0]}),
		"one left out":     written(t, []Epoch{someEpochs[0], someEpochs[2]}),
		"steps that fall":  `{"epoch":1,"step":6}` + "\n" + `{"epoch":2,"step":5}` + "\n",
	} {
		if epochs, err := parsed([]byte(text)); err == nil {
			t.Errorf("%s: read as %+v", what, epochs)
		}
	}
}

// Lines of the first version are nested and have no checksum.
func TestMetricsOfVersion1(t *testing.T) {
	line := `{"epoch":1,"step":12,"seconds":0.5,"learning_rate":0.1,"train":{"log_p":-6,"bound":-7,"ess":0.3},"validation":{"log_p":-5,"bound":-6,"ess":0.2},` +
		`"norms":{"generative":[{"weights":1,"gradient":2,"direction":3},{"weights":4,"gradient":5,"direction":6}],"recognition":[{"weights":7,"gradient":8,"direction":9}]}}` + "\n"
	got, err := parsed([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	want := []Epoch{{
		Epoch: 1, Step: 12, Seconds: 0.5, LearningRate: 0.1,
		Train:      Measures{"log_p": -6, "bound": -7, "ess": 0.3},
		Validation: Measures{"log_p": -5, "bound": -6, "ess": 0.2},
		Norms:      Norms{"generative": {{1, 2, 3}, {4, 5, 6}}, "recognition": {{7, 8, 9}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +read):\n%s", diff)
	}
}

// A line with nonsense in it is refused, and no line allocates room for layers that it does not
// have.
func TestParseEpochRefuses(t *testing.T) {
	for line, want := range map[string]string{
		`{"train.log_p":1,"train":{"log_p":2}}`: `"train.log_p" appears twice`,
		`{"epoch":1e300}`:                       "epoch = 1e+300",
		`{"step":0.5}`:                          "step = 0.5",
		`{"step":-1}`:                           "step = -1",
		`{"norms.p.1.weights":1}`:               `none of layer 0`,
		`{"norms.p.9999.weights":1,"norms.q.0.weights":1}`: `the network "p" has`,
		`{"norms.p.+0.weights":1}`:                         "norms.p.+0.weights",
		`{"train.a b":1}`:                                  `unknown field "train.a b"`,
		`{"validation":{"":1}}`:                            `unknown field "validation."`,
		`{"a,b.log_p":1}`:                                  `unknown field "a,b.log_p"`,
		`{"norms.p q.0.weights":1}`:                        `unknown field "norms.p q.0.weights"`,
	} {
		_, err := parsed([]byte(line + "\n"))
		wantError(t, err, "line 1", want)
	}
}

// Keys that could not be read back are not written.
func TestOddKeysOfMetricsAreNotWritten(t *testing.T) {
	_, _, err := sealed([]Epoch{{Epoch: 1, Train: Measures{"free energy": 1}}}, "")
	wantError(t, err, `"train.free energy"`, "use letters")
}

// FuzzParseMetrics checks that accepted metrics are always read alike, can be written and read
// again, and make a table.
func FuzzParseMetrics(f *testing.F) {
	f.Add([]byte(`{"epoch":1,"step":6,"seconds":0.1,"learning_rate":0.2,"train":{"log_p":-6,"bound":-7,"ess":0.3},"norms":{"q":[{"weights":1}]}}` + "\n{\"epo"))
	f.Add([]byte(`{"epoch":1,"step":6,"seconds":0.1,"learning_rate":0.2,"train.log_p":-6,"test.log_p":-7,"norms.generative.0.weights":3}` + "\n"))
	f.Add([]byte(`{"epoch":1,"train.a b":1,"validation":{"":2}}` + "\n"))
	f.Add([]byte("null\n{}\n"))
	f.Fuzz(wantSameMetrics)
}

// FuzzSealedMetrics does the same for lines with checksums.
func FuzzSealedMetrics(f *testing.F) {
	f.Add(`"epoch":1,"step":6,"train.log_p":-6` + "\n" + `"epoch":2,"step":1e1,"validation.log_p":-6,"norms.p.0.direction":1`)
	f.Fuzz(func(t *testing.T, text string) {
		var file []byte
		seal := ""
		for fields := range strings.SplitSeq(text, "\n") {
			seal = chain(seal, []byte(fields))
			file = fmt.Appendf(file, "{%s%s%s\"}\n", fields, sealMark, seal)
		}
		wantSameMetrics(t, file)
	})
}

func wantSameMetrics(t *testing.T, b []byte) {
	var epochs []Epoch
	var err error
	fuzz.Bounded(t, len(b), func() { epochs, err = parsed(b) })
	twice, errTwice := parsed(b)
	if (err == nil) != (errTwice == nil) {
		t.Fatalf("read with the error %v, then with %v", err, errTwice)
	}
	if err != nil {
		return
	}
	if rows := (History{Epochs: epochs}).Table().Rows(); len(rows) != len(epochs) {
		t.Fatalf("%d epochs have a table of %d rows", len(epochs), len(rows))
	}
	back, err := parsed([]byte(written(t, epochs)))
	if err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string][]Epoch{"again": twice, "written and read again": back} {
		if diff := cmp.Diff(epochs, other, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-read +%s):\n%s", name, diff)
		}
	}
}

func TestStepsAreReadBack(t *testing.T) {
	dir := held(t, t.TempDir())
	if err := os.WriteFile(dir.Path(stepsFile), []byte(written(t, someEpochs)), 0o644); err != nil {
		t.Fatal(err)
	}
	epochs, _, err := truncateMetrics(dir, stepsFile, binding{"1", ""}, 2)
	if err != nil || len(epochs) != 2 || epochs[1].Step != 12 {
		t.Errorf("%d steps are left, the error is %v", len(epochs), err)
	}
}

// A checksum alone proves that an unparsed line is whole: no byte of it can change.
func TestEveryByteOfALineIsSealed(t *testing.T) {
	log := Measures{"log_p": -1.5}
	text, _, err := sealed([]Epoch{{Epoch: 1, Train: log}, {Epoch: 2, Step: 3, Train: log}, {Epoch: 3, Step: 6, Train: log}}, "start")
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		b := bytes.Clone(text)
		b[i] ^= 1
		n := 0
		err := eachLine(func(yield func([]byte, error) bool) {
			for line := range bytes.Lines(b) {
				if !yield(line, nil) {
					return
				}
			}
		}, math.MaxInt, []string{"start"}, func([]byte, []byte) error { n++; return nil })
		if err == nil && n == 3 {
			t.Fatalf("nothing is noticed in %q", b[max(0, i-9):min(len(b), i+9)])
		}
	}
}
