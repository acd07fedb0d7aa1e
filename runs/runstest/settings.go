package runstest

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// enumerated returns the values of an enumeration, and nil for other types.
func enumerated(of reflect.Type) (values []any) {
	number := reflect.Zero(of).CanInt() || reflect.Zero(of).CanUint()
	for i := 0; number && of.Implements(reflect.TypeFor[encoding.TextMarshaler]()); i++ {
		v := reflect.ValueOf(i).Convert(of).Interface()
		if _, err := v.(encoding.TextMarshaler).MarshalText(); err != nil {
			break
		}
		values = append(values, v)
	}
	return values
}

// walk calls each with every setting of an experiment and its full TOML name.
func walk(v reflect.Value, name string, each func(v reflect.Value, name string)) {
	if v.CanSet() {
		each(v, name)
	}
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		walk(v.Elem(), name, each)
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), name, each)
		}
	case v.Kind() == reflect.Struct:
		for field := range v.Type().Fields() {
			within, _, _ := strings.Cut(field.Tag.Get("toml"), ",")
			if within == "-" || !field.IsExported() {
				continue
			}
			if within == "" && field.Type.Kind() == reflect.Struct { // its fields belong to the outer level
				walk(v.FieldByIndex(field.Index), name, each)
				continue
			}
			within = cmp.Or(within, field.Name)
			if name != "" {
				within = name + "." + within
			}
			walk(v.FieldByIndex(field.Index), within, each)
		}
	}
}

func others(v reflect.Value) (values []any) {
	switch values = enumerated(v.Type()); {
	case values != nil:
	case v.CanInt():
		values = []any{v.Int() + 1, 123_456}
	case v.CanUint():
		values = []any{v.Uint() + 1, 255}
	case v.Kind() == reflect.Float64:
		values = []any{math.Nextafter(v.Float(), math.Inf(1)), -math.MaxFloat64, math.SmallestNonzeroFloat64}
	case v.Kind() == reflect.Bool:
		values = []any{!v.Bool()}
	case v.Kind() == reflect.String:
		values = []any{v.String() + "0", "é \"#]\\\n="}
	case v.Kind() == reflect.Pointer:
		values = []any{reflect.New(v.Type().Elem()).Interface(), reflect.Zero(v.Type()).Interface()}
	case v.Kind() == reflect.Slice:
		values = []any{reflect.Append(v, reflect.Zero(v.Type().Elem())).Interface()}
	}
	return slices.DeleteFunc(values, func(other any) bool { return reflect.DeepEqual(v.Interface(), convert(other, v).Interface()) })
}

func convert(value any, to reflect.Value) reflect.Value {
	return reflect.ValueOf(value).Convert(to.Type())
}

// Fill gives every setting that is zero a different value. The resulting experiment need not be
// trainable.
func Fill[E any](e *E) {
	walk(reflect.ValueOf(e).Elem(), "", func(v reflect.Value, _ string) {
		if others := others(v); v.IsZero() && len(others) > 0 {
			v.Set(convert(others[0], v))
		}
	})
}

// Vary calls each with experiments that differ from e in a single setting, and with the TOML name of that
// setting. Each setting takes a few values; experiments with an error are skipped. varied is valid only
// during the call.
func Vary[E any](e E, each func(setting string, varied E)) {
	walk(reflect.ValueOf(&e).Elem(), "", func(v reflect.Value, name string) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		for _, other := range others(v) {
			v.Set(convert(other, v))
			if of, is := any(e).(interface{ Err() error }); !is || of.Err() == nil {
				each(name, e)
			}
			v.Set(was)
		}
	})
}

// wantRead checks that an experiment is the same after it is written and read again. It skips an
// experiment with an error.
func (f Case[E, M]) wantRead(t *testing.T, e E) {
	t.Helper()
	if e.Err() != nil {
		return // it cannot be written
	}
	back, err := f.Kind.Parse(e.TOML())
	of, other := runs.ParseExperiment(e.TOML())
	switch err := errors.Join(err, other); {
	case err != nil:
		t.Errorf("%v:\n%s", err, e.TOML())
	case !reflect.DeepEqual(back, e) || !reflect.DeepEqual(of, runs.Experiment(e)):
		t.Errorf("the experiment read back differs in %v:\n%+v\n%+v", runs.Differences(back, e), back, e)
	case string(back.TOML()) != string(e.TOML()) || back.Hash() != e.Hash():
		t.Errorf("the experiment read back has another text or another hash:\n%s", back.TOML())
	}
}

// roundTrip writes and reads experiments that differ from the experiment of the case in one setting or in
// many. It also checks that WithHeader and Header agree.
func (f Case[E, M]) roundTrip(t *testing.T) {
	f.wantRead(t, f.Experiment)
	Vary(f.full(t), func(_ string, e E) { f.wantRead(t, e) })
	for seed := range uint64(100) {
		random, e := rand.New(rand.NewPCG(seed, 0)), f.full(t)
		walk(reflect.ValueOf(&e).Elem(), "", func(v reflect.Value, _ string) {
			if others := others(v); len(others) > 0 && random.IntN(2) == 0 {
				v.Set(convert(others[random.IntN(len(others))], v))
			}
		})
		f.wantRead(t, e)
	}
	Vary(f.full(t).Header(), func(setting string, h runs.Header) {
		if got := f.Experiment.WithHeader(h).Header(); !reflect.DeepEqual(got, h) {
			t.Errorf("with another %s the header is %+v, want %+v", setting, got, h)
		}
	})
}

