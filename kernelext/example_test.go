package kernelext_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/kernelext"
)

// One cell starts a run and returns at once. A later cell waits for it and uses its model. In a program, as here, the
// session belongs to the program.
func Example() {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chdir(dir); err != nil { // a session has its runs in the folder runs
		log.Fatal(err)
	}

	set, err := dataset.Spec{Name: "3by3", Subset: 500}.Open()
	if err != nil {
		log.Fatal(err)
	}
	experiment := hm.RWS().LearningRate(0.05).Epochs(2).Experiment(hm.New(set.Shape()).Dense(4), set)
	if err := kernelext.Open().Start("lines", experiment).Err(); err != nil {
		log.Fatal(err)
	}

	session := kernelext.Open()
	run, err := session.Run("lines").Wait(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filepath.Base(run.Dir()), run.Epochs(), "epochs")
	model, err := session.Run("lines").Model()
	if err != nil {
		log.Fatal(err)
	}
	dreams, err := model.Draw(context.Background(), 9)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(dreams.Values), "dreams of", dreams.Shape)
	// Output:
	// lines 2 epochs
	// 9 dreams of 3×3
}
