package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// serving starts the command serve. stop ends it as an interrupt would, and ended returns its exit code and what it said.
func serving(t *testing.T, args ...string) (address string, stop func(), ended func() (int, string)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, printed := io.Pipe()
	var says bytes.Buffer
	var code int
	done := make(chan struct{})
	go func() {
		defer close(done)
		code = run(ctx, append([]string{"serve"}, args...), printed, &says)
		printed.Close()
	}()
	ended = func() (int, string) { <-done; return code, says.String() }
	t.Cleanup(func() { stop(); <-done })
	line, err := bufio.NewReader(out).ReadString('\n')
	var at struct{ Address string }
	if err == nil {
		err = json.Unmarshal([]byte(line), &at)
	}
	if err != nil {
		code, text := ended()
		t.Fatalf("serve %v printed %q and ended with %d: %s", args, line, code, text)
	}
	return at.Address, stop, ended
}

// post returns the status and the decoded answer to a request.
func post(t *testing.T, client *http.Client, url, body string) (int, map[string]any) {
	answer, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, nil
	}
	defer answer.Body.Close()
	var of map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&of); err != nil {
		t.Error(err)
	}
	return answer.StatusCode, of
}

// servedRun trains a Helmholtz machine on a table of people in a folder, and returns rows of the table in JSON.
func servedRun(t *testing.T) (rows string) {
	t.Chdir(t.TempDir())
	text := "id,age,pay,town,sick\n"
	for i := range 60 {
		text += fmt.Sprintf("p%d,%d,%d.25,%s,%s\n", i, 20+i*i%31, i*i%7, []string{"Aa", "Bb", "3"}[i%4%3], []string{"no", "yes"}[i%2])
	}
	if err := os.WriteFile("people.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, strings.Fields("train --layers 3 --groups data --standardize --binarization real --columns town=categorical --dataset people.csv --epochs 1 --out hm")...)
	return `[{"id":"x","age":31,"pay":2.25,"town":3,"sick":"no"},{"id":"y","age":40,"pay":"1.25","town":"Bb","sick":"yes"}]`
}

// The answers of serve are the rows of eval, sample and impute, for objects and lists, and for 64 clients at once.
func TestServe(t *testing.T) {
	rows := servedRun(t)
	gaps := strings.NewReplacer("31", "null", `,"town":"Bb"`, "").Replace(rows)
	for path, text := range map[string]string{"rows.json": rows, "gaps.json": strings.Replace(gaps, `"pay":"1.25"`, `"pay":"1.25","town":null`, 1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at, _, _ := serving(t, "hm")
	lists := strings.NewReplacer(`"id":`, "", `"age":`, "", `"pay":`, "", `"town":`, "", `"sick":`, "", "{", "[", "}", "]").Replace(rows)
	var want [64]map[string]any
	for _, c := range []struct{ path, body, command string }{
		{"/score", `{"rows":` + rows + `,"seed":SEED,"samples":40}`, "eval hm --rows rows.json --seed SEED --samples 40 --table answer.json"},
		{"/score", `{"rows":` + lists + `,"seed":SEED}`, "eval hm --rows rows.json --seed SEED --table answer.json"},
		{"/sample", `{"n":3,"seed":SEED}`, "sample hm --n 3 --seed SEED --out answer.json"},
		{"/sample", `{"n":3,"seed":SEED,"given":"town=Bb,age=25:40","within":true}`, "sample hm --n 3 --given town=Bb,age=25:40 --within --seed SEED --out answer.json"},
		{"/impute", `{"rows":` + gaps + `,"seed":SEED}`, "impute hm gaps.json --seed SEED --out answer.json"},
		{"/impute", `{"rows":` + gaps + `,"seed":SEED,"draws":4,"sweeps":2,"within":true}`, "impute hm gaps.json --draws 4 --sweeps 2 --within --seed SEED --out answer.json"},
		{"/impute", `{"rows":` + gaps + `,"seed":SEED,"draws":4,"spread":true,"sweeps":1}`, "impute hm gaps.json --draws 4 --sweeps 1 --spread --seed SEED --out answer.json"},
	} {
		for seed := range 2 {
			body := strings.ReplaceAll(c.body, "SEED", fmt.Sprint(seed))
			succeed(t, strings.Fields(strings.ReplaceAll(c.command, "SEED", fmt.Sprint(seed)))...)
			text, err := os.ReadFile("answer.json")
			var file []any
			if err == nil {
				err = json.Unmarshal(text, &file)
			}
			if err != nil {
				t.Fatal(err)
			}
			status, of := post(t, http.DefaultClient, at+c.path, body)
			if status != http.StatusOK || !reflect.DeepEqual(of["rows"], any(file)) || len(file) == 0 {
				t.Errorf("%s %s: status %d, %v, want the rows %v", c.path, body, status, of, file)
			}
		}
	}
	if _, of := post(t, http.DefaultClient, at+"/impute", `{"rows":[{"town":3}]}`); !strings.Contains(fmt.Sprintf("%#v", of["rows"]), `"town":"3"`) {
		t.Errorf("a category among words is not text: %v", of)
	}
	request := func(i int) (path, body string) {
		if i%2 == 0 {
			return "/score", fmt.Sprintf(`{"rows":%s,"seed":%d,"samples":20}`, rows, i)
		}
		return "/impute", fmt.Sprintf(`{"rows":%s,"seed":%d,"sweeps":1}`, gaps, i)
	}
	for i := range want {
		path, body := request(i)
		_, want[i] = post(t, http.DefaultClient, at+path, body)
	}
	if reflect.DeepEqual(want[0], want[2]) || reflect.DeepEqual(want[1], want[3]) {
		t.Error("two seeds give the same answer")
	}
	var all sync.WaitGroup
	for i := range want {
		all.Go(func() {
			path, body := request(i)
			for range 2 {
				if status, of := post(t, http.DefaultClient, at+path, body); status != http.StatusOK || !reflect.DeepEqual(of, want[i]) {
					t.Errorf("client %d: status %d, %v, want %v", i, status, of, want[i])
				}
			}
		})
	}
	all.Wait()
}

// Requests that cannot be answered get an error in JSON, with the row and the column of the fault or the flag of a limit.
func TestServeRefuses(t *testing.T) {
	labels, err := filepath.Abs(filepath.Join(fixtures, "v3/labels/whole"))
	if err != nil {
		t.Fatal(err)
	}
	row := strings.TrimSuffix(strings.TrimPrefix(servedRun(t), "["), "]")
	first, _, _ := strings.Cut(row, ",{")
	at, _, _ := serving(t, "hm", "--max-bytes", "2000", "--max-rows", "3", "--max-draws", "50")
	for _, c := range []struct {
		path, body string
		status     int
		says       string
		row        float64
		column     string
	}{
		{"/score", ``, 400, "rows is not a list", 0, ""},
		{"/score", `{"rows":[]}`, 400, "rows is not a list", 0, ""},
		{"/score", `{"rows":[` + first, 400, "unexpected EOF", 0, ""},
		{"/score", `[` + first + `]`, 400, "not a JSON object of this resource: it is a JSON array", 0, ""},
		{"/score", `{"rows":[` + first + `]} {}`, 400, "more after its object", 0, ""},
		{"/score", `{"rows":[` + first + `],"Seed":1}`, 400, `unknown key "Seed" (did you mean "seed"?)`, 0, ""},
		{"/score", `{"rows":[` + first + `],"draws":1}`, 400, `unknown key "draws"`, 0, ""},
		{"/score", `{"rows":[` + first + `],"seed":-1}`, 400, "a whole number of at least 0", 0, ""},
		{"/score", `{"rows":[` + first + `],"samples":-1}`, 400, "samples is -1: give at least 0", 0, ""},
		{"/score", `{"rows":[` + first + `,7]}`, 400, "neither an object nor a list", 2, ""},
		{"/score", `{"rows":[` + first + `,{"ago":3}]}`, 400, `no column "ago" (did you mean "age"?)`, 2, "ago"},
		{"/score", `{"rows":[` + first + `,{"age":[3]}]}`, 400, `column "age" stands twice, or has a list`, 2, "age"},
		{"/score", `{"rows":[{"age":3,"age":3}]}`, 400, `column "age" stands twice`, 1, "age"},
		{"/score", `{"rows":[["x",31,2.25,"Aa"]]}`, 400, "the list has 4 values: give one for each of id, age", 1, ""},
		{"/score", `{"rows":[["x",31,2.25,"Aa","no",1]]}`, 400, "more than 5 values", 1, ""},
		{"/score", `{"rows":[` + row + `,{"age":31,"pay":2.25,"sick":"no"}]}`, 400, "a missing value", 3, "town"},
		{"/score", `{"rows":[` + first + `,` + strings.Replace(first, "31", `"row 9"`, 1) + `]}`, 400, `"row 9" on row 2 is not a number`, 2, "age"},
		{"/score", `{"rows":[` + strings.Replace(first, `3,"sick"`, `"column \"x\"","sick"`, 1) + `]}`, 400, "not a value of the training data", 1, "town"},
		{"/impute", `{"rows":[` + strings.Replace(first, `"no"`, `true`, 1) + `]}`, 400, `"true", which is not a value of the training data (no, yes)`, 1, "sick"},
		{"/score", `{"rows":[` + row + `,` + row + `]}`, 400, "more than 3 rows (--max-rows)", 0, ""},
		{"/score", `{"rows":[` + strings.Repeat(row+",", 30) + row + `]}`, 413, "longer than 2000 bytes (--max-bytes)", 0, ""},
		{"/score", `{"rows":[` + first + `],"samples":51}`, 400, "samples is 51, above 50 (--max-draws)", 0, ""},
		{"/sample", `{"n":51}`, 400, "n is 51, above 50 (--max-draws)", 0, ""},
		{"/sample", `{"n":1,"given":"town=Cc"}`, 400, "no training row has this value", 0, ""},
		{"/sample", `{"given":3}`, 400, "write a text", 0, ""},
		{"/impute", `{"rows":[` + row + `],"draws":26}`, 400, "52 draws of all rows, above 50 (--max-draws)", 0, ""},
		{"/impute", `{"rows":[` + row + `],"spread":true}`, 400, "spread summarises several draws", 0, ""},
		{"/tell", `{}`, 404, "/tell is unknown", 0, ""},
		{"/schema", `{}`, 405, "POST /schema: use GET", 0, ""},
	} {
		status, of := post(t, http.DefaultClient, at+c.path, c.body)
		text, _ := of["error"].(string)
		place, _ := of["row"].(float64)
		column, _ := of["column"].(string)
		if status != c.status || !strings.Contains(text, c.says) || place != c.row || column != c.column {
			t.Errorf("%s %s: status %d, %v, want %d, row %v, column %q and %q", c.path, c.body, status, of, c.status, c.row, c.column, c.says)
		}
	}
	for _, header := range []http.Header{{"Host": {"example.org"}}, {"Origin": {"http://example.org"}}} {
		r, err := http.NewRequest("POST", at+"/sample", strings.NewReader(`{"n":1}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header, r.Host = header, header.Get("Host")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != http.StatusForbidden {
			t.Errorf("%v: status %d", header, answer.StatusCode)
		}
	}
	answer, err := http.Get(at + "/schema")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if want := `{"decimals":2,"greatest":4.25,"kind":"real","least":0.25,"name":"pay"}`; err != nil || !strings.Contains(string(text), want) || !strings.Contains(string(text), `"max-rows":3`) {
		t.Errorf("error %v: the schema is %s, without %s", err, text, want)
	}
	late, _, _ := serving(t, "hm", "--max-time", "1us")
	if status, of := post(t, http.DefaultClient, late+"/sample", `{"n":100}`); status != 503 && status != 408 || !strings.Contains(fmt.Sprint(of), "--max-time") {
		t.Errorf("after the time limit: status %d, %v", status, of)
	}
	for says, args := range map[string][]string{
		"--max-time 0s: give a time above 0":                           {"hm", "--max-time", "0"},
		"--port " + at[strings.LastIndex(at, ":")+1:] + ": listen tcp": {"hm", "--port", at[strings.LastIndex(at, ":")+1:]},
		"are not a file with columns":                                  {labels},
	} {
		if code, _, out := helmholtz(t, t.Context(), append([]string{"serve"}, args...)...); code == 0 || !strings.Contains(out, says) {
			t.Errorf("serve %v ended with %d and said %q, not %q", args, code, out, says)
		}
	}
}

// A service that could not read the training rows reads them again for the next request.
func TestServeReadsTrainingRowsAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	var text, row []string
	for i := range 60 {
		var fields []string
		for j := range 30 {
			fields = append(fields, fmt.Sprint((i*i+3*i*j+j)%7%2))
		}
		text = append(text, strings.Join(fields, ","))
	}
	row = strings.Split(text[0], ",")
	for j := range row {
		row[j] = fmt.Sprintf("c%d", j)
	}
	if err := os.WriteFile("bits.csv", []byte(strings.Join(row, ",")+"\n"+strings.Join(text, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, strings.Fields("train --algorithm cd --batch 10 --layers 30 --dataset bits.csv --epochs 1 --out rbm")...)
	at, _, _ := serving(t, "rbm")
	for _, move := range []struct {
		from, to string
		status   int
	}{{"bits.csv", "away.csv", http.StatusUnprocessableEntity}, {"away.csv", "bits.csv", http.StatusOK}} {
		if err := os.Rename(move.from, move.to); err != nil {
			t.Fatal(err)
		}
		if status, of := post(t, http.DefaultClient, at+"/score", `{"rows":[[`+text[0]+`]]}`); status != move.status {
			t.Errorf("the rows are in %s: status %d, %v", move.to, status, of)
		}
	}
}

// A service that stops refuses new connections, answers the requests whose bodies still arrive and one more on a connection
// without a request, and ends successfully.
func TestServeLosesNothing(t *testing.T) {
	before := idleGrace
	idleGrace = time.Hour // until all connections have ended
	t.Cleanup(func() { idleGrace = before })
	servedRun(t)
	at, stop, ended := serving(t, "hm")
	idle := &http.Client{Transport: &http.Transport{}}
	if status, of := post(t, idle, at+"/sample", `{"n":1}`); status != http.StatusOK {
		t.Fatal(status, of)
	}
	var reading, all sync.WaitGroup
	var bodies [16]*io.PipeWriter
	for i := range bodies {
		body, writer := io.Pipe()
		bodies[i] = writer
		reading.Add(1)
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: reading.Done})
		r, err := http.NewRequestWithContext(ctx, "POST", at+"/sample", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Expect", "100-continue")
		client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Hour}}
		all.Go(func() {
			answer, err := client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK || !answer.Close || !bytes.Contains(text, []byte(`"rows":[{`)) {
				t.Errorf("error %v, status %d, close %v: %s", err, answer.StatusCode, answer.Close, text)
			}
		})
	}
	reading.Wait()
	stop()
	for {
		connection, err := net.Dial("tcp", strings.TrimPrefix(at, "http://"))
		if err != nil {
			break
		}
		connection.Close()
	}
	if status, of := post(t, idle, at+"/sample", `{"n":1}`); status != http.StatusOK {
		t.Errorf("a connection without a request gets the status %d, %v", status, of)
	}
	for i, body := range bodies {
		fmt.Fprintf(body, `{"n":3,"seed":%d}`, i)
		body.Close()
	}
	all.Wait()
	if code, says := ended(); code != 0 || says != "stopped after 18 answers\n" {
		t.Errorf("serve ended with %d and said %q", code, says)
	}
}

// Connections that wait when the service stops are accepted before the listener closes.
func TestListenerAcceptsThoseThatWait(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not tell whether connections wait")
	}
	ctx, stop := context.WithCancel(t.Context())
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		c, err := net.Dial("tcp", at.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	l := &listener{at.(*net.TCPListener), ctx}
	stop()
	if err := l.SetDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("without connections, the listener returns %v", err)
	}
}
