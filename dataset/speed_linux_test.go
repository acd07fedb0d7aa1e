package dataset

import (
	"encoding/binary"
	"os"
	"syscall"
	"testing"
)

// BenchmarkTable opens the table that HELMHOLTZ_TABLE names, as notebooks/pandas_tables.py does, and reports the time of
// the processors. It then writes all rows in their order in the file, as float32, to the path that HELMHOLTZ_VALUES names.
func BenchmarkTable(b *testing.B) {
	path := os.Getenv("HELMHOLTZ_TABLE")
	if path == "" {
		b.Skip("HELMHOLTZ_TABLE names no table")
	}
	seconds := func() float64 {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
	}
	for b.Loop() {
		start := seconds()
		set, err := Spec{Name: path, Binarization: Real}.OpenNew()
		b.ReportMetric(seconds()-start, "processor-s")
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if to := os.Getenv("HELMHOLTZ_VALUES"); to != "" {
			writeValues(b, set, path, to)
		}
		b.StartTimer()
	}
}

// writeValues writes the rows of a file in their order, after checking that the set has the same rows.
func writeValues(b *testing.B, set *Set, path, to string) {
	rows, err := set.ReadRows(path)
	if err != nil {
		b.Fatal(err)
	}
	n := rows.Shape.Units()
	bytesOf := func(s Split, r int) string {
		text, err := binary.Append(nil, binary.LittleEndian, s.Reals()[r*n:(r+1)*n])
		if err != nil {
			b.Fatal(err)
		}
		return string(text)
	}
	left := map[string]int{}
	for r := range rows.Rows {
		left[bytesOf(rows, r)]++
	}
	for _, part := range []Split{set.Train(), set.Validation(), set.Test()} {
		for r := range part.Rows {
			left[bytesOf(part, r)]--
		}
	}
	for _, n := range left {
		if n != 0 {
			b.Fatal("the set has other rows than the file")
		}
	}
	f, err := os.Create(to)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := binary.Write(f, binary.LittleEndian, rows.Reals()); err != nil {
		b.Fatal(err)
	}
}
