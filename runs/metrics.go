package runs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// FORMAT.md describes a line of metrics, its keys and its checksum, in each version of files.

const (
	trainPrefix      = "train."
	validationPrefix = "validation."
	normsPrefix      = "norms."
)

// measuredNames matches the names of measurements. A measurement's keys begin with its name.
var measuredNames = regexp.MustCompile(`^[\pL\pN_-]{1,50}$`)

// CheckMeasured refuses a name that is not valid for a measurement.
func CheckMeasured(name string) error {
	if !measuredNames.MatchString(name) || slices.Contains([]string{trainPrefix, validationPrefix, normsPrefix}, name+".") {
		return fmt.Errorf("the measurement %q has an invalid name: use up to 50 letters, digits, _ and -, but not train, validation or norms", name)
	}
	return nil
}

// checkKey refuses a key that cannot be read back from metrics.
func checkKey(key string) error {
	if !columnKey.MatchString(key) {
		return fmt.Errorf("%q is not a valid key of metrics: use letters, digits, _ and -, separated by dots", key)
	}
	return nil
}

// fields returns the fields of an epoch's line, without the braces.
func fields(e Epoch) ([]byte, error) {
	var all [][]byte
	var failure error
	e.eachField(func(key string, value any) {
		text, err := json.Marshal(value)
		failure = cmp.Or(failure, checkKey(key), err)
		all = append(all, fmt.Appendf(nil, "%q:%s", key, text))
	})
	return bytes.Join(all, []byte(",")), failure
}

// eachField calls field with the key and the number of each field of the epoch's line, in order.
func (e Epoch) eachField(field func(key string, value any)) {
	measures := func(prefix string, m Measures) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			field(prefix+key, m[key])
		}
	}
	field("epoch", e.Epoch)
	field("step", e.Step)
	field("seconds", e.Seconds)
	field("learning_rate", e.LearningRate)
	measures(trainPrefix, e.Train)
	measures(validationPrefix, e.Validation)
	for _, name := range slices.Sorted(maps.Keys(e.Measured)) {
		measures(name+".", e.Measured[name])
	}
	for _, network := range slices.Sorted(maps.Keys(e.Norms)) {
		for i, l := range e.Norms[network] {
			prefix := fmt.Sprintf("%s%s.%d.", normsPrefix, network, i)
			field(prefix+"weights", l.Weights)
			field(prefix+"gradient", l.Gradient)
			field(prefix+"direction", l.Direction)
		}
	}
}

// sealed returns the lines of epochs or steps and the checksum of the last line. The first line is chained to
// before, the checksum of the previous line, which is also returned if there are no epochs.
func sealed(epochs []Epoch, before string) (text []byte, seal string, err error) {
	seal = before
	for _, e := range epochs {
		of, err := fields(e)
		if err != nil {
			return nil, "", err
		}
		var line []byte
		line, seal = sealLine(of, seal)
		text = append(text, line...)
	}
	return text, seal, nil
}

// readMetrics reads at most the given number of epochs from metrics.jsonl, or of steps from steps.jsonl.
// It ignores a last line that a crash cut short, and returns none if the file does not exist.
func readMetrics(path string, bound binding, most int) ([]Epoch, error) {
	_, epochs, err := readSome(path, bound, most, func(int) bool { return true })
	return epochs, err
}

// readSome is like readMetrics, but returns only epochs for whose number wanted returns true, and the number of all.
func readSome(path string, bound binding, most int, wanted func(n int) bool) (n int, epochs []Epoch, err error) {
	name, follows := filepath.Base(path), nextEpoch
	if name == stepsFile {
		follows = nextStep
	}
	n, epochs, err = parseMetrics(file.Lines(path, longestLine), bound.to(name), most, follows, wanted)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return n, nil, damaged(path, err)
	}
	return n, epochs, nil
}

// parseMetrics returns the number of lines, at most most, and each epoch or step for whose number from 1 wanted returns true.
// The checksum of the first line must be chained to one of the texts in from. If none of them is empty, the checksums prove
// the order of lines, and only the wanted lines are parsed. parseMetrics refuses a parsed line that does not follow its
// predecessor.
func parseMetrics(lines iter.Seq2[[]byte, error], from []string, most int, follows func(before, e Epoch) bool, wanted func(n int) bool) (n int, epochs []Epoch, err error) {
	before := lastOf(nil)
	err = eachLine(lines, most, from, func(line, _ []byte) error {
		n++
		if !wanted(n) && !slices.Contains(from, "") {
			before.Epoch = n
			return nil
		}
		e, err := parseEpoch(line)
		switch {
		case err != nil:
			return err
		case !follows(before, e):
			return fmt.Errorf("epoch %d, step %d, after epoch %d, step %d: a line was duplicated, moved or removed", e.Epoch, e.Step, before.Epoch, before.Step)
		case wanted(n):
			epochs = append(epochs, e)
		}
		before = e
		return nil
	})
	return n, epochs, err
}

// nextEpoch reports whether e is the epoch right after before. Before the first epoch, before has number 0.
func nextEpoch(before, e Epoch) bool { return e.Epoch == before.Epoch+1 && e.Step > before.Step }

func nextStep(before, e Epoch) bool { return e.Epoch >= before.Epoch && e.Step > before.Step }

