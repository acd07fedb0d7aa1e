package check

import (
	"bytes"
	"flag"
	"image/png"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/cell"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/notebooks/thesis"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

var update = flag.Bool("update", false, "draw the pictures of the README anew")

// picture compares a figure with a picture of the README, in which rounding may change some pixels on other machines.
func picture(t *testing.T, name string, f *plotting.Figure) {
	t.Helper()
	path := "../images/" + name
	drawn := cell.Must(f.Resolution(220).PNG())
	if *update {
		cell.Check(os.WriteFile(path, drawn, 0o644))
	}
	got, want := cell.Must(png.Decode(bytes.NewReader(drawn))), cell.Must(png.Decode(strings.NewReader(read(t, path))))
	size, differing := got.Bounds().Size(), 0
	if want.Bounds().Size() != size {
		t.Fatalf("%s has %v pixels, and the figure %v: draw it anew with go test ./notebooks/check -run Readme -update", name, want.Bounds().Size(), size)
	}
	for i := range size.X * size.Y {
		r, g, _, _ := got.At(i%size.X, i/size.X).RGBA()
		r2, g2, _, _ := want.At(i%size.X, i/size.X).RGBA()
		if max(r, r2)-min(r, r2) > 0x2000 || max(g, g2)-min(g, g2) > 0x2000 {
			differing++
		}
	}
	if differing > size.X*size.Y/200 {
		t.Errorf("%s differs from the figure in %d of %d pixels: draw it anew with go test ./notebooks/check -run Readme -update", name, differing, size.X*size.Y)
	}
}

// TestCurvesOfTheReadme draws the curves of figure 5.6 from the pretrained runs, with the values of the finding on
// table 5.1, which were measured on the same checkpoints.
func TestCurvesOfTheReadme(t *testing.T) {
	catalog := cell.Must(thesis.Catalog())
	found := cell.Must(catalog.ReadMade("../results", reproduce.Full))["varady/table5.1"]
	table := catalog[slices.IndexFunc(catalog, func(e reproduce.Entry) bool { return e.ID == found.ID })]
	var groups []plotting.Group
	var published []float64
	for _, method := range []string{"NRWS", "RWS"} {
		run := cell.Must(hm.OpenPretrained("mnist-twelve-layers-" + strings.ToLower(method)))
		checkpoint := cell.Must(run.Run.At(2000)).Checksum()
		if !slices.ContainsFunc(found.Runs, func(r reproduce.Trained) bool { return r.Checkpoint == checkpoint }) {
			t.Errorf("table 5.1 was not measured on the pretrained run of %s, checkpoint %s", method, checkpoint)
		}
		n, _ := table.Number(method, "log p")
		v, _ := found.Value(n)
		published = append(published, -n.Published)
		groups = append(groups, plotting.Group{Name: method, Seeds: []runs.History{reproduce.History(method, run.Run, 2000)}, Evaluated: -v.Ours})
	}
	picture(t, "curves.png", plotting.SeedBands(groups...).Published(published...).
		Names("NRWS", "RWS", "training rows, 10 samples", "validation rows, 10 samples", "test rows, ours, 10,000 samples", "test rows, published, 10,000 samples").
		Title("Twelve layers on MNIST: nats to describe an image, the fewer the better"))
}

// TestCellOfTheReadme draws the figures of the README's cell, by the lines that the README has.
func TestCellOfTheReadme(t *testing.T) {
	if os.Getenv(dataset.Environment) == "" {
		t.Skipf("%s is not set: the pictures of the README are not compared with their cell", dataset.Environment)
	}
	machine := cell.Must(hm.OpenPretrained("mnist-nrws"))
	unseen := cell.Must(dataset.Open("binarized-mnist")).Test() // after "helmholtz data get binarized-mnist"
	dreams := plotting.Samples(cell.Must(machine.Means(cell.Context(), 64)))
	weights := plotting.ImportanceWeights(cell.Must(machine.ImportanceWeights(cell.Context(), unseen, 1000)))
	settling := plotting.LogZ2(cell.Must(machine.LogZ2(cell.Context(), 20_000, 1)))
	picture(t, "dreams.png", dreams)
	picture(t, "weights.png", weights.Size(3.8, 3.4))
	picture(t, "log-z2.png", settling.Size(3.8, 3.4))

	source := strings.Join(strings.Fields(read(t, "readme_test.go")), " ")
	lines := regexp.MustCompile(`(?m)^(?:machine|unseen|dreams|weights|settling) := .*`).FindAllString(read(t, "../../README.md"), -1)
	if len(lines) != 5 {
		t.Errorf("the cell of the README has %d lines that draw, want 5", len(lines))
	}
	if shown := strings.Join(strings.Fields(strings.Join(lines, " ")), " "); !strings.Contains(source, shown) {
		t.Errorf("the README draws by other lines: %s", shown)
	}
}
