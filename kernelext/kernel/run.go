//go:build unix

package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/proxy"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
)

// Tools are the absolute paths of what a kernel needs.
type Tools struct {
	Go, GoNB, GoImports, GoPLS string
	// Module is the directory of this library's module, which cells import.
	Module string
}

// quiet are the options of GoNB that keep its log out of that of Jupyter, in a file that
// lasts as long as the kernel.
var quiet = []string{"-logtostderr=false", "-stderrthreshold=FATAL"}

// Run is the kernel that Jupyter starts with a connection file. It returns when
// Jupyter has shut it down. Options are passed to GoNB, such as
// -logtostderr=true, with which it logs to standard error.
func Run(ctx context.Context, connectionFile string, tools Tools, options ...string) error {
	// Jupyter interrupts by message, and an interrupt at its terminal is for
	// Jupyter alone. To ignore the signal would make cells ignore it, too.
	signal.Reset(syscall.SIGINT)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
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
	if tools.Go, err = frugalGo(dir, temporary, tools.Go); err != nil {
		return err
	}
	if tools.GoPLS, err = leashedGoPLS(dir, self, tools.GoPLS); err != nil {
		return err
	}
	live := newLive(session.Folder)
	s := session.New(session.Folder, live.observe)
	defer s.Close()
	show := func(run string) error { return live.show(s, run) }
	server, err := serve(dir, s, show)
	if err != nil {
		return err
	}
	defer server.Close()
	k, err := proxy.Start(proxy.Options{
		ConnectionFile: connectionFile,
		Guard:          []string{self, "kernel", "guard"},
		GoNB:           append(append([]string{tools.GoNB, "-go_work=" + tools.Module}, quiet...), options...),
		Environment:    append(environment(os.Environ(), tools), "TMPDIR="+temporary, session.Environment+"="+dir),
		Directory:      dir,
		Magics:         magics{s, show, live.html},
		Stop:           s.Close,
	})
	if err != nil {
		return fmt.Errorf("cannot start the kernel: %w", err)
	}
	live.connect(k)
	go func() { _ = warm(ctx, tools, temporary) }() // without it, completions take longer
	return k.Wait(ctx)
}

// Guard is what Run starts GoNB under, as a process of its own: it runs a program and, once that
// has ended or standard input has, which the kernel holds open, kills what the program has started
// and ends this process, so that not even a kernel that is killed leaves processes behind. If
// standard input has ended, it removes the directory dir. It returns where the program cannot be
// started.
func Guard(dir string, program []string) error { return proxy.Guard(dir, program) }

// Leash is what GoNB's language server runs by: it replaces this process by a program that ends
// when the process that started it does. It returns where the program cannot be started.
func Leash(program []string) error { return proxy.Leash(program) }

// environment returns the environment of GoNB: the tools are on the PATH, and
// nothing overrules the go.work file through which cells import the library.
func environment(of []string, tools Tools) []string {
	var path []string
	for _, tool := range []string{tools.Go, tools.GoPLS, tools.GoNB, tools.GoImports} {
		path = append(path, filepath.Dir(tool))
	}
	var e []string
	for _, setting := range of {
		name, value, _ := strings.Cut(setting, "=")
		switch name {
		case "GOWORK", "TMPDIR", session.Environment:
			continue
		case "PATH":
			path = append(path, value)
			continue
		case "GOFLAGS":
			var flags []string
			for _, flag := range strings.Fields(value) {
				if !strings.HasPrefix(strings.TrimLeft(flag, "-"), "mod=") {
					flags = append(flags, flag)
				}
			}
			setting = name + "=" + strings.Join(flags, " ")
		}
		e = append(e, setting)
	}
	return append(e, "PATH="+strings.Join(path, string(os.PathListSeparator)))
}

// prefix begins the names of the directories of kernels. The process id of the
// kernel follows.
const prefix = "helmholtz-kernel-"

// lockFile is the file in the directory of a kernel that is locked while it lives: its
// process id says nothing in another container that has the same folder.
const lockFile = "lock"

// runtimeFolder is where the directories of kernels are. Paths of sockets must
// be shorter than about 100 bytes.
func runtimeFolder() string {
	if dir := os.TempDir(); len(dir) < 40 {
		return dir
	}
	return "/tmp"
}

// newDirectory makes the directory of a kernel, and holds it. It has its name once it is
// held, so that no other kernel takes it for one that was left behind.
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

// sweep removes the directories that dead kernels of this user have left in a folder. Other
// users may write into the folder, too, so it passes over symbolic links and over what
// belongs to them.
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
