package runs

import "testing"

func TestSeedsAreWrittenAsRanges(t *testing.T) {
	for want, c := range map[string]Compared{
		"4":               {Seeds: []uint64{4}, seeds: &Seeds{}},
		"1–3,7,9–10":      {Seeds: []uint64{1, 2, 3, 7, 9, 10}, seeds: &Seeds{}},
		"1–2 (3 to come)": {Seeds: []uint64{1, 2}, seeds: &Seeds{Waiting: 3}},
	} {
		if got := c.seedsText(); got != want {
			t.Errorf("seeds %v are written %q, want %q", c.Seeds, got, want)
		}
	}
}
