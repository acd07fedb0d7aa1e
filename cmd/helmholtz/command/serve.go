package command

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/plainjson"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

func newServe() *cobra.Command {
	s := &service{}
	var port int
	var which, data string
	c := &cobra.Command{
		Use:   "serve DIR",
		Short: "Answer requests of programs on this machine with the machine of a run",
		Args:  oneRun,
	}
	f := c.Flags()
	numberFlag(f, &port, "port", 0, 0, "`port` of 127.0.0.1 to listen on; 0 chooses a free one")
	checkpointFlag(f, &which)
	dataFlag(f, &data)
	numberFlag(f, &s.bytes, "max-bytes", 8<<20, 1, "the longest body of a request, in `bytes`")
	numberFlag(f, &s.rows, "max-rows", 10_000, 1, "the largest `number` of rows in a request")
	numberFlag(f, &s.draws, "max-draws", 100_000, 1, "the largest `number` of draws in a request, and of samples or sweeps for each row")
	f.DurationVar(&s.time, "max-time", 30*time.Second, "the longest `time` of a request, such as 30s or 2m")

	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if s.time <= 0 {
			return misuse(c, "--max-time %v: give a time above 0, such as 30s", s.time)
		}
		if s.run, s.model, err = openModel(args[0], which); err != nil {
			return err
		}
		if s.set, err = s.run.Blank(); err != nil {
			return err
		}
		if _, _, err := s.set.Fields(dataset.Sheet{Shape: s.set.Shape()}, dataset.Writing{}); err != nil {
			return err // sequences
		}
		if s.command, s.columns = c, s.set.Schema().Columns; s.columns == nil || !s.set.Spec().IsFile() || s.set.MadeFromRows() {
			return fmt.Errorf("the data of %s, %s, are not a file with columns, by whose names programs could send rows: train on a table, such as a CSV file with a header", s.run.Dir(), s.set.Name())
		}
		var loading sync.Mutex
		var training *dataset.Set
		s.training = func() (_ *dataset.Set, err error) {
			loading.Lock()
			defer loading.Unlock()
			if training == nil {
				training, err = s.run.DatasetAt(data)
			}
			return training, err
		}
		if data != "" {
			if _, err := s.training(); err != nil {
				return err
			}
		}
		s.slots = make(chan struct{}, runtime.GOMAXPROCS(0))
		if name, _, err := hm.Device(); err == nil && name != "cpu" {
			s.slots = make(chan struct{}, 1)
		}
		at, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return misuse(c, "--port %d: %w: choose another, or omit --port", port, err)
		}
		address, _ := json.Marshal(map[string]string{"address": "http://" + at.Addr().String()})
		if _, err := fmt.Fprintf(c.OutOrStdout(), "%s\n", address); err != nil {
			return errors.Join(err, at.Close())
		}
		err = s.serve(c.Context(), at)
		fmt.Fprintf(c.ErrOrStderr(), "stopped after %s\n", names.Count(int(s.answered.Load()), "answer"))
		return err
	}
	return c
}

// service answers requests about the model of a run. It computes as many answers at a time as slots holds; the others wait.
type service struct {
	command *cobra.Command
	run     *runs.Run
	model   any
	set     *dataset.Set     // without rows
	columns []dataset.Column // of a row
	// training returns the data of the run, which some models need.
	training           func() (*dataset.Set, error)
	bytes, rows, draws int // the limits of a request
	time               time.Duration
	slots              chan struct{}
	stopping           atomic.Bool
	answered           atomic.Int64
}

// idleGrace is how long open connections without a request may still send one while the service stops.
var idleGrace = 3 * time.Second

