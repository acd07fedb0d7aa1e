package dataset_test

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
)

func init() { dataset.RegisterTable("logger\n", readLogger) }

// readLogger reads files of a data logger: the line "logger", a line with the names of the columns, and one line per
// row. A bar follows each field.
func readLogger(file dataset.TableFile, row func(fields []string) error) error {
	lines := bufio.NewScanner(io.NewSectionReader(file, 0, file.Size))
	lines.Scan()
	for lines.Scan() {
		if err := row(strings.Split(strings.TrimSuffix(lines.Text(), "|"), "|")); err != nil {
			return err
		}
	}
	return lines.Err()
}

// A package registers its own format of tables when it is imported. Files of the format then open like any others.
func ExampleRegisterTable() {
	path := filepath.Join(os.TempDir(), "weather.log")
	defer os.Remove(path)
	if err := os.WriteFile(path, []byte("logger\ndegrees|sky|\n"+strings.Repeat("21.5|sun|\n9.5|rain|\n14|rain|\n", 10)), 0o600); err != nil {
		log.Fatal(err)
	}
	weather, err := dataset.Spec{Name: path, Binarization: dataset.Real}.Open()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(weather.Columns(), weather.Train().Rows, weather.Test().Rows)
	// Output: [degrees: real, 1 unit sky: binary, 1 unit (rain, sun)] 27 3
}
