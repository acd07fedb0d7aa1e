package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// cached makes the cache a new folder that keeps small files too, and returns it.
func cached(t *testing.T) string {
	t.Helper()
	least := leastCached
	leastCached = 1
	t.Cleanup(func() { leastCached = least })
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv(CacheEnvironment, "")
	folder, err := CacheFolder()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// entries returns the number of files in the cache.
func entries(folder string) int {
	all, _ := os.ReadDir(folder)
	return len(all)
}

// Sets from the cache are the sets that were read, for every kind of rows and every way of opening them. Only the user may
// read the cache.
func TestCacheKeepsSets(t *testing.T) {
	folder := cached(t)
	mixed := replaced(table30("id,age,pay,sex,label", "p%[1]d,%[2]d,1%[2]d.25,@,c%[2]d"), "f", "m")
	for i, c := range []struct {
		name, text string
		spec       Spec
	}{
		{"mixed.csv", mixed, Spec{}},
		{"mixed.csv", mixed, Spec{Binarization: Real, Standardize: true, Subset: 7, Validation: new(4), Seed: 3}},
		{"mixed.csv", mixed, Spec{Rules: FirstRules, Columns: "id=skip", Binarization: Real}},
		{"numbers.csv", table30("1.5,2.5", "%[2]d.5,-%[1]d.25"), Spec{Binarization: Real}},
		{"comma.csv", table30("a;b", "%[2]d,5;-%[1]d,25"), Spec{Binarization: Real}},
		{"bits.txt", "0 1 1\n1 0 1\n1 1 1\n0 0 0\n", Spec{}},
		{"spins.txt", "-1 1 1\n1 -1 1\n1 1 1\n-1 -1 -1\n", Spec{}},
		{"levels.csv", table30("0,9,18", "%[2]d,255,%[1]d"), Spec{}},
		{"keys.json", `{"keys": [60, 62], "train": [[[60], [61, 62]], [[62], []]], "test": [[[61]]]}`, Spec{}},
	} {
		c.spec.Name = written(t, c.name, c.text)
		for k, open := range []func() (*Set, error){c.spec.Open, c.spec.OpenNew, c.spec.OpenNumbers, c.spec.OpenSuggested} {
			want, err := open()
			if err != nil {
				t.Fatalf("%+v: %v", c.spec, err)
			}
			os.Setenv(CacheEnvironment, "off")
			direct, err := open()
			os.Setenv(CacheEnvironment, "")
			if err != nil {
				t.Fatal(err)
			}
			if c.spec.cachePath(false) == "" || fromCache(c.spec.cachePath(false)) == nil && !c.spec.Standardize {
				t.Errorf("%d, %d: nothing is kept", i, k)
			}
			got, err := open()
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range []*Set{want, got} {
				if of.Fingerprint() != direct.Fingerprint() || of.Description() != direct.Description() || !reflect.DeepEqual(of.Schema(), direct.Schema()) || !reflect.DeepEqual(of.Spec(), direct.Spec()) {
					t.Errorf("%d, %d: %v\n%s, want\n%s", i, k, of.Spec(), of.Description(), direct.Description())
				}
			}
		}
	}
	info, err := os.Stat(folder)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A changed or damaged file is read again, a file that grew old is the first to go, and the cache can be cleared or turned
// off.
func TestCacheFollowsFiles(t *testing.T) {
	folder := cached(t)
	path := written(t, "rows.csv", table30("a,b", "%[1]d.5,2%[2]d"))
	spec := Spec{Name: path, Binarization: Real}
	t.Setenv(CacheEnvironment, "off")
	if opened(t, spec); entries(folder) > 0 {
		t.Error("the cache is not off")
	}
	t.Setenv(CacheEnvironment, "")
	first := opened(t, spec).Fingerprint()
	kept := spec.cachePath(false)
	if entries(folder) != 1 {
		t.Fatalf("%d files are kept", entries(folder))
	}
	text, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)-1] ^= 1
	if err := os.WriteFile(kept, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if fromCache(kept) != nil || opened(t, spec).Fingerprint() != first || fromCache(kept) == nil {
		t.Error("a damaged file stays in the cache")
	}
	whole, _ := os.ReadFile(path)
	if err := os.WriteFile(path, []byte(strings.Replace(string(whole), "3.5", "4.5", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if opened(t, spec).Fingerprint() == first {
		t.Error("a changed file is not read again")
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(kept, old, old); err != nil {
		t.Fatal(err)
	}
	opened(t, Spec{Name: path, Binarization: Real, Seed: 1})
	most := mostCached
	mostCached = 1
	defer func() { mostCached = most }()
	newest := Spec{Name: path, Binarization: Real, Seed: 2}
	info, _ := os.Stat(kept)
	mostCached = 2*info.Size() + 10
	if opened(t, newest); fromCache(kept) != nil || fromCache(newest.cachePath(false)) == nil {
		t.Error("the oldest file stays, or the newest does not")
	}
	if err := ClearCache(); err != nil || entries(folder) > 0 {
		t.Errorf("%v, %d files", err, entries(folder))
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := ClearCache(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Clean(folder), nil, 0o600); err != nil { // where no folder can be
		t.Fatal(err)
	}
	if fmt.Sprint(opened(t, spec)) == "" {
		t.Error("no set")
	}
}