// serve answers requests until the context ends. It then accepts no new connections, answers all requests on open connections, each with
// the last answer of its connection, and returns.
func (s *service) serve(ctx context.Context, at net.Listener) error {
	var connections sync.WaitGroup
	h := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 2*s.time + 10*time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: log.New(s.command.ErrOrStderr(), "", 0),
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				connections.Add(1)
			case http.StateClosed:
				connections.Done()
			}
		},
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(&listener{at.(*net.TCPListener), ctx}) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.stopping.Store(true)
	err := at.(*net.TCPListener).SetDeadline(time.Now()) // ends the Accept that waits
	<-ended
	closed := make(chan struct{})
	go func() { connections.Wait(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(idleGrace):
	}
	return errors.Join(err, h.Shutdown(context.Background()))
}

// listener closes itself after its context has ended, once it has accepted the connections that wait. Closing it at once would reset
// connections whose requests have arrived.
type listener struct {
	*net.TCPListener
	ctx context.Context
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.TCPListener.Accept()
	if err == nil || l.ctx.Err() == nil {
		return c, err
	}
	if !isReady(l) {
		return nil, errors.Join(net.ErrClosed, l.Close())
	}
	_ = l.SetDeadline(time.Now().Add(time.Second)) // fails only for a closed listener, as Accept does
	c, err = l.TCPListener.Accept()
	_ = l.SetDeadline(time.Now())
	return c, err
}

// problem is an answer that says why there is no other.
type problem struct {
	status int
	Text   string `json:"error"`
	Row    int    `json:"row,omitzero"` // of the rows of the request, counted from 1
	Column string `json:"column,omitempty"`
}

func (p *problem) Error() string { return p.Text }

func refused(status int, format string, values ...any) *problem {
	return &problem{status: status, Text: fmt.Sprintf(format, values...)}
}

// Texts that the user wrote stand in quotes in errors about rows. The row and the column of the error stand outside.
var (
	quotedText  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	columnOfRow = regexp.MustCompile(`\bcolumn ("(?:[^"\\]|\\.)*")`)
	rowOfError  = regexp.MustCompile(`\brow (\d+)`)
)

// malformed returns the problem with rows that an error of package dataset describes.
func malformed(err error) *problem {
	p := refused(http.StatusBadRequest, "%v", err)
	if at := columnOfRow.FindStringSubmatch(p.Text); at != nil {
		p.Column, _ = strconv.Unquote(at[1])
	}
	if at := rowOfError.FindStringSubmatch(quotedText.ReplaceAllString(p.Text, "")); at != nil {
		p.Row, _ = strconv.Atoi(at[1])
	}
	return p
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := s.answer(w, r)
	status := http.StatusOK
	if err != nil {
		p, is := errors.AsType[*problem](err)
		if !is {
			p = refused(http.StatusUnprocessableEntity, "%v", err)
		}
		answer, status = p, p.status
	}
	text, is := answer.(string)
	if w.Header().Set("Content-Type", "text/plain; charset=utf-8"); !is {
		body, failure := json.Marshal(answer)
		if failure != nil {
			status, body = http.StatusInternalServerError, fmt.Appendf(nil, "{\"error\":%q}", failure)
		}
		w.Header().Set("Content-Type", "application/json")
		text = string(body) + "\n"
	}
	if s.stopping.Load() {
		w.Header().Set("Connection", "close")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // the client may have left
	s.answered.Add(1)
}

const serviceHelp = `POST /score   {"rows": [...], "samples": K, "seed": 1}: log p of each row in nats
POST /sample  {"n": 100, "given": "NAME=VALUE,NAME=LEAST:GREATEST", "within": false, "gibbs": 0, "seed": 1}: rows from the model
POST /impute  {"rows": [...], "draws": 1, "spread": false, "within": false, "sweeps": 0, "seed": 1}: rows with missing values filled in
GET  /schema  the columns of a row, and the limits of a request

A row is an object by the names of the columns, {"NAME": VALUE}, or a list of the values of all columns. All keys but rows may be left
out. They mean what the flags of helmholtz eval --rows, sample and impute mean.
`

// resource answers requests of one method with a text, or with a value to encode as JSON.
type resource struct {
	method string
	answer func(s *service, ctx context.Context, body []byte) (any, error)
}

var resources = map[string]resource{
	"/":       {"GET", func(*service, context.Context, []byte) (any, error) { return serviceHelp, nil }},
	"/schema": {"GET", (*service).schema},
	"/score":  {"POST", (*service).score},
	"/sample": {"POST", (*service).sample},
	"/impute": {"POST", (*service).impute},
}

// answer returns the answer to a request.
func (s *service) answer(w http.ResponseWriter, r *http.Request) (answer any, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintf(s.command.ErrOrStderr(), "%s %s: %v\n%s", r.Method, r.URL.Path, fault, debug.Stack())
			err = refused(http.StatusInternalServerError, "the program failed on this request: %v", fault)
		}
	}()
	host, _, _ := net.SplitHostPort(r.Host)
	crossing := http.NewCrossOriginProtection().Check(r)
	of, known := resources[r.URL.Path]
	switch {
	case crossing != nil || host != "127.0.0.1" && host != "localhost":
		return nil, refused(http.StatusForbidden, "pages of other origins may send no requests: call http://127.0.0.1 and the port from a program")
	case !known:
		return nil, refused(http.StatusNotFound, "%s is unknown: use POST /score, /sample or /impute, or GET /schema or /", r.URL.Path)
	case r.Method != of.method && !(r.Method == http.MethodHead && of.method == http.MethodGet):
		w.Header().Set("Allow", of.method)
		return nil, refused(http.StatusMethodNotAllowed, "%s %s: use %s", r.Method, r.URL.Path, of.method)
	case of.method == http.MethodGet:
		return of.answer(s, r.Context(), nil)
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.time)
	defer cancel()
	body, err := s.read(w, r)
	if err != nil {
		return nil, err
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		answer, err = of.answer(s, ctx, body)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, refused(http.StatusServiceUnavailable, "the answer takes longer than %v (--max-time): ask for fewer rows, draws, samples or sweeps, or raise --max-time", s.time)
	}
	return answer, err
}

