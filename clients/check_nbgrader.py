"""Try nbgrader with a notebook in Go: that it needs the two settings of docs/jupyter.md, and that these are enough.

    check_nbgrader.py FOLDER

An assignment is released and graded for a student who solved it and for one who did not. An unexpected outcome ends the
program with an error. FOLDER keeps the course.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import nbformat
from nbgrader.api import Gradebook

BIN = pathlib.Path(sys.prefix) / "bin"
SETTING = 'c = get_config()\nc.ClearSolutions.code_stub = {"go": "// your code"}\n'
CELLS = (
    ("func twice(x int) int {\n\t// BEGIN SOLUTION\n\treturn 2 * x\n\t// END SOLUTION\n}", {"grade": False, "solution": True, "locked": False, "grade_id": "twice"}),
    ('%%\nif twice(21) != 42 {\n\tpanic("not twice")\n}', {"grade": True, "solution": False, "locked": True, "grade_id": "test", "points": 2}),
)


def main():
    course = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(course, ignore_errors=True)
    source = course / "source" / "first" / "one.ipynb"
    source.parent.mkdir(parents=True)
    cells = [nbformat.v4.new_code_cell(text, metadata={"nbgrader": {"schema_version": 3, "task": False, **marks}}) for text, marks in CELLS]
    kernel = {"kernelspec": {"name": "helmholtz", "display_name": "Go (Helmholtz)", "language": "go"}, "language_info": {"name": "go"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), source)

    release = ("generate_assignment", "first", "--create", "--force")
    elsewhere = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if pathlib.Path(p) != BIN)
    refuses("without its environment on the PATH", "alembic", course, elsewhere, *release)
    (course / "gradebook.db").unlink(missing_ok=True)
    path = f"{BIN}{os.pathsep}{elsewhere}"
    refuses("without the stub for Go", "language 'go' has not been specified", course, path, *release)
    (course / "nbgrader_config.py").write_text(SETTING)
    status, text = nbgrader(course, path, *release)
    expect(status == 0, "a release with both settings fails", text)
    released = (course / "release" / "first" / "one.ipynb").read_text()
    expect("// your code" in released and "2 * x" not in released, "the release still has the solution", released)

    for student, solution in (("ada", "return x + x"), ("ben", "return x")):
        submitted = course / "submitted" / student / "first" / "one.ipynb"
        submitted.parent.mkdir(parents=True)
        submitted.write_text(released.replace("// your code", solution))
    status, text = nbgrader(course, path, "autograde", "first")
    expect(status == 0, "grading fails", text)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        scores = {student: book.find_submission("first", student).score for student in ("ada", "ben")}
    expect(scores == {"ada": 2, "ben": 0}, "the points are others", str(scores))
    print("nbgrader releases a notebook in Go without its solution, and grades it: 2 of 2 points, and 0 for a wrong solution")


def nbgrader(course, path, *arguments):
    done = subprocess.run([BIN / "nbgrader", *arguments], cwd=course, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
    return done.returncode, done.stdout


def refuses(without, word, course, path, *arguments):
    status, text = nbgrader(course, path, *arguments)
    expect(status != 0 and word in text, f"nbgrader works {without}, so that setting is not needed", text)


def expect(is_so, what, text):
    if not is_so:
        sys.exit(f"check_nbgrader.py: {what}:\n{text[-4000:]}")


if __name__ == "__main__":
    main()
