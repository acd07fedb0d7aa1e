package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/BurntSushi/toml"
)

// Codes are texts that stand for missing values. A single code is written as a text, as in earlier versions, and several as a list.
type Codes []string

func (c Codes) written() any {
	if len(c) == 1 && c[0] != "" {
		return c[0]
	}
	return []string(c)
}

func (c Codes) MarshalTOML() ([]byte, error) {
	text, err := toml.Marshal(map[string]any{"codes": c.written()})
	_, value, _ := bytes.Cut(bytes.TrimSpace(text), []byte(" = "))
	return value, err
}

func (c Codes) MarshalJSON() ([]byte, error) { return json.Marshal(c.written()) }

// UnmarshalTOML reads a text or a list of texts. An empty text is no code, as in earlier versions.
func (c *Codes) UnmarshalTOML(value any) error {
	*c = nil
	if value == "" || value == nil { // null of JSON
		return nil
	}
	list, is := value.([]any)
	if !is {
		list = []any{value}
	}
	for _, code := range list {
		text, is := code.(string)
		if !is {
			return fmt.Errorf("missing: %v is no text: put codes into quotes, such as [\"-8\", \"-9\"]", code)
		}
		*c = append(*c, text)
	}
	return nil
}

// UnmarshalJSON is like UnmarshalTOML.
func (c *Codes) UnmarshalJSON(text []byte) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	return c.UnmarshalTOML(value)
}