// read reads the body of a request, which is {} if it is empty.
func (s *service) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	deadline := http.NewResponseController(w)
	err := deadline.SetReadDeadline(time.Now().Add(s.time))
	body, failure := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(s.bytes)))
	err = firstOf(err, failure, deadline.SetReadDeadline(time.Time{})) // a deadline that passes later would end the context of the request
	_, long := errors.AsType[*http.MaxBytesError](err)
	switch {
	case long:
		return nil, refused(http.StatusRequestEntityTooLarge, "the body is longer than %d bytes (--max-bytes): send fewer rows, or raise --max-bytes", s.bytes)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, refused(http.StatusRequestTimeout, "the body takes longer than %v (--max-time): send it faster, or raise --max-time", s.time)
	case err != nil:
		return nil, refused(http.StatusBadRequest, "the body cannot be read: %v", err)
	case len(bytes.TrimSpace(body)) == 0:
		return []byte("{}"), nil
	}
	return body, nil
}

// decode decodes a body into a struct of its keys.
func decode(body []byte, into any) error {
	err := plainjson.Decode(body, into)
	of, is := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case is && of.Field != "":
		return refused(http.StatusBadRequest, "the value of %q is a JSON %s: write %s", of.Field, of.Value, cmp.Or(kindsOfValues[of.Type.String()], "a text"))
	case is:
		err = fmt.Errorf("it is a JSON %s", of.Value)
		fallthrough
	case err != nil:
		return refused(http.StatusBadRequest, "the body is not a JSON object of this resource: %v", err)
	}
	return nil
}

// limit refuses a number that is below the least one, or above --max-draws.
func (s *service) limit(key string, n, least int) error {
	switch {
	case n < least:
		return refused(http.StatusBadRequest, "%s is %d: give at least %d", key, n, least)
	case n > s.draws:
		return refused(http.StatusBadRequest, "%s is %d, above %d (--max-draws): ask for fewer, or raise --max-draws", key, n, s.draws)
	}
	return nil
}

