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

func (r *remote) get(path string, v any) error {
	answer, err := r.request(context.Background(), http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, v)
}

func runPath(run string) string { return "/runs/" + url.PathEscape(run) }

func (r *remote) Start(run string, e runs.Experiment) error {
	if err := e.Err(); err != nil {
		return err
	}
	_, err := r.request(context.Background(), http.MethodPut, runPath(run), e.TOML())
	return err
}

func (r *remote) Info(run string) (i session.Info, err error) {
	err = r.get(runPath(run), &i)
	return i, err
}

func (r *remote) Runs() (runs []session.Info, err error) {
	err = r.get("/runs", &runs)
	return runs, err
}

func (r *remote) Wait(ctx context.Context, run string) error {
	_, err := r.request(ctx, http.MethodGet, runPath(run)+"/end", nil)
	return err
}

func (r *remote) act(run, action string) error {
	_, err := r.request(context.Background(), http.MethodPost, runPath(run)+"/"+action, nil)
	return err
}

func (r *remote) Stop(run string) error   { return r.act(run, "stop") }
func (r *remote) Pause(run string) error  { return r.act(run, "pause") }
func (r *remote) Resume(run string) error { return r.act(run, "resume") }
func (r *remote) Save(run string) error   { return r.act(run, "save") }
func (r *remote) Show(run string) error   { return r.act(run, "show") }

// put keeps a model or a data set under a name. kind is "models" or "data".
func (r *remote) put(kind, name string, body []byte) error {
	if len(body) > session.Largest {
		return fmt.Errorf("%s takes %d MB, but the session keeps at most %d MB under a name: make it smaller, or write it to a file",
			name, len(body)>>20, session.Largest>>20)
	}
	_, err := r.request(context.Background(), http.MethodPut, "/"+kind+"/"+url.PathEscape(name), body)
	return err
}

func (r *remote) Keep(name string, model []byte) error { return r.put("models", name, model) }

func (r *remote) Model(name string) ([]byte, error) {
	return r.request(context.Background(), http.MethodGet, "/models/"+url.PathEscape(name), nil)
}

func (r *remote) KeepData(name string, set *dataset.Set) error {
	var b bytes.Buffer
	if err := set.Save(&b); err != nil {
		return err
	}
	return r.put("data", name, b.Bytes())
}

func (r *remote) Data(name string) (*dataset.Set, error) {
	b, err := r.request(context.Background(), http.MethodGet, "/data/"+url.PathEscape(name), nil)
	if err != nil {
		return nil, err
	}
	return dataset.Load(bytes.NewReader(b))
}
