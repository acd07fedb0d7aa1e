//go:build unix

package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what has to come.
const patience = 20 * time.Second

// started is a kernel under test.
type started struct {
	*Kernel
	connection
	stop  func()
	ended chan error
}

// printer has a magic that prints its line, the magic wait, which first waits for a value of
// released, and the magic fail.
type printer struct{}

var released = make(chan struct{})

func (printer) Run(_ context.Context, line string) (string, error) {
	switch line {
	case "wait":
		<-released
	case "fail":
		return "", errors.New("%hm fail: it failed")
	}
	return "magic " + line, nil
}
func (printer) Complete(line string) []string { return []string{line + "!"} }
func (printer) Inspect(line string) string    { return "about " + line }
func (printer) Hover(said string) string {
	return strings.Replace(said, "func f()", "func f(), a setting", 1)
}
func (printer) Suggest(report string) string {
	return strings.Replace(report, "fmt.Printn", "fmt.Printn (Println?)", 1)
}

// place returns a connection file and an empty directory for a kernel.
func place(t *testing.T) (c connection, ours string) {
	t.Helper()
	// Paths of sockets have to be short.
	dir, err := os.MkdirTemp("/tmp", "kernel-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c = connection{
		Scheme: "hmac-sha256", Transport: "ipc", IP: filepath.Join(dir, "front"), Key: "secret",
		Shell: 1, Control: 2, Stdin: 3, IOPub: 4, Heartbeat: 5, path: filepath.Join(dir, "kernel-1.json"),
	}
	if err := os.WriteFile(c.path, encode(c), 0o600); err != nil {
		t.Fatal(err)
	}
	ours = filepath.Join(dir, "ours")
	if err := os.Mkdir(ours, 0o700); err != nil {
		t.Fatal(err)
	}
	return c, ours
}