// hash checks that every setting is part of the hash, except those that do not change training.
func (f Case[E, M]) hash(t *testing.T) {
	base := f.full(t).Hash()
	seen, aside := map[string]string{base: "name"}, append(f.Aside, "keep", "record_steps")
	Vary(f.full(t), func(name string, e E) {
		hash := e.Hash()
		other, taken := seen[hash]
		isAside := slices.ContainsFunc(aside, func(of string) bool { return name == of || strings.HasPrefix(name, of+".") })
		switch {
		case isAside && hash != base:
			t.Errorf("another %s changes the hash, but not training", name)
		case !isAside && taken:
			t.Errorf("another %s gives the same hash as the original or as another %s", name, other)
		}
		seen[hash] = name
	})
}

func with(t *testing.T, text []byte, name string, value any) []byte {
	t.Helper()
	root := map[string]any{}
	must[any](t)(toml.Decode(string(text), &root))
	table, path := root, strings.Split(name, ".")
	for _, key := range path[:len(path)-1] {
		table = table[key].(map[string]any)
	}
	table[path[len(path)-1]] = value
	return must[[]byte](t)(toml.Marshal(root))
}

// unread checks that files are refused if they belong to another family, misspell a setting, or
// give a setting an impossible value.
func (f Case[E, M]) unread(t *testing.T) {
	text := f.full(t).TOML()
	refused := func(name string, value any, says ...string) {
		t.Helper()
		other := with(t, text, name, value)
		_, err := f.Kind.Parse(other)
		wantError(t, err, says...)
		_, err = runs.ParseExperiment(other)
		wantError(t, err, says...)
	}
	_, err := f.Kind.Parse(with(t, text, "family", "nosuch"))
	wantError(t, err, `"nosuch"`)
	_, err = runs.ParseExperiment(with(t, text, "family", "nosuch"))
	wantError(t, err, `family "nosuch"`, must[string](t)(runs.FamilyOf(text)))
	refused("seed", -1, "seed")

	enumerations := map[string][]any{}
	e := f.full(t)
	walk(reflect.ValueOf(&e).Elem(), "", func(v reflect.Value, name string) { enumerations[name] = enumerated(v.Type()) })
	table := map[string]any{}
	must[any](t)(toml.Decode(string(text), &table))
	for name, value := range names.Flat("", table) {
		table, key := name[:strings.LastIndex(name, ".")+1], name[strings.LastIndex(name, ".")+1:]
		for _, misspelt := range []string{key + "x", strings.ToUpper(key)} {
			refused(table+misspelt, value, strconv.Quote(table+misspelt), fmt.Sprintf("did you mean %q", name))
		}
		if _, is := value.(float64); is {
			refused(name, math.NaN(), name+" = nan", "give a finite number")
			refused(name, math.Inf(-1), name+" = -inf", "give a finite number")
		}
		if numbers, is := value.([]any); is && len(numbers) > 0 {
			if _, is := numbers[0].(float64); is {
				refused(name, []float64{0.5, math.NaN()}, name+" = [0.5, nan]", "give a finite number")
			}
		}
		if _, isText := value.(string); isText && enumerations[name] != nil {
			says := []string{`"nosuch"`}
			for _, v := range enumerations[name] {
				says = append(says, string(must[[]byte](t)(v.(encoding.TextMarshaler).MarshalText())))
			}
			refused(name, "nosuch", says...)
		}
	}
}

// refused checks that settings out of range are refused before a directory is made. Refusing 0 epochs
// and other data shows that Check checks the header.
func (f Case[E, M]) refused(t *testing.T) {
	want := func(e runs.Experiment, says ...string) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "run")
		_, err := runs.Train(t.Context(), e, f.Set, dir, runs.Quiet)
		wantError(t, err, says...)
		if files, _ := filepath.Glob(dir); len(files) > 0 {
			t.Errorf("the experiment refused with %q has left a directory", says)
		}
	}
	if err := f.Experiment.Check(f.Set); err != nil {
		t.Fatal(err)
	}
	h := f.Experiment.Header()
	h.Epochs = 0
	want(f.Experiment.WithHeader(h), "0 epochs", "at least 1")
	h = f.Experiment.Header()
	h.Fingerprint = strings.Repeat("0", 64)
	wantError(t, f.Experiment.WithHeader(h).Check(f.Set), "not the experiment's data", "restore the files")
	for _, c := range f.Refused {
		e := f.Experiment
		c.change(&e)
		want(e, c.says...)
	}
	e := f.copied(t)
	walk(reflect.ValueOf(&e).Elem(), "", func(v reflect.Value, name string) {
		if enumerated(v.Type()) != nil {
			was := v.Interface()
			v.Set(reflect.ValueOf(99).Convert(v.Type()))
			if err := e.Err(); err == nil || !strings.Contains(err.Error(), "99") {
				t.Errorf("for a value of %s without a name, Err is %v", name, err)
			}
			v.Set(reflect.ValueOf(was))
		}
	})
}
