//go:build unix

package proxy

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// connection holds a Jupyter connection file: the addresses on which a kernel listens, and the key that
// signs its messages.
type connection struct {
	path string

	Scheme    string `json:"signature_scheme"`
	Transport string `json:"transport"`
	IP        string `json:"ip"`
	Shell     int    `json:"shell_port"`
	Control   int    `json:"control_port"`
	Stdin     int    `json:"stdin_port"`
	IOPub     int    `json:"iopub_port"`
	Heartbeat int    `json:"hb_port"`
	Key       string `json:"key"`
}

// readConnection reads a connection file. It returns an error for missing ports, and for transports and
// signature schemes that the kernel does not support.
func readConnection(path string) (connection, error) {
	c := connection{path: path}
	b, err := file.Read(path, file.Small)
	if err != nil {
		return c, fmt.Errorf("connection file: %w", err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("connection file %s: %w", path, err)
	}
	switch {
	case c.Transport != "tcp" && c.Transport != "ipc":
		return c, fmt.Errorf("connection file %s: transport %q is neither tcp nor ipc", path, c.Transport)
	case c.Key != "" && c.Scheme != "hmac-sha256":
		return c, fmt.Errorf("connection file %s: signature scheme %q: this kernel supports only hmac-sha256", path, c.Scheme)
	}
	for name, port := range map[string]int{"shell": c.Shell, "control": c.Control, "stdin": c.Stdin, "iopub": c.IOPub, "hb": c.Heartbeat} {
		if port <= 0 {
			return c, fmt.Errorf("connection file %s: %s_port is %d: give a port from 1 on", path, name, port)
		}
	}
	return c, nil
}

// address returns the network and the address of a port, as net.Listen takes them.
func (c connection) address(port int) (network, address string) {
	if c.Transport == "ipc" {
		return "unix", c.socket(port)
	}
	return "tcp", net.JoinHostPort(c.IP, strconv.Itoa(port))
}

// socket returns the path of a port's Unix socket, for the transport ipc.
func (c connection) socket(port int) string { return c.IP + "-" + strconv.Itoa(port) }
