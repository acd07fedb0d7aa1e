package dataset

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// collection describes a named set: where its files are, what they should contain, and how to read them.
type collection struct {
	name, description       string
	shape                   Shape
	train, validation, test int // rows, before a Spec divides them
	holdOut                 int // number of training rows to hold out by default
	columns                 []Column
	read                    func(collection) (source, error)

	folder  string // holds the files
	files   []file // none if the set is generated
	address string // where the files are published; empty if Get cannot download them
	content string // describes the files if there is no address
}

type file struct {
	name   string
	size   int64
	sha256 string
	// The size and the checksum after decompression.
	unpackedSize   int64
	unpackedSHA256 string
}

var (
	mnistFiles = []file{
		{"train-images-idx3-ubyte.gz", 9912422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
			47040016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
		{"train-labels-idx1-ubyte.gz", 28881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
			60008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
		{"t10k-images-idx3-ubyte.gz", 1648877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
			7840016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
		{"t10k-labels-idx1-ubyte.gz", 4542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
			10008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
	}
	fashionFiles = []file{
		{"train-images-idx3-ubyte.gz", 26421880, "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
			47040016, "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
		{"train-labels-idx1-ubyte.gz", 29515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
			60008, "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
		{"t10k-images-idx3-ubyte.gz", 4422102, "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
			7840016, "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
		{"t10k-labels-idx1-ubyte.gz", 5148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
			10008, "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"},
	}
	binarizedFiles = []file{
		{name: "binarized_mnist_train.amat", size: 78400000, sha256: "ad693b29f94c14277b095f5238ddefbbdaaae0939789dd2f4f0205278cee3e4d"},
		{name: "binarized_mnist_valid.amat", size: 15680000, sha256: "1de3d397c40fe8eeb33dafd4099a1f665ec01e96d9be234aaeeac8a34930e2e2"},
		{name: "binarized_mnist_test.amat", size: 15680000, sha256: "e6687bfea3f820c174f33b7865140b2a2dd2930ef786f35d45795fc193b5ab2c"},
	}
)

const (
	mnistAddress     = "https://ossci-datasets.s3.amazonaws.com/mnist"
	fashionAddress   = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
	binarizedAddress = "http://www.cs.toronto.edu/~larocheh/public/datasets/binarized_mnist"
)

func collections() []collection {
	return []collection{
		{name: "glyphs", description: "digits drawn from the fonts of the Go project",
			shape: Shape{28, 28}, train: 10_000, test: 2_000, holdOut: 1_000, read: readGlyphs},
		{name: "miniglyphs", description: "glyphs, shrunk by the means of 2×2 pixels",
			shape: Shape{14, 14}, train: 10_000, test: 2_000, holdOut: 1_000, read: shrunk(readGlyphs)},
		{name: "taggedglyphs", description: "miniglyphs above a row of tags (GlyphTags)",
			shape: Shape{15, 14}, train: 10_000, test: 2_000, holdOut: 1_000, read: readTaggedGlyphs},
		{name: "fontglyphs", description: "miniglyphs of four fonts, and of three mono fonts to test on",
			shape: Shape{14, 14}, train: 5_720, test: 850, holdOut: 520, read: readFontGlyphs},
		{name: "3by3", description: "12 patterns of rows and columns on a 3×3 grid (Kirby)",
			shape: Shape{3, 3}, train: 18_000, test: 18, read: readThreeByThree},
		{name: "mnist", description: "handwritten digits (LeCun, Cortes, Burges)",
			shape: Shape{28, 28}, train: 60_000, test: 10_000, holdOut: 10_000, read: readIDXFiles,
			folder: "mnist", files: mnistFiles, address: mnistAddress},
		{name: "minimnist", description: "mnist, shrunk by the means of 2×2 pixels",
			shape: Shape{14, 14}, train: 60_000, test: 10_000, holdOut: 10_000, read: shrunk(readIDXFiles),
			folder: "mnist", files: mnistFiles, address: mnistAddress},
		{name: "fashion", description: "FashionMNIST, articles of clothing (Xiao, Rasul, Vollgraf)",
			shape: Shape{28, 28}, train: 60_000, test: 10_000, holdOut: 10_000, read: readIDXFiles,
			folder: "fashion", files: fashionFiles, address: fashionAddress},
		{name: "binarized-mnist", description: "mnist, its pixels drawn once (Salakhutdinov, Murray; Larochelle)",
			shape: Shape{28, 28}, train: 50_000, validation: 10_000, test: 10_000, read: readTextFiles,
			folder: "binarized_mnist", files: binarizedFiles, address: binarizedAddress},
		faces("freyfaces", "a face in a film", Shape{28, 20}, 1_965, 165),
		faces("olivettifaces", "40 faces, ten pictures of each", olivettiShape, 400, 40),
		smallFaces("olivettifaces-48", "olivettifaces, cut to their middle", Shape{48, 48}, 400, 0, 40, readMiddles),
		smallFaces("olivettifaces-24", "olivettifaces-48, shrunk by the means of 2×2 pixels", Shape{24, 24}, 400, 0, 40, shrunk(readMiddles)),
		pianoRolls("jsb", "chorales of J. S. Bach", 160, 229, 76, 77),
		pianoRolls("nottingham", "folk tunes with chords", 1793, 694, 173, 170),
		pianoRolls("piano-midi", "classical piano music", 3857, 87, 12, 25),
		pianoRolls("musedata", "orchestral and piano music", 4273, 524, 135, 124),
		{name: "mit-mocap", description: "walks of one person, 49 standardised channels, real numbers (Taylor, Hinton, Roweis)",
			shape: Shape{100, 49}, train: 35, test: 4, holdOut: 5, read: readMotion,
			folder: "music", files: []file{{name: "mit-mocap.json.gz"}},
			content: `JSON {"train": …, "test": …} of sequences, whose steps list 49 numbers`},
		{name: "voices", description: "sequences of four voices by a grammar of known entropy (VoicesEntropy)",
			shape: Shape{voicesSteps, voices * voicePitches}, train: 400, validation: 100, test: 100, read: readVoices},
		{name: "balls", description: "films of three bouncing balls, 15×15 pixels (Sutskever, Hinton, Taylor)",
			shape: Shape{ballsSteps, ballsSide * ballsSide}, train: 200, validation: 50, test: 50, read: readBalls},
		smallFaces("olivettipatches", "tiles of 8×8 pixels of olivettifaces, each fifth picture's to test on", Shape{tileSide, tileSide}, 320*64, 80*64, 2_000, readTiles),
		{name: "shifteddots", description: "pairs of pictures of random dots, one above the other, the lower one shifted by up to 3 pixels",
			shape: Shape{2 * dotsSide, dotsSide}, train: 20_000, test: 2_000, holdOut: 2_000, read: readShiftedDots},
		uci("adult", "census records", 123, 5_000, 1_414, 26_147, uciColumns(adultColumns)),
		uci("connect4", "positions of the game Connect Four", 126, 16_000, 4_000, 47_557, numberedColumns("square", 42, 3, false)),
		uci("dna", "splice junctions of genes", 180, 1_400, 600, 1_186, numberedColumns("position", 60, 3, true)),
		uci("mushrooms", "descriptions of mushrooms", 112, 2_000, 500, 5_624, uciColumns(mushroomColumns)),
	}
}

// These are the columns of UCI sets with their numbers of units. A + marks a column that may lack a value.
// veil-type is binary because it has the same value in all rows.
const (
	adultColumns = "age 5 workclass 8+ fnlwgt 5 education 16 education-num 5 marital-status 7 occupation 14+ relationship 6 race 5 sex 2 " +
		"capital-gain 2 capital-loss 2 hours-per-week 5 native-country 41+"
	mushroomColumns = "cap-shape 6 cap-surface 4 cap-color 10 bruises 2 odor 9 gill-attachment 2 gill-spacing 2 gill-size 2 gill-color 12 stalk-shape 2 " +
		"stalk-surface-above-ring 4 stalk-surface-below-ring 4 stalk-color-above-ring 9 stalk-color-below-ring 9 veil-type 1 veil-color 4 " +
		"ring-number 3 ring-type 5 spore-print-color 9 population 6 habitat 7"
)

func uciColumns(list string) (columns []Column) {
	fields, first := strings.Fields(list), 0
	for i := 0; i < len(fields); i += 2 {
		number, rest := strings.CutSuffix(fields[i+1], "+")
		c := Column{Name: fields[i], Kind: CategoricalColumn, First: first, Rest: rest}
		if c.Units, _ = strconv.Atoi(number); c.Units == 1 {
			c.Kind = BinaryColumn
		}
		columns, first = append(columns, c), first+c.Units
	}
	return columns
}

// numberedColumns returns n categorical columns with the same number of units.
func numberedColumns(name string, n, units int, rest bool) (columns []Column) {
	for i := range n {
		columns = append(columns, Column{Name: fmt.Sprint(name, " ", i+1), Kind: CategoricalColumn, First: i * units, Units: units, Rest: rest})
	}
	return columns
}

func uci(name, description string, units, train, validation, test int, columns []Column) collection {
	return collection{
		columns: columns,
		name:    "uci/" + name, description: description + ", binary attributes (UCI repository)",
		shape: Shape{1, units}, train: train, validation: validation, test: test, read: readTextFiles,
		folder:  filepath.Join("uci", name),
		files:   []file{{name: name + ".train.data.gz"}, {name: name + ".valid.data.gz"}, {name: name + ".test.data.gz"}},
		content: "text of 0 and 1, one row per line, separated by commas or spaces",
	}
}

// takeLabels makes a column of a named set the labels of its rows, as the Spec's Columns say, and drops its units.
func (data *source) takeLabels(s Spec) error {
	columns := slices.Clone(data.train.columns)
	name, is := strings.CutSuffix(s.Columns, "="+string(LabelColumn))
	var known []string
	for _, c := range columns {
		known = append(known, c.Name)
	}
	at := slices.Index(known, name)
	switch {
	case columns == nil:
		return fmt.Errorf("data set %s: columns = %q: the set has no columns; leave it empty", s.Name, s.Columns)
	case !is || at < 0:
		return fmt.Errorf("data set %s: columns = %q: its columns have their kinds; leave it empty, or make one the label, such as %s=label%s",
			s.Name, s.Columns, known[0], names.Meant(name, known...))
	}
	c := columns[at]
	for _, part := range []*rows{&data.train, &data.validation, &data.test} {
		var values []uint8
		labels := make([]uint8, part.Rows)
		for r := range labels {
			row := part.Row(r)
			class := slices.Index(row[c.First:c.First+c.Units], 255)
			switch {
			case c.Kind == BinaryColumn:
				class++ // 0 is off
			case class < 0:
				class = c.Units
			}
			labels[r] = uint8(class)
			values = append(append(values, row[:c.First]...), row[c.First+c.Units:]...)
		}
		*part = bytesOf(Shape{1, part.Shape.Units() - c.Units}, values, labels)
	}
	columns[at] = Column{Name: c.Name, Kind: LabelColumn, First: c.First}
	for i := range columns[at+1:] {
		columns[at+1+i].First -= c.Units
	}
	data.train.columns = columns
	return nil
}

// pianoRolls describes a set of sequences of sounding piano keys, divided as in Boulanger-Lewandowski, Bengio and
// Vincent (2012).
func pianoRolls(name, description string, longest, train, validation, test int) collection {
	return collection{
		name: name, description: description + ", piano rolls (Boulanger-Lewandowski, Bengio, Vincent)",
		shape: Shape{longest, piano[1] - piano[0] + 1}, train: train, validation: validation, test: test, read: readPianoRolls,
		folder: "music", files: []file{{name: name + ".json.gz"}},
		content: `JSON {"train": …, "valid": …, "test": …} of sequences, whose steps list the MIDI numbers that sound`,
	}
}

// faces describes a set of pictures. A tenth of them, drawn from the seed, become test rows.
func faces(name, description string, shape Shape, n, holdOut int) collection {
	return collection{
		name: name, description: description + ", in grey levels",
		shape: shape, train: n, holdOut: holdOut, read: readBytes,
		folder: "faces", files: []file{{name: fmt.Sprintf("%s-%dx%dx%d.u8.gz", name, n, shape.Height, shape.Width)}},
		content: fmt.Sprintf("the grey levels of %d images of %v, a byte each, row by row", n, shape),
	}
}

// smallFaces describes a set of olivettifaces that read crops or shrinks.
func smallFaces(name, description string, shape Shape, train, test, holdOut int, read func(collection) (source, error)) collection {
	c := faces("olivettifaces", "", olivettiShape, 400, 40)
	c.name, c.description, c.shape, c.read = name, description+", in grey levels", shape, read
	c.train, c.test, c.holdOut = train, test, holdOut
	return c
}

const tileSide = 8

func readTiles(c collection) (source, error) {
	whole := c
	whole.shape, whole.train = olivettiShape, 400
	data, err := readBytes(whole)
	if err != nil {
		return data, err
	}
	all := data.train
	var parts [2][]uint8
	for i := range all.count() {
		to := &parts[0]
		if i%5 == 4 {
			to = &parts[1]
		}
		for top := 0; top < all.Shape.Height; top += tileSide {
			for left := 0; left < all.Shape.Width; left += tileSide {
				*to = append(*to, all.crop(i, top, left, c.shape)...)
			}
		}
	}
	return source{train: bytesOf(c.shape, parts[0], nil), test: bytesOf(c.shape, parts[1], nil)}, nil
}

var olivettiShape = Shape{64, 64}

// readMiddles reads olivettifaces and crops them to the 48×48 pixels in their middle.
func readMiddles(c collection) (source, error) {
	c.shape = olivettiShape
	data, err := readBytes(c)
	var middles []uint8
	for i := range data.train.Rows {
		middles = append(middles, data.train.crop(i, 8, 8, Shape{48, 48})...)
	}
	return source{train: bytesOf(Shape{48, 48}, middles, nil)}, err
}

// crop returns the pixels of a part of image i, whose upper left pixel is at top and left.
func (r rows) crop(i, top, left int, shape Shape) (pixels []uint8) {
	for y := range shape.Height {
		start := (top+y)*r.Shape.Width + left
		pixels = append(pixels, r.Row(i)[start:start+shape.Width]...)
	}
	return pixels
}

func readBytes(c collection) (source, error) {
	images, err := readPart(c, 0, func(r io.Reader) (rows, error) {
		values, err := io.ReadAll(io.LimitReader(r, int64(c.train*c.shape.Units())+1))
		if err != nil {
			return rows{}, err
		}
		if len(values) != c.train*c.shape.Units() {
			return rows{}, fmt.Errorf("%d images of %v take %d bytes, but the file has another size", c.train, c.shape, c.train*c.shape.Units())
		}
		return bytesOf(c.shape, values, nil), nil
	})
	return source{train: images}, err
}

func find(name string) (collection, bool) {
	for _, c := range collections() {
		if c.name == name {
			return c, true
		}
	}
	return collection{}, false
}

// setNames returns the names of the sets that come with the program.
func setNames() (all []string) {
	for _, c := range collections() {
		all = append(all, c.name)
	}
	return all
}

type noSet string

func (name noSet) Error() string {
	all := setNames()
	return fmt.Sprintf("data set %s: no set has this name%s; the sets are %s", string(name), names.Meant(string(name), all...), strings.Join(all, ", "))
}

func (noSet) Unwrap() error { return fs.ErrNotExist }

func (c collection) load() (source, error) {
	data, err := c.read(c)
	if err != nil {
		return source{}, fmt.Errorf("data set %s: %w", c.name, err)
	}
	data.holdOut = c.holdOut
	for _, part := range []struct {
		name string
		got  rows
		want int
	}{
		{"training", data.train, c.train},
		{"validation", data.validation, c.validation},
		{"test", data.test, c.test},
	} {
		if part.got.count() != part.want || part.want > 0 && part.got.Shape.Units() != c.shape.Units() {
			return source{}, fmt.Errorf("data set %s: %d %s rows of shape %v found in %s, but %d of shape %v expected: these are other files; replace them",
				c.name, part.got.count(), part.name, part.got.Shape, c.folder, part.want, c.shape)
		}
	}
	data.train.Shape, data.validation.Shape, data.test.Shape = c.shape, c.shape, c.shape
	data.train.columns = c.columns
	return data, nil
}

// readPart reads the file of a collection with the given index.
func readPart[T any](c collection, i int, parse func(io.Reader) (T, error)) (data T, err error) {
	path, err := c.locate(c.files[i])
	if err != nil {
		return data, err
	}
	return readFile(path, parse)
}

func readIDXFiles(c collection) (source, error) {
	var parts [2]rows
	for i := range parts {
		images, err := readPart(c, 2*i, readImages)
		if err != nil {
			return source{}, err
		}
		labels, err := readPart(c, 2*i+1, readLabels)
		if err != nil {
			return source{}, err
		}
		if images.count() != len(labels) {
			return source{}, fmt.Errorf("%s has %d images, but %s has %d labels",
				c.files[2*i].name, images.count(), c.files[2*i+1].name, len(labels))
		}
		images.Labels = labels
		parts[i] = images
	}
	return source{train: parts[0], test: parts[1]}, nil
}

// shrunk returns a reader that halves the height and width of the images that read returns.
func shrunk(read func(collection) (source, error)) func(collection) (source, error) {
	return func(c collection) (source, error) {
		data, err := read(c)
		if err == nil {
			data.train, data.test = data.train.shrink(), data.test.shrink()
		}
		return data, err
	}
}

// shrink replaces each block of 2×2 pixels by its mean, rounded so that a mean of one half or more counts as on.
// It drops an odd last row or column.
func (r rows) shrink() rows {
	small := Shape{r.Shape.Height / 2, r.Shape.Width / 2}
	shrunk := make([]uint8, 0, r.count()*small.Units())
	for i := range r.count() {
		image := r.Row(i)
		for y := range small.Height {
			for x := range small.Width {
				upper, lower := image[2*y*r.Shape.Width+2*x:], image[(2*y+1)*r.Shape.Width+2*x:]
				sum := int(upper[0]) + int(upper[1]) + int(lower[0]) + int(lower[1])
				shrunk = append(shrunk, uint8((sum+2)/4))
			}
		}
	}
	return bytesOf(small, shrunk, r.Labels)
}

func readTextFiles(c collection) (data source, err error) {
	for i, to := range []*rows{&data.train, &data.validation, &data.test} {
		if *to, err = readPart(c, i, readText); err != nil {
			break
		}
	}
	return data, err
}

// readThreeByThree makes the set of Várady 2025, Appendix A: the patterns of a 3×3 grid in which some but not
// all rows are on (horizontal), or some but not all columns (vertical). A vertical pattern is twice as likely
// as a horizontal one. The test rows are the distribution itself: one row for each horizontal pattern and two
// for each vertical one.
func readThreeByThree(collection) (source, error) {
	var horizontal, vertical []uint8
	for lines := 0b001; lines < 0b111; lines++ {
		for cell := range 9 {
			row, column := cell/3, cell%3
			horizontal = append(horizontal, 255*uint8(lines>>row&1))
			vertical = append(vertical, 255*uint8(lines>>column&1))
		}
	}
	patterns := slices.Concat(horizontal, vertical, vertical)
	return source{
		train: bytesOf(Shape{3, 3}, slices.Repeat(patterns, 1000), nil),
		test:  bytesOf(Shape{3, 3}, patterns, nil),
	}, nil
}

const (
	dotsSide  = 13
	dotsShift = 3 // the largest shift along each axis
)

// readShiftedDots makes pairs of pictures (Memisevic and Hinton 2010). Each pixel of the upper picture is on with
// probability 1/10. The lower picture is the upper one, shifted cyclically along both axes; each of its pixels is
// redrawn with probability 1/50. The class of a pair is its shift.
func readShiftedDots(c collection) (source, error) {
	const shifts = 2*dotsShift + 1
	units := dotsSide * dotsSide
	var all, labels []uint8
	for i := range c.train + c.test {
		random := philox.NewStream(1, philox.Synthesis, uint32(i))
		class := i % (shifts * shifts)
		down, right := class/shifts-dotsShift, class%shifts-dotsShift
		pair := make([]uint8, 2*units)
		dot := func() uint8 {
			if random.Uint32() < math.MaxUint32/10 {
				return 255
			}
			return 0
		}
		for k := range units {
			row, column := (k/dotsSide+down+dotsSide)%dotsSide, (k%dotsSide+right+dotsSide)%dotsSide
			pair[k] = dot()
			if pair[units+row*dotsSide+column] = pair[k]; random.Uint32() < math.MaxUint32/50 {
				pair[units+row*dotsSide+column] = dot()
			}
		}
		all, labels = append(all, pair...), append(labels, uint8(class))
	}
	return cutAt(c.train, c.shape, all, labels), nil
}

// cutAt makes the first rows training rows, and the others test rows.
func cutAt(train int, shape Shape, values, labels []uint8) source {
	cut := train * shape.Units()
	return source{train: bytesOf(shape, values[:cut:cut], labels[:train:train]), test: bytesOf(shape, values[cut:], labels[train:])}
}
