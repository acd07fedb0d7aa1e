//go:build unix

package kernel

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
)

// FuzzRequests sends the session what a cell may. Experiments that it could train are
// left out, since they may be large.
func FuzzRequests(f *testing.F) {
	for _, name := range []string{"a", "%2e%2e", "a%2Fb", "", "%00"} {
		f.Add("POST", "/info?name="+name, "")
		f.Add("POST", "/wait?name="+name, "")
		f.Add("POST", "/stop?name="+name, "")
		f.Add("POST", "/save?name="+name, "")
	}
	f.Add("POST", "/start?name=a", "family = \"none\"\n")
	f.Add("POST", "/start?name=a", "epochs = 1\n[dataset]\nname = \"own\"\n")
	s := session.New(f.TempDir(), nil)
	f.Cleanup(func() { s.Close() })
	h := handler("token", s, func(run string) error {
		_, err := s.Info(run)
		return err
	}, func(string) {})
	m := magics{session: s, show: func(string) error { return nil }, display: func(string, string) {}}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		if strings.HasPrefix(path, "/start") && strings.Contains(body, "[machine]") {
			return
		}
		r := httptest.NewRequest("GET", "/", strings.NewReader(body))
		r.Method = method
		url, err := r.URL.Parse(path)
		if err != nil {
			return
		}
		r.URL = url
		r.Header.Set("Authorization", "Bearer token")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%s %s: status %d: %s", method, path, w.Code, w.Body)
		}
		if len(s.Runs()) > 0 {
			t.Fatalf("%s %s with %q started a run", method, path, body)
		}
		if words := strings.Fields(body); len(words) == 0 || words[0] != "save" { // which writes to any path
			_, _ = m.Run(t.Context(), body)
		}
		m.Complete(body)
		m.Inspect(body)
	})
}
