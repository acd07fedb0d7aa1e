package kernelext

import (
	"fmt"
	"os"

	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
)

// local is a session in this process.
type local struct{ *session.Session }

func (l local) Runs() ([]session.Info, error) { return l.Session.Runs(), nil }

// Show says in a line what a notebook would show.
func (l local) Show(run string) error {
	i, err := l.Info(run)
	if err == nil {
		fmt.Fprintf(os.Stderr, "kernelext: %s is %s, epoch %d of %d, in %s\n", i.Name, i.Does(), i.Epoch, i.Epochs, i.Dir)
	}
	return err
}
