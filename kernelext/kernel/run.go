//go:build unix

package kernel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/proxy"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Tools are the absolute paths of the programs that a kernel needs.
type Tools struct {
	Go, GoNB, GoImports, GoPLS string
	// Module is the directory of this library's module, which cells import.
	Module string
}

// quiet are the options that make GoNB log to a file that lasts as long as the kernel, and not to
// Jupyter's log.
var quiet = []string{"-logtostderr=false", "-stderrthreshold=FATAL"}

// Run runs the kernel that Jupyter starts with a connection file. It returns when Jupyter has shut
// it down, or when the Jupyter process that started the kernel has ended. Options are passed to GoNB,
// for example -logtostderr=true, which logs to standard error.
func Run(ctx context.Context, connectionFile string, tools Tools, options ...string) error {
	// Jupyter interrupts by message, and an interrupt at its terminal is only for Jupyter. Ignoring
	// the signal would make cells ignore it too.
	signal.Reset(syscall.SIGINT)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go endWithParent(ctx, cancel)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	sweep(runtimeFolder())
	dir, held, err := newDirectory(runtimeFolder())
	if err != nil {
		return err
	}
	defer held.Release()
	temporary := filepath.Join(dir, "tmp")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if tools.Go, err = frugalGo(dir, temporary, tools); err != nil {
		return err
	}
	if tools.GoPLS, err = script(dir, "gopls", leashed, "SELF", self, "GOPLS", tools.GoPLS); err != nil {
		return err
	}
	var k *proxy.Kernel
	live := newLive(session.Folder, func(id, html string, update bool) { k.Display(id, map[string]string{"text/html": html}, update) })
	s := session.New(session.Folder, live.observe)
	s.OnEnd(func(run string) { live.ended(s, run) })
	defer s.Close()
	show := func(run string) error { return live.show(s, run) }
	k, err = proxy.New(proxy.Options{
		ConnectionFile: connectionFile,
		Guard:          []string{self, "kernel", "guard"},
		GoNB:           append(append([]string{tools.GoNB, "-go_work=" + tools.Module}, quiet...), options...),
		Environment:    append(environment(tools), "TMPDIR="+temporary, session.Environment+"="+dir),
		Directory:      dir,
		Magics:         magics{session: s, show: show, module: tools.Module, display: func(kind, text string) { k.Display(rand.Text(), map[string]string{kind: text}, false) }},
		Introduction:   introduction(),
		Stop: sync.OnceFunc(func() {
			for _, i := range s.Close() {
				text := fmt.Sprintf("the kernel ends, and the run %s with it, after epoch %d of %d: %%hm resume %s in the next kernel continues it, and so does helmholtz train --resume %s",
					i.Name, i.Epoch, i.Epochs, i.Name, i.Dir)
				log.Print("helmholtz kernel: ", text)
				k.Warn(text)
			}
		}),
	})
	if err != nil {
		return fmt.Errorf("cannot start the kernel: %w", err)
	}
	server, err := serve(dir, s, show, k.Fail)
	if err != nil {
		return err
	}
	defer server.Close()
	if err := k.Start(); err != nil {
		return fmt.Errorf("cannot start the kernel: %w", err)
	}
	go func() { _ = warm(ctx, tools, temporary) }() // if it fails, completions take longer
	return k.Wait(ctx)
}

// introduction returns the fields by which the kernel introduces itself.
func introduction() map[string]any {
	const site = "https://" + module
	version := strings.Fields(runs.Version())[0]
	return map[string]any{
		"implementation": Name, "implementation_version": version, "supported_features": []string{"kernel subshells"},
		"banner": fmt.Sprintf("%s %s: GoNB with a session in which runs keep training. %%hm help lists its lines, and %%hm docs its guides.", displayName, version),
		"help_links": []map[string]string{
			{"text": "Helmholtz: the kernel", "url": site + "/blob/main/docs/jupyter.md"}, {"text": "Helmholtz: all guides", "url": site + "/tree/main/docs"},
			{"text": "GoNB", "url": "https://github.com/janpfeifer/gonb"}, {"text": "Go", "url": "https://go.dev/doc"},
		},
	}
}

