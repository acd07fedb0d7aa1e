//go:build unix

package proxy

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The tests of this file take minutes. They run the kernel with the real GoNB where
// HELMHOLTZ_TORTURE has the number of trials, as make torture does, and repeat a series
// of trials where HELMHOLTZ_SEED has the seed that it printed.

// trials returns the number of trials and what they are drawn from.
func trials(t *testing.T) (n int, draw *rand.Rand) {
	t.Helper()
	if os.Getenv("HELMHOLTZ_TORTURE") == "" {
		t.Skip("type make torture")
	}
	n, err := strconv.Atoi(os.Getenv("HELMHOLTZ_TORTURE"))
	if err != nil || n < 1 {
		t.Fatalf("HELMHOLTZ_TORTURE=%s: give the number of trials", os.Getenv("HELMHOLTZ_TORTURE"))
	}
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("HELMHOLTZ_SEED"); given != "" {
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("HELMHOLTZ_SEED: %v", err)
		}
	}
	t.Logf("HELMHOLTZ_SEED=%d", seed)
	return n, rand.New(rand.NewPCG(seed, 0))
}

// program builds the program helmholtz.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "helmholtz")
	build := exec.Command("go", "build", "-o", path, "./cmd/helmholtz")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// real is a kernel as Jupyter starts it.
type real struct {
	*exec.Cmd
	*client
	place connection
}

// startReal starts a kernel in a folder, and returns when it answers.
func startReal(t *testing.T, program, folder string) *real {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := place(t)
	k := exec.Command(program, "kernel", "run", "--module", root, c.path, "-raw_error", "-logtostderr=true")
	k.Dir = folder
	log, err := os.OpenFile(filepath.Join(folder, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	k.Stdout, k.Stderr = log, log
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = k.Process.Kill()
		_ = k.Wait()
	})
	network, address := c.address(c.Heartbeat)
	within(t, patience, "a kernel listens", func() bool { return reachable(network, address) })
	return &real{k, (&started{connection: c}).connect(t), c}
}

// answered says whether the answer to a request comes in time.
func (k *real) answered(on *wire, kind, id string, inTime time.Duration) bool {
	k.t.Helper()
	if err := on.SetReadDeadline(time.Now().Add(inTime)); err != nil {
		k.t.Fatal(err)
	}
	for {
		frames, err := on.receive()
		if err != nil {
			k.t.Log(err)
			return false
		}
		m, err := k.key.parse(frames)
		if err != nil {
			k.t.Fatal(err)
		}
		var parent header
		if err := json.Unmarshal(m.parent, &parent); err != nil {
			k.t.Fatal(err)
		}
		if parent.ID == id && m.Header.Type == kind {
			return true
		}
	}
}

// printed runs a cell and returns what it prints.
func (k *real) printed(cell string) string {
	k.t.Helper()
	_, text := k.outputs(k.request(k.shell, "execute_request", code(cell)))
	_, text, _ = strings.Cut(text, "["+cell+"]")
	return text
}

// reachable says whether something listens at an address.
func reachable(network, address string) bool {
	c, err := net.Dial(network, address)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// within fails unless something is so in time.
func within(t *testing.T, inTime time.Duration, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(inTime); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%v are over before %s", inTime, what)
		}
	}
}

// pieces are what cells are made of that GoNB may have trouble with.
var pieces = []string{
	"", " ", "\t", "\n", "\n", "\r", "(", ")", "{", "}", "[", "]", ",", "\"", "`", "'", "\\", "\\\n", ".", "x", "η", "😀", "\u200b", "\x00", "\ufffd",
	"%", "!", "% ", "! ", "%%", "%% ", "%%bash", "%%script", "%%writefile", "%ls", "%exec", "%exec f", "%with_inputs", "%test", "%wasm", "%args \"", "%env", "%rm x", "%untrack", "%capture",
	"//gonb:", "//", "/*", "*/", "%hm", "%hm runs", "%hm show x", "%hm save x ", "fmt.", "fmt.Println(", "import \"fmt\"", "import", "func f() {", "func", "func main() {}", "var x = 1", "var x",
	"type T[P any] struct{", "const (", "package main", "return", ":=", "0x", "go ", "x, y := f(", strings.Repeat("x", 3000), strings.Repeat("(", 500), strings.Repeat("\n", 500),
}

