package runs_test

import (
	"fmt"
	"os"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Invented evaluations of two methods, the second with a machine that is too large for an exact
// divergence.
func ExampleTable() {
	table := runs.NewTable("evaluations", "Evaluation of the test rows",
		runs.Column{Key: "method"},
		runs.Column{Key: "learning_rate", Label: "η", Kind: runs.Number},
		runs.Column{Key: "seeds", Kind: runs.Integer},
		runs.Column{Key: "log_p", Label: "log p", Unit: "nats", Kind: runs.Number, Decimals: 3},
		runs.Column{Key: "log_p_sd", Label: "± sd", Unit: "nats", Kind: runs.Number, Decimals: 3},
		runs.Column{Key: "kl_exact", Label: "KL(p_D‖p)", Unit: "nats", Kind: runs.Number, Decimals: 4},
	)
	exact := 0.0213
	table.Add("NRWS", 0.002, 3, -84.91, 0.0321, &exact)
	table.Add("RWS", 0.05, 1, -105.2, nil, nil)
	fmt.Print(table)
	// Output:
	// Evaluation of the test rows
	//
	// method      η  seeds  log p (nats)  ± sd (nats)  KL(p_D‖p) (nats)
	// NRWS    0.002      3       -84.910        0.032            0.0213
	// RWS      0.05      1      -105.200            –                 –
}

func ExampleTable_WriteMarkdown() {
	table := runs.NewTable("evaluations", "",
		runs.Column{Key: "method"},
		runs.Column{Key: "log_p", Label: "log p*(y|x)", Unit: "nats", Kind: runs.Number, Decimals: 2},
	)
	table.Add("BiHM", -84.8)
	table.Add("sleep-well", nil)
	if err := table.WriteMarkdown(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// | method | log p\*(y\|x) (nats) |
	// | --- | ---: |
	// | BiHM | -84.80 |
	// | sleep-well | – |
}

func ExampleTable_WriteCSV() {
	table := runs.NewTable("history", "",
		runs.Column{Key: "epoch", Kind: runs.Integer},
		runs.Column{Key: "log_p", Label: "log p", Unit: "nats", Kind: runs.Number, Decimals: 3},
		runs.Column{Key: "log_p_validation", Label: "log p, validation", Unit: "nats", Kind: runs.Number, Decimals: 3},
	)
	table.Add(1, -171.98234, nil)
	table.Add(2, -150.0, -152.5)
	if err := table.WriteCSV(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// epoch,log_p,log_p_validation
	// 1,-171.98234,
	// 2,-150.0,-152.5
}