// endWithParent calls end when the parent of this process has ended, if the parent is Jupyter, which
// says so in the variable JPY_PARENT_PID: nothing else would end the kernel of a killed Jupyter.
func endWithParent(ctx context.Context, end func()) {
	parent := os.Getppid()
	if os.Getenv("JPY_PARENT_PID") != strconv.Itoa(parent) {
		return
	}
	for os.Getppid() == parent {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
	end()
}

// Guard runs a program for Run, in a separate process whose standard input the kernel holds open.
// When the program or standard input ends, Guard kills the processes that the program has started
// and ends this process, so that not even a killed kernel leaves processes behind. If standard input
// ended, Guard also removes the directory dir. It returns only if the program cannot be started.
func Guard(dir string, program []string) error { return proxy.Guard(dir, program) }

// Leash replaces this process by a program, GoNB's language server, that ends with its parent. It
// returns only if the program cannot be started.
func Leash(program []string) error { return proxy.Leash(program) }

// environment returns the environment of GoNB, with the tools on the PATH and without settings that
// override the go.work file through which cells import the library. It sets GOFLAGS, because an
// empty or missing variable would leave the flags of go env -w in force.
func environment(tools Tools) []string {
	var path []string
	for _, tool := range []string{tools.Go, tools.GoPLS, tools.GoNB, tools.GoImports} {
		path = append(path, filepath.Dir(tool))
	}
	flags := []string{"-mod=readonly"}
	for _, flag := range strings.Fields(goValue(tools.Go, "GOFLAGS")) {
		if !strings.HasPrefix(strings.TrimLeft(flag, "-"), "mod=") {
			flags = append(flags, flag)
		}
	}
	var e []string
	for _, setting := range os.Environ() {
		name, value, _ := strings.Cut(setting, "=")
		switch name {
		case "GOWORK", "GOFLAGS", "TMPDIR", session.Environment:
			continue
		case "PATH":
			path = append(path, value)
			continue
		}
		e = append(e, setting)
	}
	return append(e, "GOFLAGS="+strings.Join(flags, " "), "PATH="+strings.Join(path, string(os.PathListSeparator)))
}

// prefix begins the names of kernels' directories. The process id of the kernel follows.
const prefix = "helmholtz-kernel-"

// lockFile is locked in the directory of a kernel while the kernel lives. The process id does not
// suffice, because another container may share the folder.
const lockFile = "lock"

// runtimeFolder returns the folder of the kernels' directories. Paths of sockets must be shorter
// than about 100 bytes.
func runtimeFolder() string {
	if dir := os.TempDir(); len(dir) < 40 {
		return dir
	}
	return "/tmp"
}

// newDirectory creates and locks the directory of a kernel. The directory gets its name only once it
// is locked, so that no other kernel mistakes it for an abandoned one.
func newDirectory(folder string) (dir string, held *file.Held, err error) {
	name := prefix + strconv.Itoa(os.Getpid()) + "-"
	unnamed, err := os.MkdirTemp(folder, "."+name)
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(folder, strings.TrimPrefix(filepath.Base(unnamed), "."))
	if held, err = file.Hold(unnamed, lockFile); err == nil {
		err = os.Rename(unnamed, dir)
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(unnamed))
	}
	return dir, held, nil
}

// sweep removes the directories that dead kernels of this user have left in a folder. Other users
// may write into the folder, so it skips symbolic links and everything that belongs to them.
func sweep(folder string) {
	left, _ := filepath.Glob(filepath.Join(folder, prefix+"*"))
	for _, dir := range left {
		if !ownDirectory(dir) {
			continue
		}
		if held, err := file.Hold(dir, lockFile); err == nil {
			os.RemoveAll(dir)
			held.Release()
		}
	}
}

// ownDirectory reports whether a path is a directory of this user, and not a link to one.
func ownDirectory(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Geteuid()
}
