package runs

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"path/filepath"
	"time"
)

// eventsFile is the file of a run that TensorBoard reads, in a separate folder.
const eventsFile = "tensorboard/events.out.tfevents.0.helmholtz"

// TensorBoard returns a recorder that writes an event file for TensorBoard into the folder tensorboard
// of each run's directory. The file has the measures of each epoch as scalars train/KEY, validation/KEY
// and NAME/KEY, and the learning rate, plotted over the number of steps. When training begins or resumes,
// the recorder rewrites the file with the run's epochs so far. If the file cannot be written, training
// continues without it, and Err returns the error.
func TensorBoard() *Events { return &Events{} }

// Events is the recorder that TensorBoard returns.
type Events struct {
	file *os.File
	err  error
}

// Err returns the first write error, or nil.
func (v *Events) Err() error { return v.err }

// Begin rewrites the event file with the run's epochs so far. Err reports any error.
func (v *Events) Begin(plan Plan) {
	path := filepath.Join(plan.Dir, eventsFile)
	var all bytes.Buffer
	now, last := time.Now(), lastOf(plan.History.Epochs).Seconds
	writeEvent(&all, now, 0, lengthDelimited(nil, 3, []byte("brain.Event:2")))
	for _, e := range plan.History.Epochs {
		writeEvent(&all, now.Add(time.Duration((e.Seconds-last)*float64(time.Second))), e.Step, scalars(e))
	}
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		v.file, err = os.Create(path)
	}
	v.write(all.Bytes(), err)
}

// Step does nothing: there is one event per epoch.
func (*Events) Step(Progress) {}

// Epoch appends an event with scalars for the learning rate and the measures of the epoch. Err reports any
// error.
func (v *Events) Epoch(e Epoch) {
	var b bytes.Buffer
	writeEvent(&b, time.Now(), e.Step, scalars(e))
	v.write(b.Bytes(), nil)
}

// End closes the event file. Err reports any error.
func (v *Events) End(error) {
	if v.file != nil {
		err := v.file.Close()
		v.file = nil
		v.write(nil, err)
	}
}

// write appends data to the file if err is nil, and stores the first error. After an error it closes the file,
// because TensorBoard reads nothing after an incomplete event.
func (v *Events) write(data []byte, err error) {
	if err == nil && v.file != nil {
		_, err = v.file.Write(data)
	}
	if err != nil && v.file != nil {
		v.file.Close()
		v.file = nil
	}
	if v.err == nil && err != nil {
		v.err = fmt.Errorf("the event file of TensorBoard: %w", err)
	}
}

// scalars returns the field summary of an event, with the learning rate and the measures of an epoch.
func scalars(e Epoch) []byte {
	var summary []byte
	add := func(tag string, x float64) {
		value := append(lengthDelimited(nil, 1, []byte(tag)), 2<<3|5) // field 2 has four bytes
		summary = lengthDelimited(summary, 1, binary.LittleEndian.AppendUint32(value, math.Float32bits(float32(x))))
	}
	add("learning_rate", e.LearningRate)
	parts := map[string]Measures{"train": e.Train, "validation": e.Validation}
	maps.Copy(parts, e.Measured)
	for name, measures := range parts {
		for key, x := range measures {
			add(name+"/"+key, x)
		}
	}
	return lengthDelimited(nil, 5, summary)
}

// lengthDelimited appends a field of a protocol buffer that has any number of bytes.
func lengthDelimited(b []byte, field byte, content []byte) []byte {
	return append(binary.AppendUvarint(append(b, field<<3|2), uint64(len(content))), content...)
}

// writeEvent writes an event, a protocol buffer of TensorFlow's event.proto, as a record of a TFRecord
// file: its length and its bytes, each followed by a masked CRC-32C.
func writeEvent(b *bytes.Buffer, at time.Time, step int, what []byte) {
	event := binary.LittleEndian.AppendUint64([]byte{1<<3 | 1}, math.Float64bits(float64(at.UnixNano())/1e9)) // field 1 has eight bytes
	event = append(binary.AppendUvarint(append(event, 2<<3), uint64(step)), what...)
	masked := func(data []byte) []byte {
		sum := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
		return binary.LittleEndian.AppendUint32(nil, (sum>>15|sum<<17)+0xa282ead8)
	}
	length := binary.LittleEndian.AppendUint64(nil, uint64(len(event)))
	b.Write(length)
	b.Write(masked(length))
	b.Write(event)
	b.Write(masked(event))
}
