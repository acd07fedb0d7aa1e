package dataset

import (
	"archive/zip"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// readArchive reads the arrays of a NumPy archive, which are files in NPY format. If pick is not empty, it reads
// only the array of that name; it returns no array if the archive lacks it.
func readArchive(in *input, pick string) (arrays []tensor, err error) {
	if in.at == nil {
		return nil, errors.New("a ZIP archive within compressed data: decompress the file")
	}
	z, err := zip.NewReader(in.at, in.size)
	if err != nil {
		return nil, fmt.Errorf("the ZIP archive is damaged, get the file again (%w)", err)
	}
	for _, f := range z.File {
		switch {
		case f.Name == "[Content_Types].xml":
			return nil, unreadError(excelName, excelRemedy)
		case f.Name == "format.npy" && pick == "":
			return nil, unreadError("a sparse matrix of SciPy", `save all of it, with numpy.save("rows.npy", scipy.sparse.load_npz(FILE).toarray())`)
		case strings.HasSuffix(f.Name, "data.pkl"):
			return nil, unreadError("a PyTorch file", `save its tensor with numpy.save("rows.npy", tensor.numpy())`)
		}
		name, is := strings.CutSuffix(f.Name, ".npy")
		if !is || pick != "" && name != pick {
			continue
		}
		array, err := readEntry(f, in.size)
		if err != nil {
			if pick == "" {
				err = fmt.Errorf("%w%s", err, otherArray)
			}
			return nil, fmt.Errorf("array %s: %w", name, err)
		}
		array.name = name
		arrays = append(arrays, array)
	}
	if len(arrays) == 0 && pick == "" {
		return nil, unreadError("a ZIP archive without NumPy arrays", "unzip it")
	}
	return arrays, nil
}

// otherArray is the remedy if one of several arrays in a file cannot be read.
const otherArray = "; to read only another array, add its name to the name of the file, FILE#NAME"

// readEntry reads an array of an archive of size bytes, and verifies its checksum.
func readEntry(f *zip.File, size int64) (tensor, error) {
	if f.Method != zip.Store && f.Method != zip.Deflate {
		return tensor{}, fmt.Errorf("it is compressed with method %d: save the archive with numpy.savez or numpy.savez_compressed", f.Method)
	}
	r, err := f.Open()
	if err != nil {
		return tensor{}, damaged(err)
	}
	return readNPY(&decompressor{Reader: r, compressed: &counter{done: min(int64(f.CompressedSize64), size)}})
}

// arrange turns the arrays of a file into training, validation and test rows. If pick is not empty, the array of
// that name holds the training rows, without labels, and the other arrays are ignored. Otherwise, testWord and
// validationWord match the names of the arrays of test and validation rows, and all other arrays belong to the
// training rows. Each part may have one array of rows, one vector of labels and one vector of lengths. Labels are
// whole numbers, one per row; by NewestRules, their name says so, and data.unread names the vectors that are not read. An array of 1 × n is one test or validation row if training rows have n values. The
// name of a vector of lengths contains length; the vector holds the number of steps of each sequence.
func arrange(arrays []tensor, pick string, newest bool) (data source, err error) {
	var listed, hot []string
	for _, a := range arrays {
		if listed = append(listed, fmt.Sprintf("%s %v", a.name, a.size)); len(a.size) == 2 && hasWord(a.name, labelWord) {
			hot = append(hot, a.name)
		}
	}
	choose := func(why string) error {
		if why == severalRows && hot != nil {
			why += fmt.Sprintf(" (if labels are one-hot, save their classes, for example with numpy.savez(\"rows.npz\", **{k: v.argmax(1) if k in [%s] else v for k, v in numpy.load(FILE).items()}))", quoted(hot))
		}
		return fmt.Errorf("%s among the arrays %s: name the file as FILE#NAME with the name of the array of rows, and label_file likewise with the array of their labels", why, strings.Join(listed, ", "))
	}
	if pick != "" {
		i := slices.IndexFunc(arrays, func(a tensor) bool { return a.name == pick })
		if i < 0 {
			return data, choose(fmt.Sprintf("there is no %q", pick))
		}
		data.train, err = arrays[i].rows()
		return data, err
	}
	for _, part := range []struct {
		to   *rows
		name string
	}{{&data.train, "train"}, {&data.validation, "val"}, {&data.test, "test"}} {
		var labels, lengths []tensor
		found := 0
		for _, a := range arrays {
			named := hasWord(a.name, labelWord)
			oneRow := !named && part.to != &data.train && len(a.size) == 2 && a.size[0] == 1 && a.size[1] == data.train.Shape.Units()
			switch {
			case partOf(a.name) != part.name:
			case a.areLengths():
				lengths = append(lengths, a)
			case a.count() <= 1 && !named:
			case a.isVector() && !oneRow:
				labels = append(labels, a)
			default:
				if found++; found > 1 {
					return data, choose(severalRows)
				}
				if *part.to, err = a.rows(); err != nil {
					return data, fmt.Errorf("array %s: %w", a.name, err)
				}
			}
		}
		unread, err := part.to.findLabels(labels, newest, choose)
		if err != nil {
			return data, err
		}
		data.unread = append(data.unread, unread...)
		if len(lengths) > 1 {
			return data, choose("there are several arrays of lengths")
		}
		for _, a := range lengths {
			if err := part.to.cut(a); err != nil {
				return data, fmt.Errorf("array %s: %w", a.name, err)
			}
		}
	}
	for _, of := range []*rows{&data.validation, &data.test} {
		if of.count() > 0 && (of.Lengths == nil) != (data.train.Lengths == nil) {
			return data, choose("some rows have lengths and others have none")
		}
	}
	if data.train.count() == 0 {
		return data, choose("there are no rows to train on")
	}
	return data, nil
}

const severalRows = "there are several arrays of rows"

// These match words of the names of arrays, in lower case.
var (
	testWord       = regexp.MustCompile(`^[xy]?test(ing)?(x|y|set|data|images|labels|features|inputs|targets)?$`)
	validationWord = regexp.MustCompile(`^[xy]?e?val(id(ation)?|uation)?(x|y|set|data|images|labels|features|inputs|targets)?$`)
	labelWord      = regexp.MustCompile(`^(y|y(train|test|val)|labels?|class|targets?)$`)
)

// nextWord matches the end of a word and the capital letter that begins the next.
var nextWord = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// hasWord reports whether a word of a name matches. A character that is not a letter ends a word, and a capital letter
// after a small one begins the next.
func hasWord(name string, word *regexp.Regexp) bool {
	words := strings.FieldsFunc(nextWord.ReplaceAllString(name, "$1 $2"), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(w string) bool { return word.MatchString(strings.ToLower(w)) })
}

// partOf returns the part of a data set to which an array belongs, judged by its name: train, val or test.
func partOf(name string) string {
	switch {
	case hasWord(name, testWord):
		return "test"
	case hasWord(name, validationWord):
		return "val"
	}
	return "train"
}

// areLengths reports whether an array has the numbers of steps of sequences.
func (a tensor) areLengths() bool {
	return a.isVector() && strings.Contains(strings.ToLower(a.name), "length")
}

// findLabels finds the vector that has one whole number per row and takes the labels of the rows from it. It
// leaves the rows without labels if there is no such vector, and returns an error if there are several, or if the
// only vector named as labels has another length. By NewestRules, the name of the vector must say that it has labels,
// and findLabels returns the names of the other vectors.
func (r *rows) findLabels(vectors []tensor, newest bool, choose func(why string) error) (unread []string, err error) {
	var named []tensor
	for _, a := range vectors {
		if hasWord(a.name, labelWord) {
			named = append(named, a)
		}
	}
	if len(named) == 1 && named[0].count() != r.count() {
		return nil, choose(fmt.Sprintf("the array %s has %s for %s", named[0].name, names.Count(named[0].count(), "label"), names.Count(r.count(), "row")))
	}
	vectors = slices.DeleteFunc(vectors, func(a tensor) bool {
		other := newest && !hasWord(a.name, labelWord) && !strings.EqualFold(a.name, "classes") || a.count() != r.count() ||
			slices.ContainsFunc(a.numbers, func(v float64) bool { return v != math.Trunc(v) })
		if other && newest {
			unread = append(unread, a.name)
		}
		return other
	})
	switch len(vectors) {
	case 0:
		return unread, nil
	case 1:
		if r.Labels, err = vectors[0].labels(); err != nil {
			return nil, fmt.Errorf("array %s: %w%s", vectors[0].name, err, otherArray)
		}
		return unread, nil
	}
	return nil, choose("there are several arrays of labels")
}
