#!/usr/bin/env bash
# @tonejs/midi 2.0.28: a tempo that changes in the middle of a piece without a tempo at its start is applied from its
# start, so that all times are wrong. pretty_midi 0.2.11.post0 and symusic 0.6.0 use 120 beats a minute until then.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
python3 -m venv v
v/bin/pip install -q mido==1.3.3 pretty_midi==0.2.11.post0 symusic==0.6.0
npm install --silent --no-fund --no-audit @tonejs/midi@2.0.28
v/bin/python - <<'PY'
import mido
import pretty_midi
import symusic

file = mido.MidiFile(ticks_per_beat=480, type=1)
file.tracks.append(mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=1_000_000, time=480)]))
note = [mido.Message("note_on", note=60, time=0), mido.Message("note_off", note=60, time=480)]
file.tracks.append(mido.MidiTrack(note * 2))
file.save("x.mid")
print("written: two notes of one beat, the tempo is halved after the first")
print("pretty_midi: seconds", [float(n.end - n.start) for n in pretty_midi.PrettyMIDI("x.mid").instruments[0].notes])
print("symusic: seconds", [n.duration for n in symusic.Score("x.mid", ttype="second").tracks[0].notes])
print("mido: seconds", file.length)
PY
cat > read.cjs <<'JS'
const { Midi } = require("@tonejs/midi");
const seconds = new Midi(require("fs").readFileSync("x.mid")).tracks.flatMap((t) => t.notes.map((n) => n.duration));
console.log("@tonejs/midi: seconds", JSON.stringify(seconds));
if (JSON.stringify(seconds) !== "[1,1]") {
  console.error("@tonejs/midi behaves otherwise now");
  process.exit(1);
}
JS
node read.cjs || exit 1
