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

func TestComparedSettingsAreDecoded(t *testing.T) {
	c := Comparison{Experiments: []Compared{{Settings: map[string]string{"dataset.name": `"ä \"q\".csv"`}}, {Settings: map[string]string{"dataset.name": `"digits"`}}}}
	c.findSettings()
	if got, want := c.Experiments[0].Settings["dataset.name"], `ä "q".csv`; got != want {
		t.Errorf("the name of the data is %s, want %s", got, want)
	}
}
