package names

import "testing"

// What is read of a name is the value that is written by it, and nothing else is read.
func FuzzParse(f *testing.F) {
	list := New("optimizer", "", "gd", "adam", "gdx")
	for _, text := range []string{"", "gd", "adam", "gdx", "GD", "gd ", "invalid(3)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value := -1
		if err := list.Parse(&value, []byte(text)); err != nil {
			if value != -1 {
				t.Errorf("%q is refused, and read as %d", text, value)
			}
			return
		}
		written, err := list.Marshal(value)
		if err != nil || string(written) != text {
			t.Errorf("%q is read as %d, which is written %q, %v", text, value, written, err)
		}
	})
}