// schema describes a row and the limits of requests.
func (s *service) schema(context.Context, []byte) (any, error) {
	columns := []map[string]any{}
	for _, c := range s.columns {
		of := map[string]any{"name": c.Name, "kind": c.Kind}
		if c.Values != nil {
			of["values"] = c.Values
		}
		if n := c.Numbers; n != nil { // of the training file
			of["least"], of["greatest"], of["decimals"] = n.Least, n.Greatest, n.Decimals
		}
		columns = append(columns, of)
	}
	return map[string]any{
		"run": s.run.Dir(), "model": s.run.Noun(), "version": runs.Version(), "unit": "nats", "columns": columns,
		"limits": map[string]any{"max-bytes": s.bytes, "max-rows": s.rows, "max-draws": s.draws, "max-time": s.time.String()},
	}, nil
}

// input returns the rows of a request: objects by the names of columns, or lists of the values of all columns. Columns without units
// that no row has are left out. Columns with units stay, so that errors name the rows that lack them.
func (s *service) input(text json.RawMessage) (in dataset.Input, err error) {
	d := json.NewDecoder(bytes.NewReader(text)) // whose errors Decode has found
	d.UseNumber()
	if start, _ := d.Token(); start != json.Delim('[') || !d.More() {
		return in, refused(http.StatusBadRequest, "rows is not a list with rows: write \"rows\": [{\"NAME\": VALUE, ...}, ...]")
	}
	var known []string
	var used []bool
	places := map[string]int{}
	for i, c := range s.columns {
		known, used, places[c.Name] = append(known, c.Name), append(used, c.Units > 0), i
	}
	in = dataset.Input{Name: "rows", Rows: [][]string{known}}
	for d.More() {
		r := len(in.Rows)
		bad := func(column, format string, values ...any) (dataset.Input, error) {
			return in, &problem{http.StatusBadRequest, fmt.Sprintf("row %d: ", r) + fmt.Sprintf(format, values...), r, column}
		}
		if r > s.rows {
			return in, refused(http.StatusBadRequest, "there are more than %d rows (--max-rows): send fewer at a time, or raise --max-rows", s.rows)
		}
		start, _ := d.Token()
		if start != json.Delim('{') && start != json.Delim('[') {
			return bad("", "%v is neither an object nor a list: write {\"NAME\": VALUE, ...}", start)
		}
		fields, seen, listed := make([]string, len(known)), make([]bool, len(known)), 0
		for ; d.More(); listed++ {
			place := listed
			if start == json.Delim('{') {
				key, _ := d.Token()
				name, _ := key.(string)
				var is bool
				if place, is = places[name]; !is {
					return bad(name, "there is no column %q%s: use %s", name, names.Meant(name, known...), strings.Join(known, ", "))
				}
			}
			if place >= len(known) {
				return bad("", "the list has more than %s: give one for each of %s", names.Count(len(known), "value"), strings.Join(known, ", "))
			}
			value, _ := d.Token()
			if _, nested := value.(json.Delim); nested || seen[place] {
				return bad(known[place], "column %q stands twice, or has a list or an object: give it one text or number", known[place])
			}
			if seen[place] = true; value != nil {
				fields[place], used[place] = fmt.Sprint(value), true
			}
		}
		if _, err := d.Token(); err != nil || start == json.Delim('[') && listed < len(known) {
			return bad("", "the list has %s: give one for each of %s, and null where it is missing", names.Count(listed, "value"), strings.Join(known, ", "))
		}
		in.Rows = append(in.Rows, fields)
	}
	for r, row := range in.Rows {
		var kept []string
		for i, field := range row {
			if used[i] {
				kept = append(kept, field)
			}
		}
		in.Rows[r] = kept
	}
	return in, nil
}

