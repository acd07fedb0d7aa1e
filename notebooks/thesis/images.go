package thesis

import (
	"bytes"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
)

func (w *work) open(spec dataset.Spec) *dataset.Set {
	if w.Scale == reproduce.Smoke {
		spec.Name, spec.Subset = madeUp(spec.Name), 128
	}
	return must(spec.Open())
}

func (w *work) drawRows(name, caption string, set *dataset.Set) {
	var first []int
	for i := range min(w.few(100, 100, 10), set.Train().Rows) {
		first = append(first, i)
	}
	w.Draw(name, caption, plotting.Samples(dataset.Sheet{Shape: set.Shape(), Values: set.Train().Floats(first...)}))
}

func makeFig610(w *work) {
	set := w.open(fashionDrawn)
	train := set.Train()
	share := float64(bytes.Count(train.Values, []byte{0})) / float64(len(train.Values))
	w.claim("(shown) Many backgrounds are black.").
		add(exact(share, "", "share of the pixels of %s training rows that are 0:", thousands(train.Rows)).Over(1.0 / 3))
	w.drawRows("rows", "A hundred training rows of FashionMNIST", set)
}

func makeFigA1(w *work) {
	w.drawRows("3by3", "Training rows of 3by3", w.open(dataset.Spec{Name: "3by3"}))
	w.drawRows("mnist", "Training rows of binarised MNIST", w.open(binarizedMNIST))
	w.drawRows("minimnist", "Training rows of miniMNIST, grey levels (C)", w.open(miniMNISTDrawn))
	w.drawRows("fashion", "Training rows of FashionMNIST, grey levels (C)", w.open(fashionDrawn))
	w.drawRows("faces", "Training rows of the Olivetti faces in 24×24 pixels, which stand in for TFD", w.open(smallFaces))
	w.claim("(shown)").say("the figures are there to be looked at")
}
