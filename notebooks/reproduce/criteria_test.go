package reproduce

import (
	"strings"
	"testing"
)

func TestUnknownKeysAreRefused(t *testing.T) {
	_, err := ParseCriteria("criteria.toml", []byte("[[result]]\nid = \"004/fig5.4\"\nplaze = \"p. 72\"\n"))
	if err == nil || !strings.Contains(err.Error(), "result.plaze") {
		t.Errorf("got %v", err)
	}
}