func (s *service) score(ctx context.Context, body []byte) (any, error) {
	q := struct {
		Rows    json.RawMessage `json:"rows"`
		Samples int             `json:"samples"` // 0 means the usual number
		Seed    uint64          `json:"seed"`
	}{Seed: 1}
	err := firstOf(decode(body, &q), s.limit("samples", q.Samples, 0))
	if err != nil {
		return nil, err
	}
	if how, err := s.run.Evaluation(s.model); q.Samples > 0 && err == nil && !slices.Contains(how.Uses, "samples") {
		return nil, refused(http.StatusBadRequest, "samples: %s; leave it out", cmp.Or(exactLogP(s.model), s.run.Noun()+" does not use it"))
	}
	in, err := s.input(q.Rows)
	if err != nil {
		return nil, err
	}
	o := runs.EvaluationOptions{Set: s.set, Samples: q.Samples, Seed: q.Seed}
	if o.Rows, err = s.set.ParseRows(in); err != nil {
		return nil, malformed(err)
	}
	scores, err := scored(ctx, s.run, s.model, &o, s.training)
	if err != nil {
		return nil, err
	}
	var rows bytes.Buffer
	err = scores.table().WriteJSON(&rows)
	answer := map[string]any{"unit": "nats", "how": scores.what, "rows": json.RawMessage(rows.Bytes())}
	if notice := o.Rows.Notice(); notice != "" {
		answer["notice"] = notice
	}
	return answer, err
}

func (s *service) sample(ctx context.Context, body []byte) (any, error) {
	q := drawn{N: 100, Seed: 1}
	err := firstOf(decode(body, &q), s.limit("n", q.N, 1), s.limit("gibbs", q.Gibbs, 0))
	if err != nil {
		return nil, err
	}
	var given []dataset.Given
	if q.Given != "" {
		if given, err = s.set.ParseGiven(q.Given); err != nil {
			return nil, refused(http.StatusBadRequest, "%v", err)
		}
	}
	kind, sweeps := q.rowKind(s.model, given != nil)
	d, err := drawingOf(s.command, s.run, s.model, kind, sweeps, nil)
	if err != nil {
		return nil, err
	}
	if d.Kind != "draws" && d.Kind != "means" {
		return nil, s.run.Lacks("draws no rows")
	}
	sheets, among, err := q.draw(ctx, s.run, s.model, s.set, d, given, q.sampling(runs.Chain{}))
	if err != nil {
		return nil, err
	}
	rows, err := q.rows(s.set, sheets[0], given, d, "json")
	return map[string]any{"kind": d.Kind, "drawn": among, "rows": json.RawMessage(rows)}, err
}

func (s *service) impute(ctx context.Context, body []byte) (any, error) {
	q := imputing{Draws: 1, Seed: 1}
	err := firstOf(decode(body, &q), s.limit("draws", q.Draws, 1), s.limit("sweeps", q.Sweeps, 0))
	if err != nil {
		return nil, err
	}
	by, err := s.run.Imputation(s.model)
	if err != nil {
		return nil, err
	}
	if by.Sweeps == 0 && q.Sweeps > 0 {
		return nil, refused(http.StatusBadRequest, "sweeps: %s draws without chains; leave it out", s.run.Noun())
	}
	if q.Spread && q.Draws == 1 {
		return nil, refused(http.StatusBadRequest, "spread summarises several draws: give their number, such as \"draws\": 100")
	}
	in, err := s.input(q.Rows)
	if err != nil {
		return nil, err
	}
	if n := (len(in.Rows) - 1) * q.Draws; n > s.draws {
		return nil, refused(http.StatusBadRequest, "%d draws of all rows, above %d (--max-draws): ask for fewer, or raise --max-draws", n, s.draws)
	}
	gaps, err := s.set.ParseGaps(in)
	if err != nil {
		return nil, malformed(err)
	}
	rows, how, err := q.impute(ctx, by, gaps, "json", nil)
	answer := map[string]any{"missing": gaps.Missing, "repeated": how.Again, "rows": json.RawMessage(rows)}
	if notice := gaps.Rows.Notice(); notice != "" {
		answer["notice"] = notice
	}
	if how.Effective > 0 {
		answer["effective"], answer["fewest_effective"] = how.Effective, how.Fewest
	}
	if by.Sweeps > 0 {
		answer["moved"] = how.Moved
	}
	return answer, err
}
