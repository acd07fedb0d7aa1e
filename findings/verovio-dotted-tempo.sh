#!/usr/bin/env bash
# verovio 6.4.1: a metronome mark of a dotted note plays too slowly in MIDI and in the timemap: a dotted quarter at 60 is
# 80 quarters a minute, not 90, and a double-dotted one 96, not 105. Marks of plain notes, and sound tempo, are right.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q verovio==6.4.1
"$home/v/bin/python" - <<'PY'
import sys

import verovio

SCORE = """<?xml version="1.0"?><score-partwise version="4.0">
<part-list><score-part id="P"><part-name>P</part-name></score-part></part-list><part id="P"><measure number="1">
<attributes><divisions>1</divisions><time><beats>3</beats><beat-type>4</beat-type></time>
<clef><sign>G</sign><line>2</line></clef></attributes>
<direction><direction-type><metronome><beat-unit>{unit}</beat-unit>{dots}<per-minute>60</per-minute></metronome>
</direction-type></direction>
<note><pitch><step>C</step><octave>4</octave></pitch><duration>3</duration><type>half</type><dot/></note>
</measure></part></score-partwise>"""
verovio.enableLog(verovio.LOG_OFF)
factors = {}
for unit, quarters in (("half", 2), ("quarter", 1), ("eighth", 0.5)):
    for dots in range(3):
        toolkit = verovio.toolkit()
        toolkit.loadData(SCORE.format(unit=unit, dots="<beat-unit-dot/>" * dots))
        toolkit.renderToMIDI()
        tempo = next(entry["tempo"] for entry in toolkit.renderToTimemap() if "tempo" in entry)
        right = 60 * quarters * (2 - 0.5**dots)
        print(f"{unit} with {dots} dots at 60: {tempo:g} quarters a minute, right {right:g}")
        factors[unit, dots] = tempo / (60 * quarters)
if any(abs(factor - (1, 4 / 3, 8 / 5)[dots]) > 1e-6 for (_, dots), factor in factors.items()):
    sys.exit("verovio behaves otherwise now")
PY
