package dataset

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/torture"
)

// getter is the variable that makes the test binary a program that gets a set from
// an address.
const getter = "HELMHOLTZ_TEST_GET"

func TestMain(m *testing.M) {
	if address := os.Getenv(getter); address != "" {
		if err := twoFiles(address).get(context.Background(), hasty, quiet); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestGetLosesNothing kills downloads at their system calls, and lets them fail: a
// file that has its name is whole, and the next attempt gets the rest, and leaves
// nothing else.
func TestGetLosesNothing(t *testing.T) {
	defer torture.Report(os.Stdout, time.Now())
	server := httptest.NewServer(http.HandlerFunc(serve))
	defer server.Close()
	get := torture.Program{
		Start: func(...string) *exec.Cmd {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), getter+"="+server.URL+"/sets", Environment+"=data", "XDG_CACHE_HOME=", "HOME=")
			return c
		},
		Same:    func(_ string, content []byte) string { return sumOf(content) },
		Printed: func(s string) string { return s },
	}
	t.Run("get", func(t *testing.T) { torture.Case{Program: get, Name: "data-get"}.Try(t, 60) })
}
