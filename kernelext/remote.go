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

// call asks the session for an action on a run, with a body that may be nil, and returns the
// session's answer.
func (r *remote) call(ctx context.Context, action, name string, body []byte) ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	query := url.Values{session.Name: {name}}
	if dir, err := os.Getwd(); err == nil { // %cd may have changed it
		query.Set(session.Directory, dir)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://session/"+action+"?"+query.Encode(), bytes.NewReader(body))
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
	if response.StatusCode == http.StatusNotFound {
		return nil, fmt.Errorf("the kernel is of another version than this library and does not know the action %s: build it again with make lab, and restart it", action)
	}
	if err == nil && response.StatusCode >= 300 {
		err = errors.New(strings.TrimSpace(string(answer)))
	}
	return answer, err
}

// ask decodes the session's answer to an action into v, unless v is nil.
func (r *remote) ask(action, name string, body []byte, v any) error {
	answer, err := r.call(context.Background(), action, name, body)
	if err == nil && v != nil {
		err = json.Unmarshal(answer, v)
	}
	return err
}

func (r *remote) Start(run string, e runs.Experiment) error {
	if err := e.Err(); err != nil {
		return err
	}
	return r.ask("start", run, e.TOML(), nil)
}

func (r *remote) Info(run string) (i session.Info, err error) {
	err = r.ask("info", run, nil, &i)
	return i, err
}

func (r *remote) Runs() (runs []session.Info, err error) {
	err = r.ask("runs", "", nil, &runs)
	return runs, err
}

func (r *remote) Act(action, run string) error { return r.ask(action, run, nil, nil) }

func (r *remote) Wait(ctx context.Context, run string) error {
	_, err := r.call(ctx, "wait", run, nil)
	return err
}

func (r *remote) Fail(err error) {
	_ = r.ask("fail", "", []byte(err.Error()), nil) // a kernel that is gone answers no cell
}