func startKernel(t *testing.T) *started {
	t.Helper()
	log.SetOutput(io.Discard)
	c, ours := place(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k, err := New(Options{
		ConnectionFile: c.path, Guard: []string{self, "guard"}, GoNB: []string{self},
		Environment: append(os.Environ(), "PRETEND_GO="+pretendGo(t)), Directory: ours, Magics: printer{}, Stop: func() {},
	})
	if err == nil {
		err = k.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &started{k, c, stop, make(chan error, 1)}
	go func() { s.ended <- k.Wait(ctx) }()
	t.Cleanup(func() {
		stop()
		select {
		case <-s.ended:
		case <-time.After(patience):
			t.Error("the kernel did not end")
		}
		if _, err := os.Stat(ours); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", ours, err)
		}
	})
	return s
}

// pretendGo returns a program called go that sleeps.
func pretendGo(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "go")
	b, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Skip("there is no /bin/sleep")
	}
	if err := os.WriteFile(path, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// client is a front end.
type client struct {
	t                            *testing.T
	key                          key
	shell, control, stdin, iopub *wire
}

func (s *started) connect(t *testing.T) *client {
	t.Helper()
	c := &client{t: t, key: key(s.Key)}
	identity := rand.Text()
	for _, o := range []struct {
		wire *(*wire)
		kind string
		port int
	}{{&c.shell, "DEALER", s.Shell}, {&c.control, "DEALER", s.Control}, {&c.stdin, "DEALER", s.Stdin}, {&c.iopub, "SUB", s.IOPub}} {
		*o.wire = dial(t, s.connection, o.port, o.kind, identity)
	}
	if err := c.iopub.send([][]byte{{1}}); err != nil {
		t.Fatal(err)
	}
	// The subscription has arrived when something is heard.
	heard := make(chan struct{})
	go func() {
		if _, err := c.iopub.receive(); err == nil {
			close(heard)
		}
	}()
	for {
		c.request(c.shell, "kernel_info_request", struct{}{})
		c.receive(c.shell, "kernel_info_reply")
		select {
		case <-heard:
			return c
		default:
		}
	}
}

func dial(t *testing.T, c connection, port int, kind string, identity string) *wire {
	t.Helper()
	network, address := c.address(port)
	connected, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	w := newWire(connected, largestOutput)
	if err := w.open(kind, identity); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// request sends a request and returns its id.
func (c *client) request(on *wire, kind string, content any) string {
	c.t.Helper()
	m := answer(kind, encode(header{Session: "test"}), content)
	m.parent = []byte("{}")
	if err := on.send(c.key.frames(m)); err != nil {
		c.t.Fatal(err)
	}
	return m.Header.ID
}

// receive returns the next message of a kind, and what its parent's id is.
func (c *client) receive(on *wire, kind string) (*message, string) {
	c.t.Helper()
	if err := on.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	for {
		frames, err := on.receive()
		if err != nil {
			c.t.Fatalf("waiting for %s: %v", kind, err)
		}
		m, err := c.key.parse(frames)
		if err != nil {
			c.t.Fatal(err)
		}
		if m.Header.Type == kind {
			var parent header
			if err := json.Unmarshal(m.parent, &parent); err != nil {
				c.t.Fatal(err)
			}
			return m, parent.ID
		}
	}
}

// outputs returns the messages about a request on iopub until it is done.
func (c *client) outputs(id string) (kinds []string, text string) {
	c.t.Helper()
	var printed strings.Builder
	for {
		if err := c.iopub.SetReadDeadline(time.Now().Add(patience)); err != nil {
			c.t.Fatal(err)
		}
		frames, err := c.iopub.receive()
		if err != nil {
			c.t.Fatalf("outputs: %v", err)
		}
		m, err := c.key.parse(frames)
		if err != nil {
			c.t.Fatal(err)
		}
		var parent header
		var content struct {
			State string `json:"execution_state"`
			Text  string `json:"text"`
			Code  string `json:"code"`
		}
		if err := errors.Join(json.Unmarshal(m.parent, &parent), json.Unmarshal(m.content, &content)); err != nil {
			c.t.Fatal(err)
		}
		if parent.ID != id {
			continue
		}
		kinds = append(kinds, m.Header.Type+content.State)
		printed.WriteString(content.Text)
		if m.Header.Type == "execute_input" {
			printed.WriteString("[" + content.Code + "]")
		}
		if content.State == "idle" {
			return kinds, printed.String()
		}
	}
}

func code(c string) map[string]any { return map[string]any{"code": c} }

func (c *client) execute(cell string) (output string) {
	c.t.Helper()
	id := c.request(c.shell, "execute_request", code(cell))
	if _, parent := c.receive(c.shell, "execute_reply"); parent != id {
		c.t.Fatalf("a reply to %s came for %s", parent, id)
	}
	_, output = c.outputs(id)
	return output
}

func TestMessagesPassBothWays(t *testing.T) {
	c := startKernel(t).connect(t)
	id := c.request(c.shell, "execute_request", code("hello"))
	if _, parent := c.receive(c.shell, "execute_reply"); parent != id {
		t.Errorf("the reply is to %s, not to %s", parent, id)
	}
	kinds, text := c.outputs(id)
	if got := strings.Join(kinds, " "); got != "statusbusy execute_input stream statusidle" || text != "[hello]hello" {
		t.Errorf("outputs %s: %s", got, text)
	}
	id = c.request(c.control, "interrupt_request", struct{}{})
	if _, parent := c.receive(c.control, "interrupt_reply"); parent != id {
		t.Errorf("the reply on control is to %s, not to %s", parent, id)
	}
}

func TestEachReplyReachesItsClient(t *testing.T) {
	s := startKernel(t)
	var all sync.WaitGroup
	for i := range 4 {
		c := s.connect(t)
		all.Go(func() {
			for j := range 50 {
				cell := fmt.Sprintf("cell %d of client %d", j, i)
				if got := c.execute(cell); got != "["+cell+"]"+cell {
					t.Errorf("%s printed %s", cell, got)
				}
			}
		})
	}
	all.Wait()
}

// TestQuestionsReachTheirClient has cells of two clients ask in turn: a question
// that came to the wrong one would be the first that this one hears.
func TestQuestionsReachTheirClient(t *testing.T) {
	s := startKernel(t)
	clients := []*client{s.connect(t), s.connect(t)}
	for i := range 6 {
		c, want := clients[i%2], fmt.Sprintf("answer %d", i)
		id := c.request(c.shell, "execute_request", code("ask"))
		if _, parent := c.receive(c.stdin, "input_request"); parent != id {
			t.Fatalf("client %d is asked for %s, not for its cell %s", i%2, parent, id)
		}
		c.request(c.stdin, "input_reply", map[string]string{"value": want})
		c.receive(c.shell, "execute_reply")
		if _, text := c.outputs(id); text != "[ask]"+want {
			t.Errorf("the cell heard %q, not %q", text, want)
		}
	}
}

// TestCommsPassBothWays sends what widgets send. All front ends hear the answers.
func TestCommsPassBothWays(t *testing.T) {
	s := startKernel(t)
	c, other := s.connect(t), s.connect(t)
	for i, kind := range []string{"comm_open", "comm_msg", "comm_close"} {
		content := map[string]any{"comm_id": "widget", "target_name": "gonb_comm", "data": map[string]int{"value": i}}
		id := c.request(c.shell, kind, content)
		for _, hears := range []*client{c, other} {
			m, parent := hears.receive(hears.iopub, kind)
			if parent != id || !bytes.Equal(m.content, encode(content)) {
				t.Errorf("%s for %s: %s", kind, parent, m.content)
			}
		}
	}
	if got := c.execute("next"); got != "[next]next" {
		t.Errorf("the next cell printed %s", got)
	}
}

func TestClientsComeAndGo(t *testing.T) {
	s := startKernel(t)
	stays := s.connect(t)
	for i := range 20 {
		goes := s.connect(t)
		goes.request(goes.shell, "execute_request", code("unread"))
		goes.shell.Close()
		goes.iopub.Close()
		if got := stays.execute(fmt.Sprint(i)); !strings.HasSuffix(got, fmt.Sprint(i)) {
			t.Fatalf("cell %d printed %s", i, got)
		}
	}
}

func TestHeartbeat(t *testing.T) {
	s := startKernel(t)
	beat := dial(t, s.connection, s.Heartbeat, "REQ", "")
	for range 3 {
		sent := [][]byte{{}, []byte(rand.Text())}
		if err := beat.send(sent); err != nil {
			t.Fatal(err)
		}
		if got, err := beat.receive(); err != nil || len(got) != 2 || !bytes.Equal(got[1], sent[1]) {
			t.Fatalf("heard %q: %v", got, err)
		}
	}
}

func TestNothingUnsignedIsActedUpon(t *testing.T) {
	s := startKernel(t)
	c := s.connect(t)
	forged := answer("execute_request", []byte("{}"), code("forged"))
	wrong := key("wrong").frames(forged)
	missing := key("").frames(forged)
	nonsense := [][][]byte{
		wrong, missing, {{}}, {delimiter}, {[]byte("a"), []byte("b")}, {delimiter, {}, {}, {}, {}, {}},
		c.key.frames(&message{header: []byte("7"), parent: []byte("{}"), metadata: []byte("{}"), content: []byte("{}")}),
		c.key.frames(&message{header: forged.header, parent: []byte("{}"), metadata: []byte("{}"), content: []byte(`{"code":7}`)}),
		c.key.frames(&message{header: forged.header, parent: []byte("{}"), metadata: []byte("{}"), content: []byte("null")}),
		c.key.frames(&message{header: forged.header, parent: []byte("[]"), metadata: []byte("{}"), content: []byte("{}")}),
	}
	for _, port := range []int{s.Shell, s.Control, s.Stdin} {
		w := dial(t, s.connection, port, "DEALER", "")
		for _, frames := range nonsense {
			if err := w.send(frames); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.request(c.shell, "unknown_request", struct{}{})
	// The stand-in ends at the first of these that reaches it, and what it
	// prints of a forged cell would come before what it prints of the next.
	id := c.request(c.shell, "execute_request", code("signed"))
	if err := c.iopub.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for {
		frames, err := c.iopub.receive()
		if err != nil {
			t.Fatal(err)
		}
		if m, err := c.key.parse(frames); err != nil || strings.Contains(string(m.content), "forged") {
			t.Fatalf("heard %s: %v", frames, err)
		} else if strings.Contains(string(m.parent), id) && strings.Contains(string(m.content), "idle") {
			break
		}
	}
}

func TestMagicsRunWhereTheirCellBegins(t *testing.T) {
	c := startKernel(t).connect(t)
	id := c.request(c.shell, "execute_request", code("first\n  %hm runs now\nlast"))
	c.receive(c.shell, "execute_reply")
	kinds, text := c.outputs(id)
	if got := strings.Join(kinds, " "); got != "statusbusy execute_input stream stream statusidle" {
		t.Errorf("messages %s", got)
	}
	if want := "[first\n  %hm runs now\nlast]magic runs nowfirst\n\nlast"; text != want {
		t.Errorf("printed %q, not %q", text, want)
	}
	if got := c.execute("//gonb:%hm runs"); got != "[//gonb:%hm runs]magic runs" {
		t.Errorf("a magic in a comment printed %q", got)
	}
	for _, other := range []string{"%%writefile x\n%hm runs", "//gonb:%%writefile x\n%hm runs", "!echo a \\\n%hm runs"} {
		if got := c.execute(other); got != "["+other+"]"+other {
			t.Errorf("a cell whose magic is part of a command printed %q", got)
		}
	}
	for _, main := range []string{"%%", "%% -n 3", "%%\t-n 3"} {
		if got, want := c.execute(main+"\n%hm runs"), "["+main+"\n%hm runs]magic runs"+main+"\n"; got != want {
			t.Errorf("a cell with arguments printed %q, not %q", got, want)
		}
	}
	if got := c.execute("%hmm\nx%hm"); got != "[%hmm\nx%hm]%hmm\nx%hm" {
		t.Errorf("lines that are no magics printed %q", got)
	}
}

// TestCellsWaitForMagics checks that a cell is answered, and that the next one begins, when the
// magics of the cell have run or are interrupted.
func TestCellsWaitForMagics(t *testing.T) {
	for _, how := range []struct {
		reply, text, next string
		end               func(c *client)
	}{
		{`"ok"`, "magic waitmagic two\n", `"ok"`, func(*client) { released <- struct{}{} }},
		{
			"the cell was interrupted", "the %hm lines were interrupted; a line that had begun continues in the background\n\n", `"aborted"`,
			func(c *client) { c.request(c.control, "interrupt_request", struct{}{}) },
		},
	} {
		s := startKernel(t)
		c := s.connect(t)
		first := c.request(c.shell, "execute_request", code("%hm wait\n%hm two"))
		c.receive(c.iopub, "execute_input")
		second := c.request(c.shell, "execute_request", code("next"))
		within(t, patience, "the next cell waits", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.requests[second] != nil
		})
		time.Sleep(100 * time.Millisecond) // GoNB answers
		how.end(c)
		if m, parent := c.receive(c.shell, "execute_reply"); parent != first || !strings.Contains(string(m.content), how.reply) {
			t.Errorf("the answer is %s", m.content)
		}
		if _, text := c.outputs(first); text != how.text {
			t.Errorf("the cell printed %q, not %q", text, how.text)
		}
		if m, parent := c.receive(c.shell, "execute_reply"); parent != second || !strings.Contains(string(m.content), how.next) {
			t.Errorf("the answer to the next cell is %s", m.content)
		}
	}
	released <- struct{}{} // the interrupted magic ends
}

func TestMagicsAreCompletedAndInspected(t *testing.T) {
	c := startKernel(t).connect(t)
	cell := map[string]any{"code": "η := 1\n%hm sto", "cursor_pos": 14, "detail_level": 0}
	id := c.request(c.shell, "complete_request", cell)
	m, parent := c.receive(c.shell, "complete_reply")
	var completed struct {
		Matches []string
		Start   int `json:"cursor_start"`
		End     int `json:"cursor_end"`
	}
	if err := json.Unmarshal(m.content, &completed); err != nil {
		t.Fatal(err)
	}
	if parent != id || fmt.Sprint(completed) != "{[sto!] 11 14}" {
		t.Errorf("completed %v", completed)
	}
	if kinds, _ := c.outputs(id); strings.Join(kinds, " ") != "statusbusy statusidle" {
		t.Errorf("outputs %v", kinds)
	}
	c.request(c.shell, "inspect_request", cell)
	if m, _ := c.receive(c.shell, "inspect_reply"); !strings.Contains(string(m.content), "about sto") {
		t.Errorf("inspected %s", m.content)
	}
	c.request(c.shell, "complete_request", map[string]any{"code": "x\n%hm s", "cursor_pos": 1})
	if m, _ := c.receive(c.shell, "complete_reply"); strings.Contains(string(m.content), "!") {
		t.Errorf("a line of Go was completed as a magic: %s", m.content)
	}
}

func TestDisplaysGoToTheLastCell(t *testing.T) {
	s := startKernel(t)
	c := s.connect(t)
	id := c.request(c.shell, "execute_request", code("x"))
	c.receive(c.shell, "execute_reply")
	c.outputs(id)
	s.Display("d", map[string]string{"text/html": "<b>"}, false)
	s.Display("d", map[string]string{"text/html": "<i>"}, true)
	for _, kind := range []string{"display_data", "update_display_data"} {
		m, parent := c.receive(c.iopub, kind)
		if parent != id || !strings.Contains(string(m.content), `"display_id":"d"`) {
			t.Errorf("%s for %s: %s", kind, parent, m.content)
		}
	}
}

// alive says whether a process runs.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ") && syscall.Kill(pid, 0) == nil
}

// sleeping starts a cell that sleeps and returns the process that does.
func sleeping(t *testing.T, c *client) (pid int) {
	t.Helper()
	c.request(c.shell, "execute_request", code("sleep"))
	m, _ := c.receive(c.iopub, "stream")
	var content struct{ Text string }
	if err := json.Unmarshal(m.content, &content); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(content.Text)
	if err != nil || !alive(pid) {
		t.Fatalf("no process %q: %v", content.Text, err)
	}
	return pid
}

func needProcesses(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("processes are known by /proc")
	}
}

func TestNoProcessOutlivesTheKernel(t *testing.T) {
	needProcesses(t)
	t.Run("that ends", func(t *testing.T) {
		s := startKernel(t)
		sleeps := sleeping(t, s.connect(t))
		s.stop()
		select {
		case err := <-s.ended:
			s.ended <- err
		case <-time.After(patience):
			t.Fatal("the kernel goes on")
		}
		if alive(sleeps) {
			t.Error("the process of the cell goes on")
		}
	})
	t.Run("that is killed", func(t *testing.T) {
		c, ours := place(t)
		kernel := exec.Command(os.Args[0], "run", c.path, ours)
		says, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer says.Close()
		kernel.Stdout = theirs
		if err := errors.Join(kernel.Start(), theirs.Close(), says.SetReadDeadline(time.Now().Add(patience))); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(says).ReadString('\n'); err != nil {
			t.Fatalf("the kernel says %q: %v", line, err)
		}
		sleeps := sleeping(t, (&started{connection: c}).connect(t))
		if err := kernel.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = kernel.Wait()
		// The pipe ends with the last process that has it, which is the guard.
		if _, err := io.ReadAll(says); err != nil {
			t.Errorf("the guard goes on: %v", err)
		}
		if alive(sleeps) {
			t.Error("the process of the cell goes on")
		}
		if _, err := os.Stat(ours); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", ours, err)
		}
	})
}