// cellOf draws a cell.
func cellOf(draw *rand.Rand) string {
	var b strings.Builder
	for range draw.IntN(8) {
		b.WriteString(pieces[draw.IntN(len(pieces))])
	}
	return b.String()
}

// value draws a value of JSON, most often one of those that are in order.
func value(draw *rand.Rand, inOrder ...any) any {
	odd := []any{nil, true, -1, 0.5, 1e300, -1e300, "", "text", []any{}, map[string]any{"a": []any{nil}}}
	if draw.IntN(8) > 0 {
		return inOrder[draw.IntN(len(inOrder))]
	}
	return odd[draw.IntN(len(odd))]
}

// contentOf draws the content of a message.
func contentOf(draw *rand.Rand) any {
	code := cellOf(draw)
	content := map[string]any{}
	for _, field := range []struct {
		name    string
		inOrder []any
	}{
		{"code", []any{code}}, {"cursor_pos", []any{0, len(code), draw.IntN(len(code) + 1), draw.IntN(len(code) + 1), len(code) + draw.IntN(9)}},
		{"detail_level", []any{0, 1}}, {"silent", []any{false, true}}, {"store_history", []any{true, false}}, {"allow_stdin", []any{false, true}},
		{"value", []any{"answer"}}, {"comm_id", []any{"", "a"}}, {"target_name", []any{"gonb_comm", "other"}}, {"kernel_id", []any{"1"}},
		{"data", []any{map[string]any{"address": value(draw, "#heartbeat/ping", "#heartbeat/pong", "/x"), "value": value(draw, 1)}}},
	} {
		if draw.IntN(12) > 0 {
			content[field.name] = value(draw, field.inOrder...)
		}
	}
	if draw.IntN(20) == 0 {
		return value(draw, nil, []any{}, "text")
	}
	return content
}

// stranger is a client without the key, as anybody on the machine can be, that does one of the
// things that cost a kernel memory or room.
func stranger(t *testing.T, draw *rand.Rand, c connection) net.Conn {
	t.Helper()
	port := draw.IntN(5) + 1
	kind := []string{"DEALER", "DEALER", "DEALER", "SUB", "REQ"}[port-1]
	switch draw.IntN(4) {
	case 0:
		return reach(t, c, port, "")
	case 1:
		return reach(t, c, port, kind)
	case 2: // a message that never ends
		size := draw.IntN(2 * largestMessage)
		return reach(t, c, port, kind, announce(uint64(size)), make([]byte, draw.IntN(min(size, 1<<20)+1)))
	}
	topic := make([]byte, draw.IntN(2*largestTopic))
	return reach(t, c, port, kind, announce(uint64(1+len(topic))), []byte{1}, topic)
}

// residentMB returns what a process takes of the machine's memory.
func residentMB(t *testing.T, pid int) int {
	t.Helper()
	text := string(must(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t))
	_, after, _ := strings.Cut(text, "VmRSS:")
	kB := must(strconv.Atoi(strings.Fields(after)[0]))(t)
	return kB >> 10
}

// TestStrangers has clients without the key connect to a kernel, ten for each trial, and leave at
// random. The kernel takes no more memory than the budget for what is not verified, twice over
// since memory is collected late, and serves front ends old and new all the while.
func TestStrangers(t *testing.T) {
	needProcesses(t)
	n, draw := trials(t)
	k := startReal(t, program(t), t.TempDir())
	before, most := residentMB(t, k.Process.Pid), 0
	var there []net.Conn
	for i := range n {
		for range 10 {
			there = append(there, stranger(t, draw, k.place))
		}
		for len(there) > 1000 {
			leaves := draw.IntN(len(there))
			there[leaves].Close()
			there = slices.Delete(there, leaves, leaves+1)
		}
		if got := k.printed(fmt.Sprintf("!echo %d", i)); got != fmt.Sprintln(i) {
			t.Fatalf("after %d strangers a cell prints %q", 10*(i+1), got)
		}
		if i%100 == 99 || i == n-1 {
			newer := (&started{connection: k.place}).connect(t)
			id := newer.request(newer.shell, "execute_request", code("!echo new"))
			if _, text := newer.outputs(id); !strings.HasSuffix(text, "new\n") {
				t.Fatalf("after %d strangers a new front end's cell prints %q", 10*(i+1), text)
			}
		}
		most = max(most, residentMB(t, k.Process.Pid))
	}
	for _, c := range there {
		c.Close()
	}
	if bound := before + 3*mostUnverified>>20; most > bound {
		t.Errorf("the kernel took %d MB of memory, where %d were expected at most", most, bound)
	}
	t.Logf("%d strangers: the kernel took %d MB, at most %d, and %d when they had left", 10*n, before, most, residentMB(t, k.Process.Pid))
}

