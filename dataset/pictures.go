package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // registers the format
	_ "image/png"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/memory"
)

// readFolder reads the pictures of a folder. The pictures of each subfolder form a class; classes are numbered
// from 0 in the order of names. If there is a subfolder train, or if all subfolders are parts and one is of training
// rows, the subfolders train (or training), test (or testing) and validation (or val, valid) are parts of the data
// instead, in capital or small letters.
func readFolder(folder string) (data source, err error) {
	within, pictures, err := list(folder)
	if err != nil {
		return data, err
	}
	for name, remedy := range foldersOfTables {
		if found, _ := filepath.Glob(filepath.Join(folder, name)); found != nil {
			return data, fmt.Errorf("%s has %s, and no pictures: make one file, for example with %s", folder, filepath.Base(found[0]), remedy)
		}
	}
	parts := map[string]*rows{}
	for _, name := range within {
		switch strings.ToLower(name) {
		case "train", "training":
			parts[name] = &data.train
		case "validation", "valid", "val":
			parts[name] = &data.validation
		case "test", "testing":
			parts[name] = &data.test
		}
	}
	divided := len(parts) == len(within) && slices.Contains(slices.Collect(maps.Values(parts)), &data.train)
	if !divided && !slices.Contains(within, "train") {
		err := data.train.readClasses(folder, within, pictures, distinct(within))
		return data, err
	}
	var classes []string
	folders, loose := map[string][]string{}, map[string][]string{} // in each part, and the pictures beside them
	for _, part := range within {
		if parts[part] == nil {
			return data, fmt.Errorf("%s has a folder train and a folder %s: give train, validation and test, or only classes", folder, part)
		}
		if folders[part], loose[part], err = list(filepath.Join(folder, part)); err != nil {
			return data, err
		}
		classes = append(classes, folders[part]...)
	}
	if len(pictures) > 0 {
		return data, fmt.Errorf("%s has a folder train and pictures next to it: move them into train", folder)
	}
	for _, part := range within {
		path := filepath.Join(folder, part)
		if parts[part].count() > 0 {
			return data, fmt.Errorf("%s has several folders of the same part as %s: keep one", folder, part)
		}
		if err := parts[part].readClasses(path, folders[part], loose[part], distinct(classes)); err != nil {
			return data, err
		}
		if parts[part].Shape != data.train.Shape && data.train.count() > 0 && parts[part].count() > 0 {
			return data, fmt.Errorf("%s has pictures of %v, and train has pictures of %v: bring all to one size", path, parts[part].Shape, data.train.Shape)
		}
	}
	return data, nil
}

// foldersOfTables has remedies for folders that have files of these names.
var foldersOfTables = map[string]string{
	"state.json":        `datasets.load_from_disk(FILE).to_parquet("rows.parquet")`,
	"dataset_dict.json": `datasets.load_from_disk(FILE)["train"].to_parquet("rows.parquet")`,
	"*.parquet":         `pyarrow.parquet.write_table(pyarrow.parquet.read_table(FILE), "rows.parquet")`,
}

// list returns the folders and the pictures in a folder, without hidden ones. It refuses pictures in other formats
// than PNG and JPEG.
func list(folder string) (folders, pictures []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if e.IsDir() {
			folders = append(folders, e.Name())
			continue
		}
		switch kind := strings.ToLower(filepath.Ext(e.Name())); kind {
		case ".png", ".jpg", ".jpeg":
			pictures = append(pictures, e.Name())
		case ".bmp", ".gif", ".tif", ".tiff", ".webp", ".heic", ".avif":
			return nil, nil, fmt.Errorf("%s is a picture in another format than PNG and JPEG: save it as PNG, or move it out of the folder", filepath.Join(folder, e.Name()))
		}
	}
	return folders, pictures, err
}

// readClasses reads the pictures of a folder, or of the folders in it. within and pictures hold the names of
// these folders and pictures; classes holds the names of all classes of the data, in order.
func (r *rows) readClasses(folder string, within, pictures, classes []string) error {
	if len(within) > 0 && len(pictures) > 0 {
		return fmt.Errorf("%s has both pictures and folders: put each picture into the folder of its class, or all into one folder", folder)
	}
	if len(classes) >= Unlabeled {
		return fmt.Errorf("%s has %d folders, and there are at most %d classes: put the pictures into fewer folders", folder, len(classes), Unlabeled-1)
	}
	for _, class := range within {
		inside, pictures, err := list(filepath.Join(folder, class))
		if err != nil {
			return err
		}
		if len(inside) > 0 {
			return fmt.Errorf("%s has a folder %s inside the folder of a class: put the pictures of a class into one folder", filepath.Join(folder, class), inside[0])
		}
		before := r.count()
		if err := r.readPictures(filepath.Join(folder, class), pictures); err != nil {
			return err
		}
		r.classes = classes
		label := uint8(slices.Index(classes, class))
		r.Labels = append(r.Labels, slices.Repeat([]uint8{label}, r.count()-before)...)
	}
	if err := r.readPictures(folder, pictures); err != nil {
		return err
	}
	if r.count() == 0 {
		return fmt.Errorf("%s has no PNG or JPEG pictures: name a file of data, a folder of pictures, or a folder with a folder of pictures for each class", folder)
	}
	return nil
}

// readPictures reads the named pictures of a folder and appends them. All must have the same size.
func (r *rows) readPictures(folder string, pictures []string) error {
	for _, name := range pictures {
		path := filepath.Join(folder, name)
		picture, err := readFile(path, readPicture)
		if err != nil {
			return err
		}
		if r.Shape = cmp.Or(r.Shape, picture.Shape); picture.Shape != r.Shape {
			return fmt.Errorf("%s has %v pixels, but others have %v: bring all pictures to one size", path, picture.Shape, r.Shape)
		}
		if r.pixels == nil {
			r.white = picture.white
		} else if r.white != picture.white {
			r.white = 0
		}
		if picture.merged != "" {
			r.merged = path
		}
		r.pixels, r.kind = append(r.pixels, picture.pixels...), pictureKind
	}
	return checkRoom(int64(r.count()), int64(len(r.pixels)), bytesEach)
}

