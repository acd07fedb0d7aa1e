// Package plainjson decodes JSON that people and other programs write. It refuses what encoding/json takes silently.
package plainjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Decode decodes a text that is one JSON object into a struct. Unlike encoding/json, it refuses what Check refuses, a key
// that no field of the struct has in these capitals, and text behind the object. It does not look into the values of fields of type
// json.RawMessage.
func Decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("the file has more after its object: keep one object")
	}
	var known, raw []string
	for f := range reflect.TypeOf(into).Elem().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if known = append(known, key); f.Type == reflect.TypeFor[json.RawMessage]() {
			raw = append(raw, key)
		}
	}
	return check("", text, known, raw, false)
}

// Check refuses a JSON text in which a key stands twice in an object and, unless nulls is true, a text with null.
func Check(text []byte, nulls bool) error { return check("", text, nil, nil, nulls) }

// check is like Check for a value at a place in a text. The keys of the value must be known, if any are. The values of raw keys are not
// checked.
func check(place string, text []byte, known, raw []string, nulls bool) error {
	text = bytes.TrimLeft(text, " \t\r\n")
	object := bytes.HasPrefix(text, []byte("{"))
	switch {
	case bytes.HasPrefix(text, []byte("null")) && !nulls:
		return fmt.Errorf("%s is null: write its value, or [] if it is empty, or leave it out", cmp.Or(place, "the text"))
	case !object && !(bytes.HasPrefix(text, []byte("[")) && bytes.ContainsAny(text, "{n")):
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	keys := map[string]bool{}
	for i := 0; d.More(); i++ {
		within, key := fmt.Sprintf("%s[%d]", place, i), ""
		if object {
			token, err := d.Token()
			if err != nil {
				return err
			}
			key = token.(string)
			within = strings.TrimPrefix(place+"."+key, ".")
			switch {
			case keys[key]:
				return fmt.Errorf("the key %q stands twice: keep one of them", within)
			case known != nil && !slices.Contains(known, key):
				return fmt.Errorf("unknown key %q%s: remove it or correct its spelling", within, names.Meant(key, known...))
			}
			keys[key] = true
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if slices.Contains(raw, key) {
			continue
		}
		if err := check(within, value, nil, nil, nulls); err != nil {
			return err
		}
	}
	return nil
}
