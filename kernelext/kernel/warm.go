//go:build unix

package kernel

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A cell's first completion waits for gopls to read and check everything that the cell imports,
// which takes seconds. So the kernel itself requests a completion when it starts, in a separate
// session of gopls, which delays no cell. gopls shares what it has checked between sessions.

// warmTime is how long gopls may take to start and to answer.
const warmTime = time.Minute

// warm asks GoNB's gopls, whose folders are in temporary, for a completion in a program with the
// imports of typical cells.
func warm(ctx context.Context, t Tools, temporary string) error {
	ctx, cancel := context.WithTimeout(ctx, warmTime)
	defer cancel()
	dir := filepath.Join(temporary, "warm")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	code, err := workspace(t, dir, module+"/hm", module+"/dataset", module+"/kernelext", module+"/plotting")
	if err != nil {
		return err
	}
	socket, err := goplsSocket(ctx, temporary)
	if err != nil {
		return err
	}
	connection, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { connection.Close() })()
	defer connection.Close()
	c := &languageClient{to: connection, from: textproto.NewReader(bufio.NewReader(connection))}
	file := "file://" + filepath.ToSlash(filepath.Join(dir, "main.go"))
	return errors.Join(
		c.call("initialize", map[string]any{"rootUri": "file://" + filepath.ToSlash(dir), "capabilities": struct{}{}}),
		c.notify("initialized", struct{}{}),
		c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": file, "languageId": "go", "version": 1, "text": code}}),
		c.call("textDocument/completion", map[string]any{"textDocument": map[string]string{"uri": file}, "position": map[string]int{"line": strings.Count(code, "\n") - 1, "character": len("func main() {")}}),
		c.call("shutdown", nil), c.notify("exit", nil))
}

// goplsSocket waits until gopls listens.
func goplsSocket(ctx context.Context, temporary string) (string, error) {
	for ctx.Err() == nil {
		if found, _ := filepath.Glob(filepath.Join(temporary, "gonb_*", "gopls_socket")); len(found) > 0 {
			return found[0], nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	return "", ctx.Err()
}

// languageClient is a client of a language server. It declares no capabilities, so the server asks
// nothing.
type languageClient struct {
	to   io.Writer
	from *textproto.Reader
	id   int
}

func (c *languageClient) notify(method string, parameters any) error {
	return c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": parameters})
}

// call sends a request and waits for the answer.
func (c *languageClient) call(method string, parameters any) error {
	c.id++
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": parameters}); err != nil {
		return err
	}
	for {
		header, err := c.from.ReadMIMEHeader()
		if err != nil {
			return err
		}
		length, err := strconv.ParseUint(header.Get("Content-Length"), 10, 26)
		if err != nil {
			return err
		}
		content := make([]byte, length)
		if _, err := io.ReadFull(c.from.R, content); err != nil {
			return err
		}
		var answer struct {
			ID    int
			Error *struct{ Message string }
		}
		if err := json.Unmarshal(content, &answer); err != nil {
			return err
		}
		if answer.Error != nil {
			return fmt.Errorf("gopls: %s: %s", method, answer.Error.Message)
		}
		if answer.ID == c.id {
			return nil
		}
	}
}

func (c *languageClient) send(message any) error {
	content, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.to, "Content-Length: %d\r\n\r\n%s", len(content), content)
	return err
}