// numberOf returns the number that a file has for a pixel of 16 bits.
func numberOf(pixel, white uint16) uint16 {
	if white == 255 {
		return uint16((uint32(pixel) + 128) / 257)
	}
	return pixel
}

// develop turns pixels into grey levels, or into bytes like an array if all are 0 or 1. It keeps their numbers if
// Largest gives their scale. training holds the training rows if the pictures come from another file.
func (s Spec) develop(training *scale, parts ...*rows) error {
	var most, white uint16
	mixed, merged := false, ""
	for _, part := range parts {
		if part.pixels == nil {
			continue
		}
		mixed = mixed || part.white == 0 || white != 0 && white != part.white
		most, white, merged = max(most, numberOf(slices.Max(part.pixels), part.white)), max(white, cmp.Or(part.white, 65535)), cmp.Or(merged, part.merged)
	}
	dark := s.Largest == 0 && most > 1 && most < 1<<15 && white > 255
	old := s.rules() == FirstRules
	if training != nil {
		// Another file has the old rules only where they gave the training pictures another scale.
		old = old && training.White != 0 && (s.Largest != 0 || training.Most < 1.5/255)
		mixed = training.White != white && (dark || training.White != 0)
		dark = mixed && dark
	}
	switch {
	case white == 0:
		return nil
	case !old && merged != "":
		return fmt.Errorf("%s has a palette that gives different numbers the same colour: save the numbers, in Python with Image.fromarray(numpy.asarray(Image.open(FILE))).save(\"new.png\"), or the grey levels, with Image.open(FILE).convert(\"L\").save(\"new.png\")", merged)
	case !old && mixed && (dark || s.Largest != 0):
		return fmt.Errorf("white is in doubt, since not all rows are pictures of as many bits, and the numbers go up to %d: save all pictures on the same scale, for example grey levels with Image.fromarray(numpy.uint8(numpy.asarray(Image.open(FILE))*255.0/%[1]d)).save(\"new.png\")", most)
	case !old && dark:
		return fmt.Errorf("the pictures of 16 bits have numbers up to %d, but white is 65535: give the largest possible number, such as largest = %[1]d (--largest)", most)
	}
	for _, part := range parts {
		if part.pixels == nil || !old && s.Largest != 0 {
			continue
		}
		part.scaled = old || most > 1
		part.levels = part.scaled
		values := make([]uint8, len(part.pixels))
		for k, v := range part.pixels {
			white := part.white
			if part.scaled {
				white = 255
			}
			values[k] = uint8(numberOf(v, white))
		}
		part.Values, part.pixels = Bytes(part.Shape.Units(), values), nil
	}
	return nil
}

// mostPixels is the largest number of pixels per byte of a file; a file that claims more is damaged. A byte of deflate
// holds at most 1032 bytes of 8 pixels.
const mostPixels = 8 * 1032

func readPicture(r io.Reader) (rows, error) {
	in := inputOf(r)
	if in.at == nil {
		return rows{}, errors.New("a compressed picture: decompress the file")
	}
	config, _, err := image.DecodeConfig(io.NewSectionReader(in.at, 0, in.size))
	if err != nil {
		return rows{}, fmt.Errorf("the picture is neither PNG nor JPEG, or damaged: save it again (%w)", err)
	}
	shape := Shape{config.Height, config.Width}
	pixels := memory.Product(int64(shape.Height), int64(shape.Width))
	err = shape.Check()
	if err == nil {
		err = checkRoom(1, pixels, 16)
	}
	if err != nil {
		return rows{}, fmt.Errorf("a picture of %v pixels: %w", shape, err)
	}
	if pixels > 1<<16 && pixels > mostPixels*in.size {
		return rows{}, fmt.Errorf("the picture claims %v pixels in %d bytes: it is damaged; save it again", shape, in.size)
	}
	picture, _, err := image.Decode(in)
	if err != nil {
		return rows{}, fmt.Errorf("the picture is damaged: save it again (%w)", err)
	}
	bounds := picture.Bounds()
	of := rows{Split: Split{Shape: shape}, pixels: make([]uint16, 0, shape.Units()), white: 255}
	switch picture := picture.(type) {
	case *image.Gray16, *image.RGBA64, *image.NRGBA64:
		of.white = 65535
	case *image.Paletted:
		numbers, colours := map[uint8]bool{}, map[color.Color]bool{}
		for _, number := range picture.Pix {
			numbers[number], colours[picture.Palette[number]] = true, true
		}
		if len(numbers) > len(colours) {
			of.merged = "this picture"
		}
	}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			red, green, blue, alpha := picture.At(x, y).RGBA()
			if alpha != 0xffff || red != green || green != blue {
				if p, is := picture.(interface{ Opaque() bool }); is && !p.Opaque() {
					return rows{}, fmt.Errorf(`pixel %d,%d is coloured or transparent: save the picture in grey levels on a background such as white, in Python with a = Image.open(FILE).convert("RGBA"); Image.alpha_composite(Image.new("RGBA", a.size, "white"), a).convert("L").save(FILE)`, y, x)
				}
				return rows{}, fmt.Errorf(`pixel %d,%d is coloured: save the picture in grey levels, in Python with Image.open(FILE).convert("L").save(FILE)`, y, x)
			}
			of.pixels = append(of.pixels, uint16(red))
		}
	}
	return of, nil
}
