//go:build unix

package proxy

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The test binary is also the guard and the GoNB of the kernels under test, and a
// kernel in a process of its own.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "guard":
		fmt.Fprintln(os.Stderr, Guard(os.Args[2], os.Args[3:]))
		os.Exit(1)
	case len(os.Args) > 2 && os.Args[1] == "leash":
		fmt.Fprintln(os.Stderr, Leash(os.Args[2:]))
		os.Exit(1)
	case len(os.Args) > 3 && os.Args[1] == "run":
		fmt.Fprintln(os.Stderr, runAlone(os.Args[2], os.Args[3]))
		os.Exit(1)
	case len(os.Args) > 2 && os.Args[1] == "--kernel":
		standIn(os.Args[2])
	}
	os.Exit(m.Run())
}

// runAlone runs a kernel, and says on standard output when it listens.
func runAlone(connectionFile, dir string) error {
	k, err := New(Options{
		ConnectionFile: connectionFile, Guard: []string{os.Args[0], "guard"}, GoNB: []string{os.Args[0]},
		Environment: os.Environ(), Directory: dir, Magics: printer{}, Stop: func() {},
	})
	if err == nil {
		err = k.Start()
	}
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return k.Wait(context.Background())
}

// What a cell "print much" prints: more than may wait for a front end that does not read.
const muchPrinted, muchTimes = 1 << 20, 100