// TestGoNBIsStartedAnew kills GoNB, its guard and both.
// A program on the leash ends with the process that started it, whoever kills that.
func TestALeashEndsItsProgram(t *testing.T) {
	needProcesses(t)
	self := must(os.Executable())(t)
	sleep := must(exec.LookPath("sleep"))(t)
	holder := exec.Command("sh", "-c", `"$0" leash "$1" 60 & echo $!; wait`, self, sleep)
	out := must(holder.StdoutPipe())(t)
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	pid := must(strconv.Atoi(strings.TrimSpace(must(bufio.NewReader(out).ReadString('\n'))(t))))(t)
	within(t, patience, "the program runs", func() bool {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		return err == nil && string(name) == "sleep\n"
	})
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	within(t, patience, "the program ends", func() bool { return !alive(pid) })
}

func TestGoNBIsStartedAnew(t *testing.T) {
	needProcesses(t)
	kill := func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }
	for _, how := range []struct {
		name string
		end  func(c *client, guard, gonb int)
	}{
		{"death of GoNB", func(_ *client, _, gonb int) { kill(gonb) }},
		{"death of the guard", func(_ *client, guard, _ int) { kill(guard) }},
		{"death of both", func(_ *client, guard, _ int) { kill(-guard) }},
	} {
		t.Run(how.name, func(t *testing.T) {
			s := startKernel(t)
			c := s.connect(t)
			guard := s.child.guard.Process.Pid
			all := descendants(guard)
			sleeps := sleeping(t, c)
			waits := c.request(c.shell, "execute_request", code("waits"))
			within(t, patience, "the request waits", func() bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.requests[waits] != nil
			})
			how.end(c, guard, all[0].pid)
			// The cell that ran and the one that waited are answered, in either order.
			answered := map[string]bool{}
			for range 2 {
				m, parent := c.receive(c.shell, "execute_reply")
				if answered[parent] = true; !strings.Contains(string(m.content), "restarted") {
					t.Errorf("the answer is %s", m.content)
				}
			}
			if len(answered) != 2 || !answered[waits] {
				t.Errorf("answers came to %v", answered)
			}
			if got := c.execute("next"); got != "[next]next" {
				t.Errorf("the next cell printed %s", got)
			}
			for _, pid := range append([]int{guard, sleeps}, all[0].pid) {
				if alive(pid) {
					t.Errorf("process %d goes on", pid)
				}
			}
		})
	}
	t.Run("a cell that ends GoNB", func(t *testing.T) {
		c := startKernel(t).connect(t)
		id := c.request(c.shell, "execute_request", code("die"))
		if m, parent := c.receive(c.shell, "execute_reply"); parent != id || !strings.Contains(string(m.content), `"error"`) {
			t.Errorf("the answer to %s is %s", parent, m.content)
		}
		if kinds, _ := c.outputs(id); !slices.Contains(kinds, "error") {
			t.Errorf("outputs %v", kinds)
		}
		if got := c.execute("next"); got != "[next]next" {
			t.Errorf("the next cell printed %s", got)
		}
	})
}

