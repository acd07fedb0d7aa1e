//go:build unix

package kernel

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
)

func TestRequestsNeedTheToken(t *testing.T) {
	s := session.New(t.TempDir(), nil)
	defer s.Close()
	h := handler("right", s, nil, nil)
	for token, want := range map[string]int{"": 401, "Bearer ": 401, "Bearer wrong": 401, "right": 401, "Bearer right": 200, "Bearer rightx": 401} {
		r := httptest.NewRequest("POST", "/runs", nil)
		r.Header.Set("Authorization", token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("token %q: status %d, not %d", token, w.Code, want)
		}
	}
}

func TestRequestsAreLimited(t *testing.T) {
	s := session.New(t.TempDir(), nil)
	defer s.Close()
	h := handler("right", s, nil, nil)
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/start?name=a", `{"seed":1` + strings.Repeat(" ", largestExperiment), 413},
		{"POST", "/start?name=a", `{"unknown":1}`, 422},
		{"POST", "/start?name=a", `{}`, 422},
		{"POST", "/start?name=..%2Fa", `{}`, 422},
		{"POST", "/stop?name=none", ``, 422},
		{"POST", "/dance?name=none", ``, 404},
		{"DELETE", "/runs", ``, 405},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Authorization", "Bearer right")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s %s: status %d, not %d: %s", c.method, c.path, w.Code, c.want, w.Body)
		}
	}
}

// After %cd, a cell's data are in another folder than the kernel's.
func TestDataOfCellsInAnotherFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir("sub", 0o755), os.Symlink(here, filepath.Join(here, "link"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir("link")
	absolute := filepath.Join(here, "x.csv")
	e := experiment(t, 1)
	for _, c := range []struct{ dir, path, want string }{
		{here, "./x.csv", "./x.csv"}, {filepath.Join(here, "sub"), "x.csv", "sub/x.csv"}, {filepath.Dir(here), "x.csv", "../x.csv"}, {"/", absolute, absolute},
		{filepath.Join(here, "sub"), "../mnist/", "./mnist"},
	} {
		e.Dataset = dataset.Spec{Name: c.path, LabelFile: c.path}
		got, err := fromFolder(e, c.dir)
		if err != nil {
			t.Fatal(err)
		}
		if of := got.Header().Dataset; of.Name != c.want || of.LabelFile != c.want || of.Test != "" {
			t.Errorf("%s in %s: %+v", c.path, c.dir, of)
		}
	}
}

func TestAClientThatDiesHarmsNobody(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "server-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s := session.New(t.TempDir(), nil)
	defer s.Close()
	server, err := serve(dir, s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for _, file := range []string{session.SocketFile, session.TokenFile} {
		info, err := os.Stat(filepath.Join(dir, file))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", file, info.Mode(), err)
		}
	}
	token, err := os.ReadFile(filepath.Join(dir, session.TokenFile))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, session.SocketFile)
	for _, start := range []string{
		"", "POST", "POST /start?name=dead HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + string(token) + "\r\nContent-Length: 1000\r\n\r\nhalf",
		"POST /runs HTTP/1.1\r\nX: " + strings.Repeat("x", 10*largestHeader),
	} {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, start)
		c.Close()
	}
	client := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", path)
	}}}
	r, err := http.NewRequest("POST", "http://session/runs", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+string(token))
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || strings.TrimSpace(string(body)) != "null" || len(s.Runs()) > 0 {
		t.Errorf("runs %q, %v", body, err)
	}
}
