//go:build unix

package proxy

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// check refuses a message that would make GoNB end, and adds the fields that it
// needs and that front ends may leave away.
func (m *message) check() error {
	var parent header
	if err := json.Unmarshal(m.parent, &parent); err != nil {
		return fmt.Errorf("parent header: %w", err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(m.metadata, &object); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	object = nil
	if err := json.Unmarshal(m.content, &object); err != nil {
		return fmt.Errorf("content: %w", err)
	}
	fields, ok := map[string][]field{
		"execute_request":  {{"code", "", nil}, {"silent", false, false}, {"store_history", true, true}, {"allow_stdin", true, false}},
		"complete_request": {{"code", "", nil}, {"cursor_pos", 0., nil}},
		"inspect_request":  {{"code", "", nil}, {"cursor_pos", 0., nil}, {"detail_level", 0., 0}},
		"shutdown_request": {{"restart", false, false}},
		"input_reply":      {{"value", "", nil}},
	}[m.Header.Type]
	if !ok {
		return nil
	}
	if object == nil {
		return fmt.Errorf("%s without content", m.Header.Type)
	}
	m.fields = object
	edited := false
	for _, f := range fields {
		value, ok := object[f.name]
		if !ok && f.missing != nil {
			object[f.name], edited = encode(f.missing), true
		} else if !f.holds(value) {
			return fmt.Errorf("%s: %s is %.40q, not a %T", m.Header.Type, f.name, value, f.kind)
		}
	}
	if edited {
		m.content = encode(object)
	}
	return nil
}

// field is a field of a message that has to be there.
type field struct {
	name    string
	kind    any // a value of its type
	missing any // what stands for one that is missing, nil if it must not be
}

func (f field) holds(value json.RawMessage) bool {
	var v any
	return json.Unmarshal(value, &v) == nil && reflect.TypeOf(v) == reflect.TypeOf(f.kind)
}