// hang asks a kernel for an inspection that its GoNB does not answer in time, and returns
// when it has given up.
func hang(t *testing.T, s *started, c *client, inspected string) {
	t.Helper()
	s.mu.Lock()
	s.answerTime = time.Millisecond
	s.mu.Unlock()
	id := c.request(c.shell, "inspect_request", map[string]any{"code": inspected, "cursor_pos": 0})
	if m, parent := c.receive(c.shell, "inspect_reply"); parent != id || !strings.Contains(string(m.content), "not answered in time") {
		t.Fatalf("the answer to %s is %s", parent, m.content)
	}
	if kinds, _ := c.outputs(id); kinds[len(kinds)-1] != "statusidle" {
		t.Errorf("outputs %v", kinds)
	}
}

func TestAGoNBThatHangsIsStartedAnew(t *testing.T) {
	t.Run("by an interrupt", func(t *testing.T) {
		s := startKernel(t)
		c := s.connect(t)
		hang(t, s, c, "hang")
		c.request(c.control, "interrupt_request", struct{}{})
		c.receive(c.control, "interrupt_reply")
		c.receive(c.iopub, "stream")
		if got := c.execute("next"); got != "[next]next" {
			t.Errorf("the next cell printed %s", got)
		}
	})
	t.Run("in the end", func(t *testing.T) {
		s := startKernel(t)
		s.mu.Lock()
		s.hangTime = time.Millisecond
		s.mu.Unlock()
		c := s.connect(t)
		hang(t, s, c, "hang")
		c.receive(c.iopub, "stream")
		if got := c.execute("next"); got != "[next]next" {
			t.Errorf("the next cell printed %s", got)
		}
	})
	t.Run("not while a tool runs", func(t *testing.T) {
		needProcesses(t)
		s := startKernel(t)
		c := s.connect(t)
		hang(t, s, c, "compile")
		g := s.child
		var now work
		within(t, patience, "the tool runs", func() bool {
			now, _ = g.look()
			return len(now.tools) > 0
		})
		s.mu.Lock()
		inspection := s.givenUp
		s.mu.Unlock()
		s.endHangInTime(inspection, g)
		kill(now.tools, syscall.SIGKILL)
		if got := c.execute("next"); got != "[next]next" || !alive(g.gonb) {
			t.Errorf("the next cell printed %s, and GoNB lives: %v", got, alive(g.gonb))
		}
	})
}

