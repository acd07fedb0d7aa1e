// Package check reads Jupyter notebooks and finds what makes them unfit for readers: cells that
// were not run or failed, missing figures, and traces of the machine that ran them.
package check

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Notebook is a Jupyter notebook in format 4.
type Notebook struct {
	Format   int `json:"nbformat"`
	Minor    int `json:"nbformat_minor"`
	Metadata struct {
		Kernel struct {
			Name string `json:"name"`
		} `json:"kernelspec"`
	} `json:"metadata"`
	Cells []Cell `json:"cells"`
}

// Cell is a piece of text or code, with the outputs of the code.
type Cell struct {
	ID             string   `json:"id"`
	Type           string   `json:"cell_type"`
	Source         Text     `json:"source"`
	ExecutionCount *int     `json:"execution_count"`
	Outputs        []Output `json:"outputs"`
	Metadata       struct {
		Tags    []string `json:"tags"`
		Jupyter struct {
			SourceHidden  bool `json:"source_hidden"` // the cell is folded
			OutputsHidden bool `json:"outputs_hidden"`
		} `json:"jupyter"`
	} `json:"metadata"`
}

// Output is one of a cell's outputs: a stream of text, a display, or an error.
type Output struct {
	Type       string                     `json:"output_type"`
	Stream     string                     `json:"name"` // stdout or stderr
	Text       Text                       `json:"text"`
	Data       map[string]json.RawMessage `json:"data"` // by media type
	ErrorName  string                     `json:"ename"`
	ErrorValue string                     `json:"evalue"`
}

// Text is stored as one string or as a list of lines.
type Text string

// UnmarshalJSON joins lines.
func (t *Text) UnmarshalJSON(data []byte) error {
	var whole string
	if json.Unmarshal(data, &whole) == nil {
		*t = Text(whole)
		return nil
	}
	var lines []string
	if err := json.Unmarshal(data, &lines); err != nil {
		return fmt.Errorf("text is neither a string nor a list of strings: %.40s", data)
	}
	*t = Text(strings.Join(lines, ""))
	return nil
}

// Parse reads a notebook. It fails if data is not JSON or has values of the wrong type; Check does
// all other checks.
func Parse(data []byte) (*Notebook, error) {
	var notebook Notebook
	if err := json.Unmarshal(data, &notebook); err != nil {
		return nil, fmt.Errorf("not a Jupyter notebook: %w", err)
	}
	return &notebook, nil
}
