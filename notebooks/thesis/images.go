package thesis

import (
	"bytes"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// open opens a data set, or its stand-in at the scale smoke.
func (w *work) open(spec dataset.Spec) *dataset.Set {
	if w.Scale == reproduce.Smoke {
		spec.Name, spec.Subset = madeUp(spec.Name), 128
	}
	return must(spec.Open())
}

// drawRows draws a hundred of the training rows, in order.
func (w *work) drawRows(name, caption string, set *dataset.Set) {
	train := set.Train()
	sheet := dataset.Sheet{Shape: set.Shape()}
	for i := range min(w.few(100, 100, 10), train.Rows) {
		row := make([]float64, set.Shape().Units())
		for j, v := range train.Row(i) {
			row[j] = float64(v) / 255
		}
		sheet.Values = append(sheet.Values, row)
	}
	w.draw(name, caption, plotting.Samples(sheet))
}

func makeFig610(w *work) {
	set := w.open(fashionDrawn)
	train := set.Train()
	share := float64(bytes.Count(train.Values, []byte{0})) / float64(len(train.Values))
	w.Judge("(shown) Many backgrounds are black.", holdsIf(share > 1.0/3), "%.1f %% of all pixels of %s training rows are 0", 100*share, thousands(train.Rows))
	w.drawRows("rows", "A hundred training rows of FashionMNIST", set)
}

func makeFigA1(w *work) {
	w.drawRows("3by3", "Training rows of 3by3", w.open(dataset.Spec{Name: "3by3"}))
	w.drawRows("mnist", "Training rows of binarised MNIST", w.open(binarizedMNIST))
	w.drawRows("minimnist", "Training rows of miniMNIST, grey levels (C)", w.open(miniMNISTDrawn))
	w.drawRows("fashion", "Training rows of FashionMNIST, grey levels (C)", w.open(fashionDrawn))
	w.drawRows("faces", "Training rows of the Olivetti faces in 24×24 pixels, which stand in for TFD", w.open(smallFaces))
	w.Judge("(shown)", reproduce.Shown, "the figures are there to be looked at")
}
