package reproduce

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// Result is a published figure, table or number in a text, with the criteria by
// which it counts as reproduced, declared before the training that they judge.
type Result struct {
	ID      string   `toml:"id"`    // document and figure, such as varady/fig5.6
	Place   string   `toml:"place"` // page, or section
	Title   string   `toml:"title"`
	Setting string   `toml:"setting"` // data, machine, method, length
	Blocked string   `toml:"blocked"` // why not all of it can be made here, or empty
	Note    string   `toml:"note"`
	Numbers []Number `toml:"number"`
	Claims  []Claim  `toml:"claim"`
}

// Beyond is the place of a result that no document has: a question of this library's own.
const Beyond = "beyond the theses"

// Number is a published number with the tolerance within which it counts as
// reproduced: log-probabilities in nats, seconds as ratios.
type Number struct {
	Of        string   `toml:"of"`
	Measure   string   `toml:"measure"`
	Published float64  `toml:"published"`
	Tolerance *float64 `toml:"tolerance"` // nil where it is blocked
	Blocked   string   `toml:"blocked"`   // what is missing, or empty
}

// Claim is what a document concludes, and what would have to be measured for it
// to hold.
type Claim struct {
	Says  string `toml:"says"`
	Holds string `toml:"holds"`
}

// ParseCriteria reads results from TOML, each a table of the array result. name is
// that of the text, for errors.
func ParseCriteria(name string, text []byte) ([]Result, error) {
	var file struct {
		Results []Result `toml:"result"`
	}
	unknown, err := decode(name, text, &file)
	if len(unknown) > 0 {
		err = fmt.Errorf("%s: unknown keys %s", name, strings.Join(unknown, ", "))
	}
	if err != nil {
		return nil, err
	}
	return file.Results, nil
}

// decode reads TOML, and returns the keys that into has not.
func decode(name string, text []byte, into any) (unknown []string, err error) {
	meta, err := toml.NewDecoder(bytes.NewReader(text)).Decode(into)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, key := range meta.Undecoded() {
		unknown = append(unknown, key.String())
	}
	return unknown, nil
}
