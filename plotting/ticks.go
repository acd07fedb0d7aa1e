package plotting

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// linearTicks marks multiples of 1, 2 or 5 times a power of ten.
type linearTicks struct {
	integers bool // no fractions between them
	few      bool // for an axis that is short for its labels
}

// Ticks implements plot.Ticker.
func (l linearTicks) Ticks(low, high float64) []plot.Tick {
	intervals := 7.0
	if l.few {
		intervals = 5
	}
	step := roundUp((high - low) / intervals)
	if l.integers {
		step = max(step, 1)
	}
	decimals := int(max(0, -math.Floor(math.Log10(step)+1e-9)))
	var ticks []plot.Tick
	first, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
	for i := range int(last-first) + 1 {
		value := (first + float64(i)) * step
		ticks = append(ticks, plot.Tick{Value: value, Label: number(value, decimals)})
	}
	return ticks
}

// roundUp returns the least of 1, 2, 5 times a power of ten that is no less.
func roundUp(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= x*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// logTicks marks an axis of decimal logarithms with the values they are of:
// powers of ten, and where fewer than two are in range their double and
// fivefold as well; of many powers only the even ones, which have room. The
// values between are minor ticks. Where not even two of all these are in range
// it marks what linearTicks does.
//
// Logarithms on a linear axis are safer than plot.LogScale, which panics on
// values that are not positive and makes room for the axis label where it is
// not.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(low, high float64) []plot.Tick {
	digits := []float64{1, 2, 5}
	if math.Floor(high)-math.Ceil(low) >= 1 {
		digits = digits[:1]
	}
	const manyPowers = 8
	every := 1.0
	if math.Floor(high)-math.Ceil(low) >= manyPowers {
		every = 2
	}
	var ticks []plot.Tick
	labeled := 0
	for power := math.Floor(low); power <= high; power++ {
		for digit := 1.0; digit < 10; digit++ {
			tick := plot.Tick{Value: power + math.Log10(digit)}
			if slices.Contains(digits, digit) && math.Mod(power, every) == 0 {
				tick.Label = number(digit*math.Pow(10, power), int(max(0, -power)))
			}
			if low <= tick.Value && tick.Value <= high {
				ticks = append(ticks, tick)
				if !tick.IsMinor() {
					labeled++
				}
			}
		}
	}
	if from, to := math.Pow(10, low), math.Pow(10, high); labeled < 2 && from < to {
		ticks = linearTicks{few: true}.Ticks(from, to)
		for i := range ticks {
			ticks[i].Value = math.Log10(ticks[i].Value)
		}
	}
	return ticks
}

// number writes a value with a true minus sign and with commas between
// thousands.
func number(value float64, decimals int) string {
	if math.Abs(value) >= 1e15 {
		return strconv.FormatFloat(value, 'g', 3, 64)
	}
	digits := strconv.FormatFloat(math.Abs(value), 'f', decimals, 64)
	whole, fraction, hasFraction := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if hasFraction {
		whole += "." + fraction
	}
	if value < 0 && strings.Trim(digits, "0.") != "" {
		return "−" + whole
	}
	return whole
}

func integer(n int) string { return number(float64(n), 0) }

// significant writes a value with about so many significant digits.
func significant(value float64, digits int) string {
	if value == 0 {
		return "0"
	}
	return number(value, max(0, digits-1-int(math.Floor(math.Log10(math.Abs(value))))))
}
