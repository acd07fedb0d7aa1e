package thesis

import (
	"errors"
	"testing"
)

// An error ends the making of a result and is returned; another panic goes on.
func TestErrorsEndTheMaking(t *testing.T) {
	lost := errors.New("no such run")
	went := 0
	err := untilAnError(func() {
		went = must(1, nil)
		must(2, lost)
		went = 2
	})
	if err != lost || went != 1 {
		t.Errorf("error %v after part %d, want %v after part 1", err, went, lost)
	}
	if err := untilAnError(func() { check(nil) }); err != nil {
		t.Errorf("without an error: %v", err)
	}
	defer func() {
		if recover() != "a mistake" {
			t.Error("a panic without an error is swallowed")
		}
	}()
	untilAnError(func() { panic("a mistake") })
}
