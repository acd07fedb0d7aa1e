package kernelext

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/runs"
)

// remote is the session of the kernel, reached through a socket.
type remote struct {
	client http.Client
	token  string
	err    error
}

func newRemote(dir string) *remote {
	token, err := file.Read(filepath.Join(dir, session.TokenFile), file.Small)
	if err != nil {
		err = fmt.Errorf("the session of the kernel: %w: restart the kernel", err)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(dir, session.SocketFile))
	}
	// Nothing closes a session, so connections that are kept open would accumulate.
	return &remote{http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}, string(token), err}
}

// request sends a request with a body, which may be nil, and returns the session's answer.
func (r *remote) request(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://session"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	response, err := r.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the session of the kernel: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 300 {
		err = errors.New(strings.TrimSpace(string(answer)))
	}
	return answer, err
}

// kinds are the names in error messages for what the session keeps under a path.
var kinds = map[string]string{"runs": "run", "models": "model", "data": "data set"}

// named sends a request about a run, a model or a data set.
func (r *remote) named(ctx context.Context, method, kind, name, action string, body []byte) ([]byte, error) {
	if err := session.CheckName(kinds[kind], name); err != nil { // the server would clean a path with dots
		return nil, err
	}
	return r.request(ctx, method, "/"+kind+"/"+url.PathEscape(name)+action, body)
}

func (r *remote) Start(run string, e runs.Experiment) error {
	if err := e.Err(); err != nil {
		return err
	}
	query := ""
	if dir, err := os.Getwd(); err == nil && e.Header().Dataset.IsFile() { // %cd may have changed it
		query = "?" + url.Values{session.Directory: {dir}}.Encode()
	}
	_, err := r.named(context.Background(), http.MethodPut, "runs", run, query, e.TOML())
	return err
}

func (r *remote) Info(run string) (i session.Info, err error) {
	answer, err := r.named(context.Background(), http.MethodGet, "runs", run, "", nil)
	if err == nil {
		err = json.Unmarshal(answer, &i)
	}
	return i, err
}

func (r *remote) Runs() (runs []session.Info, err error) {
	answer, err := r.request(context.Background(), http.MethodGet, "/runs", nil)
	if err == nil {
		err = json.Unmarshal(answer, &runs)
	}
	return runs, err
}

func (r *remote) Wait(ctx context.Context, run string) error {
	_, err := r.named(ctx, http.MethodGet, "runs", run, "/end", nil)
	return err
}

func (r *remote) act(run, action string) error {
	_, err := r.named(context.Background(), http.MethodPost, "runs", run, "/"+action, nil)
	return err
}

func (r *remote) Stop(run string) error   { return r.act(run, "stop") }
func (r *remote) Pause(run string) error  { return r.act(run, "pause") }
func (r *remote) Resume(run string) error { return r.act(run, "resume") }
func (r *remote) Save(run string) error   { return r.act(run, "save") }
func (r *remote) Show(run string) error   { return r.act(run, "show") }

func (r *remote) Fail(err error) {
	_, _ = r.request(context.Background(), http.MethodPost, "/failure", []byte(err.Error())) // a kernel that is gone answers no cell
}

// put keeps a model or a data set under a name. kind is "models" or "data".
func (r *remote) put(kind, name string, body []byte) error {
	if len(body) > session.Largest {
		return fmt.Errorf("%s takes %d MB, but the session keeps at most %d MB under a name: make it smaller, or write it to a file",
			name, len(body)>>20, session.Largest>>20)
	}
	_, err := r.named(context.Background(), http.MethodPut, kind, name, "", body)
	return err
}

func (r *remote) Keep(name string, model []byte) error { return r.put("models", name, model) }

func (r *remote) Model(name string) ([]byte, error) {
	return r.named(context.Background(), http.MethodGet, "models", name, "", nil)
}

func (r *remote) KeepData(name string, set *dataset.Set) error {
	var b bytes.Buffer
	if err := set.Save(&b); err != nil {
		return err
	}
	return r.put("data", name, b.Bytes())
}

func (r *remote) Data(name string) (*dataset.Set, error) {
	b, err := r.named(context.Background(), http.MethodGet, "data", name, "", nil)
	if err != nil {
		return nil, err
	}
	return dataset.Load(bytes.NewReader(b))
}