// TestAllRequestsAreAnswered sends those that GoNB does not answer.
func TestAllRequestsAreAnswered(t *testing.T) {
	c := startKernel(t).connect(t)
	for _, request := range []struct {
		kind    string
		content any
		want    string
	}{
		{"is_complete_request", code("func f() {"), `"incomplete"`},
		{"history_request", struct{}{}, `"history":[]`},
		{"comm_info_request", struct{}{}, `"comms":{}`},
		{"debug_request", struct{}{}, `"error"`},
		{"execute_request", struct{}{}, `"error"`},
		{"execute_request", code("x\n! "), "line 2"},
		{"complete_request", map[string]any{"code": "! ", "cursor_pos": 2}, `"matches":[]`},
		{"inspect_request", map[string]any{"code": " ", "cursor_pos": 1}, `"found":false`},
	} {
		id := c.request(c.shell, request.kind, request.content)
		m, parent := c.receive(c.shell, strings.Replace(request.kind, "_request", "_reply", 1))
		if parent != id || !strings.Contains(string(m.content), request.want) {
			t.Errorf("the answer to %s is %s", request.kind, m.content)
		}
		if m.Header.Type == "execute_reply" && !strings.Contains(string(m.content), `"execution_count":0`) {
			t.Errorf("the answer without a count is %s", m.content)
		}
		if kinds, _ := c.outputs(id); kinds[0] != "statusbusy" || kinds[len(kinds)-1] != "statusidle" {
			t.Errorf("%s: outputs %v", request.kind, kinds)
		}
	}
}