// parseEpoch reads a line of any version.
func parseEpoch(line []byte) (e Epoch, err error) {
	var object map[string]any
	if err := json.Unmarshal(line, &object); err != nil {
		return e, err
	}
	values, groups := map[string]float64{}, map[string]Measures{trainPrefix: {}}
	if err := flatten("", object, values); err != nil {
		return e, err
	}
	for key, value := range values {
		name, rest, grouped := strings.Cut(key, ".")
		switch {
		case (key == "epoch" || key == "step") && !(value >= 0 && value < 1<<53 && value == math.Trunc(value)):
			return e, fmt.Errorf("%s = %v is not a number of steps or epochs", key, value)
		case key == "epoch":
			e.Epoch = int(value)
		case key == "step":
			e.Step = int(value)
		case key == "seconds":
			e.Seconds = value
		case key == "learning_rate":
			e.LearningRate = value
		case !grouped, !columnKey.MatchString(key):
			return e, fmt.Errorf("unknown field %q", key)
		case groups[name+"."] == nil:
			groups[name+"."] = Measures{rest: value}
		default:
			groups[name+"."][rest] = value
		}
	}
	e.Train, e.Validation = groups[trainPrefix], groups[validationPrefix]
	e.Norms, err = normsOf(groups[normsPrefix])
	for name, measures := range groups {
		if name == trainPrefix || name == validationPrefix || name == normsPrefix {
			continue
		}
		if e.Measured == nil {
			e.Measured = map[string]Measures{}
		}
		e.Measured[strings.TrimSuffix(name, ".")] = measures
	}
	return e, err
}

// normsOf returns the norms with keys NETWORK.LAYER.KIND.
func normsOf(values Measures) (all Norms, err error) {
	seen := map[string]bool{} // NETWORK.LAYER
	for key, value := range values {
		network, rest, _ := strings.Cut(key, ".")
		layer, kind, _ := strings.Cut(rest, ".")
		i, err := strconv.Atoi(layer)
		if err != nil || i < 0 || strconv.Itoa(i) != layer || !slices.Contains([]string{"weights", "gradient", "direction"}, kind) {
			return nil, fmt.Errorf("unknown field %q", normsPrefix+key)
		}
		if i > len(values) {
			return nil, fmt.Errorf("the network %q has a norm of layer %d, but not of each layer below", network, i)
		}
		if all == nil {
			all = Norms{}
		}
		for i >= len(all[network]) {
			all[network] = append(all[network], LayerNorms{})
		}
		switch l := &all[network][i]; kind {
		case "weights":
			l.Weights = value
		case "gradient":
			l.Gradient = value
		case "direction":
			l.Direction = value
		}
		seen[network+"."+layer] = true
	}
	for network, layers := range all {
		for i := range layers {
			if !seen[fmt.Sprintf("%s.%d", network, i)] {
				return nil, fmt.Errorf("the network %[2]q has norms of %[1]d layers, but none of layer %[3]d", len(layers), network, i)
			}
		}
	}
	return all, nil
}

// deepestLine exceeds the nesting of objects in a line of any version.
const deepestLine = 8

// flatten adds the numbers in an object to into, by their paths.
func flatten(prefix string, object map[string]any, into map[string]float64) error {
	if strings.Count(prefix, ".") > deepestLine {
		return fmt.Errorf("objects are nested more than %d deep", deepestLine)
	}
	for key, value := range object {
		switch value := value.(type) {
		case float64:
			if _, twice := into[prefix+key]; twice {
				return fmt.Errorf("field %q appears twice", prefix+key)
			}
			into[prefix+key] = value
		case map[string]any:
			if err := flatten(prefix+key+".", value, into); err != nil {
				return err
			}
		case []any:
			for i, element := range value {
				if err := flatten(prefix+key+".", map[string]any{strconv.Itoa(i): element}, into); err != nil {
					return err
				}
			}
		case string:
			if prefix+key != "checksum" {
				return fmt.Errorf("field %q is a string, not a number", prefix+key)
			}
		case nil:
		default:
			return fmt.Errorf("field %q is not a number", prefix+key)
		}
	}
	return nil
}

// truncateMetrics rewrites a metrics file with only its first n epochs, bound to the current experiment.
// It returns these epochs, and the checksum to which the next line is chained.
func truncateMetrics(dir *file.Held, name string, bound binding, n int) (epochs []Epoch, seal string, err error) {
	epochs, err = readMetrics(dir.Path(name), bound, n)
	if err != nil {
		return nil, "", err
	}
	if len(epochs) < n {
		return nil, "", lostEpochs(dir.Path(name), len(epochs), n)
	}
	text, seal, err := sealed(epochs[:n], bound.to(name)[0])
	if err != nil {
		return nil, "", err
	}
	return epochs[:n], seal, dir.WriteAside(name, text)
}

// lostEpochs returns the error for a metrics file with fewer epochs than the checkpoint of the run.
func lostEpochs(path string, holds, seen int) error {
	return fmt.Errorf("%s has %d epochs, but the checkpoint beside it has seen %d: restore the file from a copy, or start a new run in another directory", path, holds, seen)
}

// appendMetrics appends the lines of epochs or steps in one write, and returns the checksum of the last line. The
// first line is chained to before, the checksum of the previous line.
func appendMetrics(dir *file.Held, name string, before string, epochs ...Epoch) (seal string, err error) {
	text, seal, err := sealed(epochs, before)
	if err != nil || len(text) == 0 {
		return seal, err
	}
	return seal, dir.Append(name, text)
}