// standIn is a GoNB that prints its cells. A cell "sleep" starts a process that
// sleeps, and waits for it; a cell "compile" does with one that is called go. A cell "sleep later"
// starts its process after a while, and passes an interrupt on to it a while later. A
// cell "ask" prints the answer to a question, and one "orphan" waits for the output of a
// process that its program leaves. A cell "messages: " publishes those of a list in JSON. At a cell "die" it ends, and an
// inspection of "hang" has no end; one of "compile" waits for a process that is called
// go. Comms are echoed. As GoNB does, it answers control requests on its shell socket,
// without a status for those to interrupt and to shut down, and ends when a message has a
// wrong signature.
func standIn(connectionFile string) {
	c, err := readConnection(connectionFile)
	if err != nil {
		panic(err)
	}
	k := key(c.Key)
	var shell, stdin, iopub *endpoint
	answers := make(chan string)
	var interrupted atomic.Pointer[os.Process] // the process that gets the next interrupt
	listening := make(chan struct{})
	publish := func(m *message, kind string, content any) {
		a := answer(kind, m.header, content)
		a.identities = m.identities
		iopub.broadcast(k.frames(a), false)
	}
	request := func(p *peer, frames [][]byte) {
		<-listening
		m, err := k.parse(frames)
		if err != nil {
			os.Exit(3)
		}
		m.identities = append([][]byte{[]byte(p.identity)}, m.identities...)
		if strings.HasPrefix(m.Header.Type, "comm_") {
			publish(m, m.Header.Type, json.RawMessage(m.content))
			return
		}
		var content struct {
			Code   string
			Silent *bool
		}
		if err := json.Unmarshal(m.content, &content); err != nil {
			os.Exit(4)
		}
		reply := map[string]any{"status": "ok"}
		status := func(state string) {
			if m.Header.Type != "interrupt_request" && m.Header.Type != "shutdown_request" {
				publish(m, "status", map[string]string{"execution_state": state})
			}
		}
		status("busy")
		if p := interrupted.Load(); p != nil && m.Header.Type == "interrupt_request" {
			_ = p.Signal(os.Interrupt)
		}
		if m.Header.Type == "inspect_request" {
			switch content.Code {
			case "hang":
				select {}
			case "compile":
				_ = exec.Command(os.Getenv("PRETEND_GO"), "60").Run()
			}
			if media, text, ok := strings.Cut(content.Code, ": "); ok {
				reply = map[string]any{"status": "ok", "found": true, "data": map[string]string{media: text}, "metadata": struct{}{}}
			}
		}
		if m.Header.Type == "execute_request" {
			if content.Silent == nil {
				os.Exit(5)
			}
			publish(m, "execute_input", map[string]any{"code": content.Code, "execution_count": 1})
			if listed, ok := strings.CutPrefix(content.Code, "messages: "); ok {
				var all []struct {
					Kind    string
					Content map[string]any
				}
				if err := json.Unmarshal([]byte(listed), &all); err != nil {
					panic(err)
				}
				for _, one := range all {
					publish(m, one.Kind, one.Content)
					if one.Kind == "error" {
						reply = one.Content
						reply["status"] = "error"
					}
				}
				content.Code = "nothing"
			}
			switch content.Code {
			case "nothing":
			case "sleep", "sleep later", "compile":
				command := exec.Command("sleep", "60")
				if content.Code == "compile" {
					command = exec.Command(os.Getenv("PRETEND_GO"), "60")
				}
				later := content.Code == "sleep later"
				if later {
					time.Sleep(200 * time.Millisecond)
				}
				if err := command.Start(); err != nil {
					panic(err)
				}
				publish(m, "stream", map[string]string{"name": "stdout", "text": fmt.Sprint(command.Process.Pid)})
				if later {
					time.Sleep(200 * time.Millisecond)
					interrupted.Store(command.Process)
				}
				if err := command.Wait(); err != nil {
					reply = failure(err.Error())
					publish(m, "stream", map[string]string{"name": "stderr", "text": err.Error() + "\n"})
					publish(m, "error", reply)
				}
			case "orphan":
				command := exec.Command("sh", "-c", "sleep 60 & echo $!")
				out, err := command.StdoutPipe()
				if err == nil {
					err = command.Start()
				}
				if err != nil {
					panic(err)
				}
				printed := bufio.NewReader(out)
				line, _ := printed.ReadString('\n')
				publish(m, "stream", map[string]string{"name": "stdout", "text": strings.TrimSpace(line)})
				_, _ = io.ReadAll(printed)
				_ = command.Wait()
			case "fail":
				reply = failure("it failed")
				publish(m, "error", reply)
			case "sleep a little":
				time.Sleep(50 * time.Millisecond)
			case "print much":
				for range muchTimes {
					publish(m, "stream", map[string]string{"name": "stdout", "text": strings.Repeat("x", muchPrinted)})
					for _, p := range iopub.all() {
						p.queue.drain()
					}
				}
			case "die":
				os.Exit(7)
			case "ask":
				question := answer("input_request", m.header, map[string]any{"prompt": "?", "password": false})
				question.identities = m.identities[1:]
				stdin.reply(p.identity, k.frames(question))
				publish(m, "stream", map[string]string{"name": "stdout", "text": <-answers})
			default:
				publish(m, "stream", map[string]string{"name": "stdout", "text": content.Code})
			}
		}
		a := answer(strings.Replace(m.Header.Type, "_request", "_reply", 1), m.header, reply)
		a.identities = m.identities[1:]
		shell.reply(p.identity, k.frames(a))
		status("idle")
		if m.Header.Type == "shutdown_request" {
			shell.close()
			iopub.close()
			os.Exit(0)
		}
	}
	input := func(_ *peer, frames [][]byte) {
		m, err := k.parse(frames)
		var content struct{ Value string }
		if err == nil {
			err = json.Unmarshal(m.content, &content)
		}
		if err != nil {
			os.Exit(6)
		}
		answers <- content.Value
	}
	for _, s := range []struct {
		endpoint *(*endpoint)
		kind     string
		port     int
		received func(*peer, [][]byte)
	}{
		{&shell, "ROUTER", c.Shell, request}, {new(*endpoint), "ROUTER", c.Control, request},
		{&stdin, "ROUTER", c.Stdin, input}, {&iopub, "PUB", c.IOPub, (*peer).subscribe},
	} {
		network, address := c.address(s.port)
		if *s.endpoint, err = newFront().listen(network, address, s.kind, s.received); err != nil {
			panic(err)
		}
	}
	close(listening)
	select {}
}