// TestMessagesAreActedUponOnce sends a message again, on its socket and on others.
func TestMessagesAreActedUponOnce(t *testing.T) {
	s := startKernel(t)
	c := s.connect(t)
	m := answer("execute_request", encode(header{Session: "test"}), code("once"))
	m.parent = []byte("{}")
	for _, w := range []*wire{c.shell, c.shell, c.control, dial(t, s.connection, s.Shell, "DEALER", "another")} {
		if err := w.send(c.key.frames(m)); err != nil {
			t.Fatal(err)
		}
		c.request(w, "history_request", struct{}{})
		c.receive(w, "history_reply") // what was sent before has been read
	}
	last := c.request(c.shell, "execute_request", code("last"))
	_, text := c.outputs(last)
	if text != "[last]last" {
		t.Errorf("printed %s", text)
	}
}

func TestShutdown(t *testing.T) {
	s := startKernel(t)
	c := s.connect(t)
	id := c.request(c.control, "shutdown_request", map[string]bool{"restart": false})
	if _, parent := c.receive(c.control, "shutdown_reply"); parent != id {
		t.Errorf("the reply is to %s", parent)
	}
	select {
	case err := <-s.ended:
		s.ended <- err
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the kernel goes on")
	}
}

func TestInterruptEndsCompilation(t *testing.T) {
	needProcesses(t)
	c := startKernel(t).connect(t)
	c.request(c.shell, "execute_request", code("compile"))
	c.receive(c.iopub, "stream")
	c.request(c.control, "interrupt_request", struct{}{})
	m, _ := c.receive(c.shell, "execute_reply")
	frames, err := c.iopub.receive()
	if err != nil {
		t.Fatal(err)
	}
	shown, err := c.key.parse(frames)
	if err != nil || shown.Header.Type != "error" { // and not the exit status before it
		t.Fatalf("the cell says %s, %v", shown.content, err)
	}
	for _, end := range []*message{m, shown} {
		if s := string(end.content); !strings.Contains(s, `"status":"error"`) || !strings.Contains(s, "the cell was interrupted") || strings.Contains(s, "signal") {
			t.Errorf("the cell ended with %s", s)
		}
	}
	if got := c.execute("next"); got != "[next]next" {
		t.Errorf("the next cell printed %s", got)
	}
}

