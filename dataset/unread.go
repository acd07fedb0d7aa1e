package dataset

import (
	"bytes"
	"fmt"
)

// unread lists formats that are recognised by their first bytes but not read, and what to do instead.
var unread = []struct{ start, name, remedy string }{
	{"\x89HDF\r\n\x1a\n", "an HDF5 file", `save its array, such as by numpy.save("rows.npy", h5py.File(FILE)[NAME][:])`},
	{"MATLAB 7.3", "a MATLAB file of version 7.3, which is HDF5", "save it in MATLAB with save -v7"},
	{"\x00\x00\x00\x00", "a MATLAB file of version 4", "save it in MATLAB with save -v7, or by scipy.io.savemat"},
	{"\xff\xfe", "text in UTF-16, as Excel writes", `save it as CSV UTF-8, such as by pandas.read_csv(FILE, encoding="utf-16", sep=None, engine="python").to_csv("rows.csv", index=False)`},
	{"\xfe\xff", "text in UTF-16, as Excel writes", `save it as CSV UTF-8, such as by pandas.read_csv(FILE, encoding="utf-16", sep=None, engine="python").to_csv("rows.csv", index=False)`},
	{"\x1f\x8b", "gzip within gzip", "decompress the file once, with gunzip"},
	{"BZh", "a file compressed by bzip2", "decompress it with bunzip2"},
	{"\xfd7zXZ\x00", "a file compressed by xz", "decompress it with unxz"},
	{"\x28\xb5\x2f\xfd", "a file compressed by zstd", "decompress it with unzstd"},
	{"7z\xbc\xaf", "a 7z archive", "unpack it"},
	{"Rar!", "a RAR archive", "unpack it"},
	{"PAR1", "a Parquet file", `import _ "github.com/helmholtz-go/helmholtz/dataset/parquet" in the program, or convert it, such as by pandas.read_parquet(FILE).to_csv("rows.csv", index=False)`},
	{"ARROW1", "an Arrow or Feather file", `convert it, such as by pandas.read_feather(FILE).to_csv("rows.csv", index=False)`},
	{"FEA1", "a Feather file", `convert it, such as by pandas.read_feather(FILE).to_csv("rows.csv", index=False)`},
	{"\xd0\xcf\x11\xe0", "an Excel file", `save the sheet as CSV, such as by pandas.read_excel(FILE).to_csv("rows.csv", index=False)`},
	{"\x80\x02", pickleName, pickleRemedy}, {"\x80\x03", pickleName, pickleRemedy},
	{"\x80\x04", pickleName, pickleRemedy}, {"\x80\x05", pickleName, pickleRemedy},
	{"\x89PNG", "one picture", "name the folder of the pictures"},
	{"\xff\xd8\xff", "one picture", "name the folder of the pictures"},
	{"GIF8", "a GIF picture", "save pictures as PNG, and name their folder"},
	{"BM", "a BMP picture", "save pictures as PNG, and name their folder"},
	{"II*\x00", "a TIFF picture", "save pictures as PNG, and name their folder"},
	{"MM\x00*", "a TIFF picture", "save pictures as PNG, and name their folder"},
	{"SQLite format 3", "an SQLite database", `export its table, such as by pandas.read_sql(...).to_csv("rows.csv", index=False)`},
	{"%PDF", "a PDF file", "save the table in it as CSV"},
	{"<", "a page of HTML or XML, maybe an answer of a server instead of the data", "get the file again, and look at it"},
	{"[", "JSON", jsonRemedy},
	{"@relation", "a Weka file (ARFF)", arffRemedy}, {"@RELATION", "a Weka file (ARFF)", arffRemedy},
	{storedMagic, "a set that Save wrote", "it is read by dataset.Load, and has no name"},
}

const (
	pickleName   = "a Python pickle"
	pickleRemedy = `reading one can run any code; save its array by numpy.save("rows.npy", array)`
	jsonRemedy   = `convert it, such as by pandas.read_json(FILE).to_csv("rows.csv", index=False)`
	arffRemedy   = `convert it, such as by pandas.DataFrame(scipy.io.arff.loadarff(FILE)[0]).to_csv("rows.csv", index=False)`
)

// longestStart is the number of bytes by which a format is recognised.
const longestStart = 24

func unreadError(name, remedy string) error {
	return fmt.Errorf("this is %s, which is not read: %s", name, remedy)
}

// checkRead refuses a file whose first bytes show a format that is not read.
func checkRead(start []byte) error {
	for _, format := range unread {
		if bytes.HasPrefix(start, []byte(format.start)) {
			return unreadError(format.name, format.remedy)
		}
	}
	return nil
}
