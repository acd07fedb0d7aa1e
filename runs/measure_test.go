package runs

import (
	"encoding/json"
	"math"
	"testing"
)

// A number that is not finite is null in JSON and is read back as NaN; a nil pointer stays nil.
func TestFloatsInJSON(t *testing.T) {
	for _, test := range []struct {
		value Float
		json  string
		back  float64
	}{
		{-1.5, "-1.5", -1.5},
		{0, "0", 0},
		{Float(math.NaN()), "null", math.NaN()},
		{Float(math.Inf(1)), "null", math.NaN()},
	} {
		text, err := json.Marshal(test.value)
		if err != nil || string(text) != test.json {
			t.Errorf("%v is in JSON %s (%v), want %s", test.value, text, err, test.json)
		}
		var back struct{ Value Float }
		if err := json.Unmarshal([]byte(`{"value":`+test.json+`}`), &back); err != nil || math.Float64bits(float64(back.Value)) != math.Float64bits(test.back) {
			t.Errorf("%s is read as %v (%v), want %v", test.json, back.Value, err, test.back)
		}
	}
	var wrong Float
	if err := json.Unmarshal([]byte(`"1"`), &wrong); err == nil {
		t.Errorf("a text is read as %v", wrong)
	}
	var none struct{ Value *Float }
	if err := json.Unmarshal([]byte(`{"value":null}`), &none); err != nil || none.Value != nil {
		t.Errorf("a pointer to none is read as one to %v (%v)", none.Value, err)
	}
}