// TestEarlyInterrupts interrupts a cell before its program runs, and before GoNB passes interrupts on
// to the program.
func TestEarlyInterrupts(t *testing.T) {
	needProcesses(t)
	c := startKernel(t).connect(t)
	for _, heard := range []string{"execute_input", "stream"} {
		id := c.request(c.shell, "execute_request", code("sleep later"))
		c.receive(c.iopub, heard)
		c.request(c.control, "interrupt_request", struct{}{})
		if m, _ := c.receive(c.shell, "execute_reply"); !strings.Contains(string(m.content), "the cell was interrupted") {
			t.Errorf("the cell ended with %s", m.content)
		}
		c.outputs(id)
	}
}

// TestInterruptEndsWhatAProgramLeaves interrupts a cell whose program has left a process
// that holds its output open.
func TestInterruptEndsWhatAProgramLeaves(t *testing.T) {
	needProcesses(t)
	c := startKernel(t).connect(t)
	c.request(c.shell, "execute_request", code("orphan"))
	m, _ := c.receive(c.iopub, "stream")
	c.request(c.control, "interrupt_request", struct{}{})
	if r, _ := c.receive(c.shell, "execute_reply"); strings.Contains(string(r.content), "error") {
		t.Errorf("the cell ended with %s", r.content)
	}
	var content struct{ Text string }
	if err := json.Unmarshal(m.content, &content); err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(content.Text)
	if err != nil {
		t.Fatal(err)
	}
	within(t, patience, "the process ends", func() bool { return !alive(pid) })
	if got := c.execute("next"); got != "[next]next" {
		t.Errorf("the next cell printed %s", got)
	}
}

