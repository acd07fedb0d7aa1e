//go:build unix

package kernel

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A language server is asked for a completion within a program that imports the library, each
// question being answered before the next, and is left in order.
func TestGoplsIsWarmed(t *testing.T) {
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	temporary, err := os.MkdirTemp("/tmp", "warm-test-") // paths of sockets have to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temporary) })
	if err := os.Mkdir(filepath.Join(temporary, "gonb_1"), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(temporary, "gonb_1", "gopls_socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	asked := make(chan []string, 1)
	go func() {
		methods, err := answerAll(listener)
		if err != nil {
			methods = append(methods, err.Error())
		}
		asked <- methods
	}()
	if err := warm(t.Context(), Tools{Go: path, Module: root}, temporary); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(<-asked, " "); got != "initialize initialized textDocument/didOpen textDocument/completion shutdown exit" {
		t.Errorf("asked was %s", got)
	}
}

// answerAll answers the first client's questions, with a notice before each answer, and returns
// the methods that it was sent.
func answerAll(listener net.Listener) (methods []string, err error) {
	c, err := listener.Accept()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	from := textproto.NewReader(bufio.NewReader(c))
	for {
		header, err := from.ReadMIMEHeader()
		if errors.Is(err, io.EOF) {
			return methods, nil
		}
		length, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			return methods, err
		}
		content := make([]byte, length)
		if _, err := io.ReadFull(from.R, content); err != nil {
			return methods, err
		}
		var question struct {
			ID     int
			Method string
		}
		if err := json.Unmarshal(content, &question); err != nil {
			return methods, err
		}
		methods = append(methods, question.Method)
		if question.ID == 0 {
			continue
		}
		for _, answer := range []string{`{"jsonrpc":"2.0","method":"window/logMessage","params":{}}`, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":null}`, question.ID)} {
			if _, err := fmt.Fprintf(c, "Content-Length: %d\r\n\r\n%s", len(answer), answer); err != nil {
				return methods, err
			}
		}
	}
}
