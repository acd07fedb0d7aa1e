package engine

import (
	"encoding"
	"fmt"
	"strings"
	"testing"
)

// Each setting must be read from its own name, and from no other.
func TestNames(t *testing.T) {
	type setting interface {
		encoding.TextMarshaler
		fmt.Stringer
	}
	for _, c := range []struct {
		value setting
		read  encoding.TextUnmarshaler
		name  string
	}{
		{ZeroOne, new(Coding), "01"},
		{PlusMinusOne, new(Coding), "pm1"},
		{Euclidean, new(Metric), "none"},
		{Block, new(Metric), "block"},
		{Diagonal, new(Metric), "diagonal"},
		{FromWake, new(FisherSource), "wake"},
		{FromSleep, new(FisherSource), "sleep"},
		{GradientDescent, new(Optimizer), "gd"},
		{Adam, new(Optimizer), "adam"},
		{Momentum, new(Optimizer), "momentum"},
		{Nesterov, new(Optimizer), "nesterov"},
	} {
		text, err := c.value.MarshalText()
		if err != nil || string(text) != c.name {
			t.Errorf("%v is written %q (%v), want %q", c.value, text, err, c.name)
		}
		if err := c.read.UnmarshalText(text); err != nil {
			t.Error(err)
		}
		if got := c.read.(fmt.Stringer).String(); got != c.name {
			t.Errorf("%q is read as %v", text, got)
		}
		err = c.read.UnmarshalText([]byte("nonsense"))
		if err == nil || !strings.Contains(err.Error(), "nonsense") || !strings.Contains(err.Error(), c.name) {
			t.Errorf("of a nonsensical name, the error is %v", err)
		}
	}
	if got := Metric(7).String(); got != "invalid(7)" {
		t.Errorf("a metric that does not exist is called %q", got)
	}
	if text, err := Metric(7).MarshalText(); err == nil || !strings.Contains(err.Error(), "metric 7") || !strings.Contains(err.Error(), "kronecker") {
		t.Errorf("a metric that does not exist is written %q (%v)", text, err)
	}
}
