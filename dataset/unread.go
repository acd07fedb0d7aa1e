package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// unread lists the formats that are recognised by their first bytes but cannot be read, and what to do instead.
var unread = []struct{ start, name, remedy string }{
	{"\x89HDF\r\n\x1a\n", "an HDF5 file", `save its array, for example with numpy.save("rows.npy", h5py.File(FILE)[NAME][:]), or if pandas wrote it, with pandas.read_hdf(FILE).to_csv("rows.csv", index=False)`},
	{"MATLAB 7.3", "a MATLAB file of version 7.3, which is HDF5", "save it in MATLAB with save -v7"},
	{"\x00\x00\x00\x00", matlab4Name, matlab4Remedy}, {"\n\x00\x00\x00", matlab4Name, matlab4Remedy}, {"\x14\x00\x00\x00", matlab4Name, matlab4Remedy},
	{"\x1e\x00\x00\x00", matlab4Name, matlab4Remedy}, {"(\x00\x00\x00", matlab4Name, matlab4Remedy}, {"2\x00\x00\x00", matlab4Name, matlab4Remedy},
	{"\xff\xfe", utf16Name, utf16Remedy}, {"\xfe\xff", utf16Name, utf16Remedy},
	{"\x1f\x8b", "gzip within gzip", "decompress the file once, with gunzip"},
	{"BZh", "a file compressed with bzip2", "decompress it with bunzip2"},
	{"\xfd7zXZ\x00", "a file compressed with xz", "decompress it with unxz"},
	{"\x28\xb5\x2f\xfd", "a file compressed with zstd", "decompress it with unzstd"},
	{"7z\xbc\xaf", "a 7z archive", "unpack it"},
	{"Rar!", "a RAR archive", "unpack it"},
	{"PAR1", "a Parquet file", `import _ "github.com/helmholtz-go/helmholtz/dataset/parquet" in the program, or convert it, for example with pandas.read_parquet(FILE).to_csv("rows.csv", index=False)`},
	{"ARROW1", "an Arrow or Feather file", featherRemedy},
	{"FEA1", "a Feather file", featherRemedy},
	{"ORC", "an ORC file", `convert it, for example with pandas.read_orc(FILE).to_csv("rows.csv", index=False)`},
	{"CDF\x01", netName, netRemedy}, {"CDF\x02", netName, netRemedy}, {"CDF\x05", netName, netRemedy},
	{"Obj\x01", "an Avro file", `convert it, for example with polars.read_avro(FILE).write_csv("rows.csv")`},
	{"<stata_dta>", stataName, stataRemedy}, {"r\x01\x01\x00", stataName, stataRemedy}, {"r\x02\x01\x00", stataName, stataRemedy},
	{"%%MatrixMarket", "a Matrix Market file", `save its matrix, for example with numpy.save("rows.npy", scipy.io.mmread(FILE, spmatrix=False).toarray())`},
	{"\xd0\xcf\x11\xe0", excelName, excelRemedy},
	{"\x80\x02", pickleName, pickleRemedy}, {"\x80\x03", pickleName, pickleRemedy},
	{"\x80\x04", pickleName, pickleRemedy}, {"\x80\x05", pickleName, pickleRemedy},
	{"\x89PNG", "one picture", "name the folder of the pictures"},
	{"\xff\xd8\xff", "one picture", "name the folder of the pictures"},
	{"GIF8", "a GIF picture", "save pictures as PNG, and name their folder"},
	{"BM", "a BMP picture", "save pictures as PNG, and name their folder"},
	{"II*\x00", "a TIFF picture", "save pictures as PNG, and name their folder"},
	{"MM\x00*", "a TIFF picture", "save pictures as PNG, and name their folder"},
	{"SQLite format 3", "an SQLite database", `export its table, for example with pandas.read_sql(...).to_csv("rows.csv", index=False)`},
	{"%PDF", "a PDF file", "save the table in it as CSV"},
	{"<!", pageName, pageRemedy}, {"<table", pageName, pageRemedy}, {"<?xml", pageName, pageRemedy}, {"<html", pageName, pageRemedy}, {"<HTML", pageName, pageRemedy},
	{"[[", "JSON", `convert it, for example with numpy.save("rows.npy", numpy.array(json.load(open(FILE)))), or if it has text, pandas.DataFrame(json.load(open(FILE))).to_csv("rows.csv", index=False, header=False)`},
	{"[", "JSON", `convert it, for example with pandas.read_json(FILE).to_csv("rows.csv", index=False), or read_json(FILE, lines=True) if each line is a row`},
	{"MThd", "a MIDI file", `write the keys that sound at each step, here 4 a second, as JSON, for example with json.dump({"keys": [0, 127], "train": [[numpy.flatnonzero(step).tolist() for step in pretty_midi.PrettyMIDI(file).get_piano_roll(fs=4).T] for file in FILES]}, open("rows.json", "w"))`},
	{"\xff\xff\xff\xff", "an Arrow stream", `convert it, for example with pyarrow.ipc.open_stream(FILE).read_pandas().to_csv("rows.csv", index=False)`},
	{"X\n\x00\x00", rName, rRemedy}, {"RDX3\nX\n", rName, rRemedy}, {"RDX2\nX\n", rName, rRemedy},
	{"B\n\x03\x00", rName, rRemedy}, {"B\n\x02\x00", rName, rRemedy}, {"RDA3\nA\n", rName, rRemedy}, {"RDA2\nA\n", rName, rRemedy},
	{"sep=", "text whose first line tells Excel the separator", "remove the line sep="},
	{storedMagic, "a data set that Save wrote", "open it with dataset.Load"},
}

