package hm

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Networks selects the networks of a machine to which a setting applies.
type Networks int

const (
	BothNetworks    Networks = iota
	RecognitionOnly          // q
	GenerativeOnly           // p
)

// Convolution is a hidden layer whose units form an image with one or more channels. Each position of
// the image sees a window of the layer below; neighbouring windows are Stride units apart, and nothing
// is padded. The layer is a convolution in q and a deconvolution in p; with Networks, it can be dense
// in one of the two (Várady 2025, 7.4). Its text is CHANNELS@HEIGHTxWIDTH/STRIDE, such as 8@4x4/2;
// q:8@4x4/2 is a convolution only in q, and p:8@4x4/2 a deconvolution only in p.
type Convolution struct {
	Channels      int
	Height, Width int // of the window
	Stride        int
	Networks      Networks
}

var networkPrefixes = names.New("networks", "", "q:", "p:")

func (c Convolution) String() string {
	return fmt.Sprintf("%s%d@%dx%d/%d", networkPrefixes.Name(int(c.Networks)), c.Channels, c.Height, c.Width, c.Stride)
}

// MarshalText returns the text of a convolution, or an error if its Networks are unknown.
func (c Convolution) MarshalText() ([]byte, error) {
	if _, err := networkPrefixes.Marshal(int(c.Networks)); err != nil {
		return nil, fmt.Errorf("a convolution in networks %d: use BothNetworks, RecognitionOnly or GenerativeOnly", c.Networks)
	}
	return []byte(c.String()), nil
}

var convolutionText = regexp.MustCompile(`^(q:|p:|)(\d{1,6})@(\d{1,6})x(\d{1,6})/(\d{1,6})$`)

func (c *Convolution) UnmarshalText(text []byte) error {
	parts := convolutionText.FindStringSubmatch(string(text))
	if parts == nil {
		return fmt.Errorf("convolution %q: write channels@height×width/stride, such as 8@4x4/2, after q: or p: for only one network", text)
	}
	number := func(k int) int {
		n, _ := strconv.Atoi(parts[k]) // at most six digits
		return n
	}
	*c = Convolution{Channels: number(2), Height: number(3), Width: number(4), Stride: number(5)}
	return networkPrefixes.Parse((*int)(&c.Networks), []byte(parts[1]))
}

func (c Convolution) above(fine engine.Grid) engine.Convolution {
	return engine.Convolution{
		Fine: fine, Channels: c.Channels, Height: c.Height, Width: c.Width, Stride: c.Stride,
		Recognition: c.Networks != GenerativeOnly, Generative: c.Networks != RecognitionOnly,
	}
}
