#!/usr/bin/env bash
# music21 10.5.1: in the MIDI file of a score that was read from MusicXML, a transposing part sounds as it is written. The
# same part, written by itself, is transposed.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
python3 -m venv v
v/bin/pip install -q music21==10.5.1 mido==1.3.3
v/bin/python -W ignore - <<'PY'
import sys

import mido
import music21

NOTE = "<note><pitch><step>{}</step><octave>4</octave></pitch><duration>1</duration><type>quarter</type></note>"
SCORE = f"""<?xml version="1.0"?><score-partwise version="4.0">
<part-list><score-part id="P"><part-name>Clarinet in Bb</part-name></score-part></part-list><part id="P">
<measure number="1"><attributes><divisions>1</divisions><key><fifths>0</fifths></key>
<time><beats>4</beats><beat-type>4</beat-type></time><clef><sign>G</sign><line>2</line></clef>
<transpose><diatonic>-1</diatonic><chromatic>-2</chromatic></transpose></attributes>
{"".join(NOTE.format(step) for step in "CDEF")}</measure></part></score-partwise>"""


def sounding(stream):
    """Writes a stream as MIDI, and returns the pitches in the file."""
    stream.write("midi", fp="x.mid")
    return [m.note for m in mido.MidiFile("x.mid") if m.type == "note_on" and m.velocity]


score = music21.converter.parseData(SCORE, format="musicxml")
whole, alone = sounding(score), sounding(score.parts[0])
print("written C D E F, to sound two semitones lower: 58 60 62 63")
print("MIDI of the score:", *whole)
print("MIDI of its part:", *alone)
print("MIDI of score.toSoundingPitch():", *sounding(score.toSoundingPitch()))
if whole != [60, 62, 64, 65] or alone != [58, 60, 62, 63]:
    sys.exit("music21 behaves otherwise now")
PY