// lettered lists the magics of binary files that may also begin a header of text, such as BMI.
var lettered = []string{"BZh", "Rar!", "PAR1", "ARROW1", "FEA1", "ORC", "GIF8", "BM"}

// hasMagic reports whether the first bytes of a file show the format that begins with magic.
func hasMagic(start []byte, magic string) bool {
	return bytes.HasPrefix(start, []byte(magic)) && !(slices.Contains(lettered, magic) && isText(start))
}

const (
	matlab4Name   = "a MATLAB file of version 4"
	matlab4Remedy = `save it in MATLAB with save -v7, or with scipy.io.savemat("rows.mat", scipy.io.loadmat(FILE))`
	utf16Name     = "text in UTF-16, as Excel saves it"
	utf16Remedy   = "save it as CSV UTF-8, for example with iconv -f utf-16 -t utf8 FILE > rows.csv, or without a byte order mark with -f utf-16le or -f utf-16be"
	netName       = "a NetCDF file"
	netRemedy     = `convert it, for example with xarray.open_dataset(FILE).to_dataframe().to_csv("rows.csv")`
	pickleName    = "a Python pickle"
	pickleRemedy  = `reading a pickle can run any code; if you trust it, save its array with numpy.save("rows.npy", pickle.load(open(FILE, "rb"))), or its table with pandas.read_pickle(FILE).to_csv("rows.csv", index=False)`
	stataName     = "a Stata file"
	stataRemedy   = `convert it, for example with pandas.read_stata(FILE).to_csv("rows.csv", index=False)`
	featherRemedy = `convert it, for example with pandas.read_feather(FILE).to_csv("rows.csv", index=False)`
	excelName     = "an Excel file"
	excelRemedy   = `save the sheet as CSV, for example with pandas.read_excel(FILE).to_csv("rows.csv", index=False)`
	pageName      = "an HTML or XML page, perhaps a server's answer instead of the data"
	pageRemedy    = "open it to see the answer, and download the data again"
	rName         = "a file of R"
	rRemedy       = `save the table in R with write.csv(readRDS(FILE), "rows.csv", row.names = FALSE) or, if saveRDS did not write it, with load(FILE) and the name of the table in place of readRDS(FILE)`
)

// textOfR matches the start of text that R writes with saveRDS(ascii = TRUE): two versions of the format, around R's own.
var textOfR = regexp.MustCompile(`^A\n(2\n\d+\n131840|3\n\d+\n197888)\n`)

// longestStart is the number of bytes that suffice to recognise any format.
const longestStart = 24

var errNotUTF8 = errors.New("its text is not UTF-8: save it as UTF-8, for example with iconv -f latin1 -t utf8 FILE > rows.csv")

func unreadError(name, remedy string) error {
	return fmt.Errorf("this is %s, which cannot be read here: %s", name, remedy)
}

// checkRead returns an error for a file whose first bytes show one of the formats in unread.
func checkRead(start []byte) error {
	for _, format := range unread {
		if hasMagic(start, format.start) {
			return unreadError(format.name, format.remedy)
		}
	}
	zeros := bytes.Count(start, []byte{0})
	if zeros > 0 && zeros == len(start)/2 && isText(bytes.ReplaceAll(start, []byte{0}, nil)) {
		return unreadError(utf16Name, utf16Remedy) // without a byte order mark
	}
	return nil
}
