package engine

import (
	"strings"
	"testing"
)

type nothing struct{ Engine }

func TestRegister(t *testing.T) {
	Register("test", nothing{})
	if e, err := Open("test"); err != nil || e != (nothing{}) {
		t.Errorf("opened %v, %v", e, err)
	}
	_, err := Open("absent")
	if err == nil || !strings.Contains(err.Error(), `"absent"`) || !strings.Contains(err.Error(), "test") {
		t.Errorf("the error of an unknown engine is %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name can be registered twice")
		}
	}()
	Register("test", nothing{})
}
