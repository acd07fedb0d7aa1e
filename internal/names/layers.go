package names

import (
	"fmt"
	"strings"
)

// Layers formats the numbers of units of layers, as in 784–200–10.
func Layers(units []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(units), "[]"), " ", "–")
}
