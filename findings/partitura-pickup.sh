#!/usr/bin/env bash
# partitura 1.9.0: load_score_midi takes a piece that is shorter than a measure for a pickup and moves it before 0, so
# that its first note begins at a negative time. load_performance_midi and pretty_midi begin at 0.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
python3 -m venv v
v/bin/pip install -q partitura==1.9.0 mido==1.3.3 pretty_midi==0.2.11.post0
v/bin/python -W ignore - <<'PY'
import sys

import mido
import partitura
import pretty_midi

seen = {}
for beats in (3, 4, 6):
    track = mido.MidiTrack([mido.MetaMessage("time_signature", numerator=4, denominator=4)])
    for note in range(beats):
        track.append(mido.Message("note_on", note=60 + note, time=0))
        track.append(mido.Message("note_off", note=60 + note, time=480))
    file = mido.MidiFile(ticks_per_beat=480, type=1)
    file.tracks.append(track)
    file.save("x.mid")
    seen[beats] = partitura.load_score_midi("x.mid").note_array()["onset_quarter"].tolist()
    played = partitura.load_performance_midi("x.mid").note_array()["onset_sec"].tolist()
    pretty = [float(note.start) for note in pretty_midi.PrettyMIDI("x.mid").instruments[0].notes]
    print(f"{beats} beats of a measure of 4: score {seen[beats]}, performance {played}, pretty_midi {pretty}")
if seen != {3: [-3, -2, -1], 4: [0, 1, 2, 3], 6: [0, 1, 2, 3, 4, 5]}:
    sys.exit("partitura behaves otherwise now")
PY