// TestOddMessages sends a kernel what it may not like, and wants an answer to each
// request, and that a cell runs after each hundred.
func TestOddMessages(t *testing.T) {
	n, draw := trials(t)
	k := startReal(t, program(t), t.TempDir())
	kinds := []string{
		"inspect_request", "inspect_request", "inspect_request", "complete_request", "complete_request", "execute_request", "kernel_info_request", "is_complete_request", "history_request",
		"comm_info_request", "comm_open", "comm_msg", "comm_close", "interrupt_request", "debug_request", "input_reply", "x", "_request",
	}
	// The first of these waits for gopls to read the library.
	k.answered(k.shell, "inspect_reply", k.request(k.shell, "inspect_request", map[string]any{"code": "fmt.Println()", "cursor_pos": 6}), 3*patience)
	slowest := time.Second
	for i := range n {
		kind := kinds[draw.IntN(len(kinds))]
		content := contentOf(draw)
		m := answer(kind, encode(header{Session: "test"}), content)
		m.parent, m.metadata = []byte("{}"), []byte("{}")
		switch draw.IntN(20) {
		case 0:
			m.parent = []byte([]string{"null", "[]", `{"msg_id":7}`, ""}[draw.IntN(4)])
		case 1:
			m.metadata = []byte([]string{"null", "[]", `{"a":`}[draw.IntN(3)])
		}
		frames := k.key.frames(m)
		on, name := k.shell, "shell"
		switch draw.IntN(10) {
		case 0:
			on, name = k.control, "control"
		case 1: // what is damaged has no answer, and may cost the connection
			damage(draw, frames)
			w := dial(t, k.place, []int{k.place.Shell, k.place.Control, k.place.Stdin}[draw.IntN(3)], "DEALER", "")
			_ = w.send(frames)
			continue
		}
		sent := time.Now()
		if err := on.send(frames); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if base, ok := strings.CutSuffix(kind, "_request"); ok {
			if !k.answered(on, base+"_reply", m.Header.ID, patience) {
				t.Fatalf("message %d on %s is not answered:\n%s %s", i, name, kind, encode(content))
			}
		}
		if took := time.Since(sent); took > slowest {
			slowest = took
			t.Logf("message %d took %v: %s %.300s", i, took, kind, encode(content))
		}
		if i%100 == 99 || i == n-1 {
			if got := k.printed(fmt.Sprintf("%%hm runs\n!echo %d", i)); !strings.HasSuffix(got, fmt.Sprintln(i)) || !strings.Contains(got, "no runs") {
				t.Fatalf("after message %d a cell prints %q", i, got)
			}
		}
	}
	log, err := os.ReadFile(filepath.Join(k.Dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d messages, %d of which ended GoNB", n, strings.Count(string(log), "kernel created")-1)
	for rest := string(log); ; {
		_, after, found := strings.Cut(rest, "panic: ")
		if !found {
			break
		}
		t.Logf("GoNB panicked: %.1500s", after)
		rest = after
	}
}

// damage changes a message beyond what has a signature.
func damage(draw *rand.Rand, frames [][]byte) {
	f := draw.IntN(len(frames))
	switch draw.IntN(3) {
	case 0:
		frames[f] = nil
	case 1:
		frames[f] = []byte(strings.Repeat("\xff", draw.IntN(300)))
	case 2:
		frames[f] = append([]byte{byte(draw.IntN(256))}, frames[f]...)
	}
}