// Of cells that were sent at once those behind one that fails are not run, unless it says that
// they shall be. Other requests are answered, and cells that are sent later run.
func TestCellsBehindAFailureAreAborted(t *testing.T) {
	c := startKernel(t).connect(t)
	for _, fails := range []string{"fail", "% "} {
		for _, stops := range []any{true, nil, false} {
			failing := code(fails)
			if stops != nil {
				failing["stop_on_error"] = stops
			}
			ids := []string{c.request(c.shell, "execute_request", code("sleep a little")), c.request(c.shell, "execute_request", failing)}
			for _, cell := range []string{"second", "%hm third"} {
				ids = append(ids, c.request(c.shell, "execute_request", code(cell)))
			}
			info := c.request(c.shell, "kernel_info_request", struct{}{})
			ids = append(ids, info)
			behind := "aborted"
			if stops == false {
				behind = "ok"
			}
			for range ids {
				frames, err := c.shell.receive()
				if err != nil {
					t.Fatal(err)
				}
				m, err := c.key.parse(frames)
				if err != nil {
					t.Fatal(err)
				}
				var parent header
				var reply struct{ Status string }
				if err := errors.Join(json.Unmarshal(m.parent, &parent), json.Unmarshal(m.content, &reply)); err != nil {
					t.Fatal(err)
				}
				want := map[string]string{ids[0]: "ok", ids[1]: "error", ids[2]: behind, ids[3]: behind, info: "ok"}[parent.ID]
				if reply.Status != want {
					t.Errorf("%s, stop_on_error %v: request %d is answered by %s, not %q", fails, stops, slices.Index(ids, parent.ID), m.content, want)
				}
			}
			printed := map[string]string{"aborted": "", "ok": "[second]second"}[behind]
			if _, text := c.outputs(ids[2]); text != printed {
				t.Errorf("%s, stop_on_error %v: the cell behind prints %q", fails, stops, text)
			}
			if out := c.execute("later"); out != "[later]later" {
				t.Errorf("a later cell prints %q", out)
			}
		}
	}
}

// Why gopls cannot explain something, as in a cell that does not parse, is not shown, and what it
// or GoNB explains is.
func TestFailedInspectionsShowNothing(t *testing.T) {
	c := startKernel(t).connect(t)
	for inspected, want := range map[string]string{
		"text/plain: no package metadata for file": `"data":{},"found":false`,
		"text/plain: ## GoNB Help Page":            `"found":true`,
		"text/markdown: func f()":                  `"data":{"text/markdown":"func f(), a setting"},"metadata":{}`,
		"text/markdown: func g()":                  `"data":{"text/markdown":"func g()"},"found":true`,
	} {
		c.request(c.shell, "inspect_request", map[string]any{"code": inspected, "cursor_pos": 3})
		if m, _ := c.receive(c.shell, "inspect_reply"); !strings.Contains(string(m.content), want) {
			t.Errorf("%s: %s", inspected, m.content)
		}
	}
}

// A front end that misses some of what a cell prints is told so before the cell ends.
func TestLostOutputIsSaid(t *testing.T) {
	k := startKernel(t)
	c := k.connect(t)
	id := c.request(c.shell, "execute_request", code("print much"))
	// Nothing is read from iopub until the cell has ended.
	c.receive(c.shell, "execute_reply")
	within(t, patience, "the queue of the front end is full", func() bool {
		q := &k.iopub.all()[0].queue
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.bytes+muchPrinted > mostWaiting
	})
	kinds, text := c.outputs(id)
	printed := strings.Count(text, strings.Repeat("x", muchPrinted))
	said := regexp.MustCompile(`(\d+) messages of output, (\d+) MB, are missing here`).FindStringSubmatch(text)
	if said == nil {
		t.Fatalf("%d of %d messages arrive, and nothing is said: %q", printed, muchTimes, kinds)
	}
	if missing, _ := strconv.Atoi(said[1]); printed+missing != muchTimes || missing == 0 {
		t.Errorf("%d messages of %d arrive, and %d are said to be missing", printed, muchTimes, missing)
	}
}

// A cell that Go's tools could not compile in a minute is refused at once.
func TestLargeCellsAreRefused(t *testing.T) {
	c := startKernel(t).connect(t)
	id := c.request(c.shell, "execute_request", code(strings.Repeat("x", 60_000_000)))
	m, parent := c.receive(c.shell, "execute_reply")
	var reply struct{ Status, EValue string }
	if err := json.Unmarshal(m.content, &reply); err != nil || parent != id || reply.Status != "error" || !strings.Contains(reply.EValue, "the cell has 60000002 bytes") {
		t.Errorf("%s, %v", m.content, err)
	}
	if out := c.execute("small"); out != "[small]small" {
		t.Errorf("a cell prints %q", out)
	}
}
