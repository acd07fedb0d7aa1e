"""Write a copy of the course's notebooks, which are themselves left as they are.

    python3 notebooks/course.py student FOLDER    results stay folded until the reader has made a prediction
    python3 notebooks/course.py teacher FOLDER    everything is open, the solutions too
    python3 notebooks/course.py site FOLDER       as for students, in the marks of MyST-NB

A copy belongs in the folder notebooks/course of a clone, where its links and cells work. Running a folded cell opens it.
"""

import json
import pathlib
import re
import sys

COURSE = pathlib.Path(__file__).resolve().parent / "course"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("student", "teacher", "site"):
        sys.exit(__doc__)
    whose, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(COURSE.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        copy(notebook["cells"], whose)
        (folder / path.name).write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for path in COURSE.glob("*.md"):
        (folder / path.name).write_bytes(path.read_bytes())


def copy(cells, whose):
    predicted = False
    for cell in cells:
        text, metadata = "".join(cell["source"]), cell["metadata"]
        if cell["cell_type"] == "code":
            if whose == "teacher":
                metadata.pop("jupyter", None)
            elif predicted and cell["outputs"]:
                fold(metadata, whose)
            continue
        predicted = predicted or "**Your prediction**" in text
        if whose == "teacher":
            text = text.replace("<details>", "<details open>")
        elif match := re.fullmatch(r"(## What to notice)\n(.*)", text, re.DOTALL):
            text = f"{match[1]}\n\n<details><summary>Open this after you have compared the results with your prediction</summary>\n{match[2]}\n\n</details>"
        cell["source"] = text.splitlines(keepends=True)


def fold(metadata, whose):
    solution = metadata.get("jupyter", {}).get("source_hidden")
    if whose == "site":
        metadata.setdefault("tags", []).append("hide-cell" if solution else "hide-output")
    else:
        metadata.setdefault("jupyter", {})["outputs_hidden"] = True


if __name__ == "__main__":
    main()
