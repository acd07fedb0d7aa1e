//go:build !cuda

package gpu

import (
	"errors"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

func init() {
	engine.Register("cuda", func() (engine.Engine, error) {
		return nil, errors.New("this program was built without the tag cuda: " +
			"rebuild it with make cuda and then . build/cuda/environment && go build, " +
			"or compute on the CPU with HELMHOLTZ_BACKEND=cpu or --backend cpu")
	})
}
