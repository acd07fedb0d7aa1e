"""Tests of helmholtz_papermill: python -m unittest discover clients"""

import subprocess
import sys
import unittest

from papermill.translators import papermill_translators, translate_parameters

import helmholtz_papermill


class TestTranslator(unittest.TestCase):
    def test_values(self):
        for value, declaration in (
            (5, "const p = 5"),
            (-0.1, "const p = -0.1"),
            (1e-05, "const p = 1e-05"),
            (True, "const p = true"),
            ('a "b"\n\\ é 😀\ufeff', 'const p = "a \\"b\\"\\n\\\\ é 😀\\ufeff"'),
            (None, "var p any = nil"),
            (float("inf"), "var p = math.Inf(1)"),
            (float("nan"), "var p = math.NaN()"),
            ([1, 2], "var p = []int{1, 2}"),
            ([1, 0.5], "var p = []float64{1, 0.5}"),
            ([True, 1], "var p = []any{true, 1}"),
            ([[1], [2, 3]], "var p = [][]int{[]int{1}, []int{2, 3}}"),
            ([], "var p = []any{}"),
            ({"a": 1, "b": 2.5}, 'var p = map[string]float64{"a": 1, "b": 2.5}'),
            ({"a": [1], "b": "x"}, 'var p = map[string]any{"a": []int{1}, "b": "x"}'),
        ):
            self.assertEqual(translate_parameters("helmholtz", "go", {"p": value}), f"// Parameters\n%rm p\n{declaration}\n")
        self.assertEqual(translate_parameters("gonb", "", {}), "// Parameters\n")

    def test_mixed_lists_that_go_would_not_convert(self):
        self.assertEqual(helmholtz_papermill.GoTranslator.translate([[1], [0.5]]), "[]any{[]int{1}, []float64{0.5}}")

    def test_refused(self):
        for name, value, reason in (
            ("flag", 1, "flag would break cells"),
            ("len", 1, "len would break cells"),
            ("for", 1, "no keyword"),
            ("a-b", 1, "'a-b' is no name in Go"),
            ("1a", 1, "'1a' is no name in Go"),
            ("p", {1: 2}, "the parameter p: the key 1 is no text"),
            ("p", ["\ud83d"], "half of a surrogate pair"),
        ):
            with self.assertRaisesRegex(ValueError, reason):
                translate_parameters("helmholtz", "go", {name: value})

    def test_either_import_comes_first(self):
        for modules in ("helmholtz_papermill, papermill.engines as engines", "papermill.engines as engines"):
            program = f"import {modules}; print(engines.papermill_engines.get_engine('helmholtz').execute_notebook.__name__)"
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
            self.assertEqual(done.stdout, "execute_notebook\n", done.stderr)

    def test_help(self):
        source = '// The number of passes\n// over the images.\nconst epochs = 25\nconst (\n\trate float64 = 0.1 // of a step\n)\nvar name = "a = // b"\n\nfunc f() {}'
        self.assertEqual(
            [tuple(p) for p in papermill_translators.find_translator("helmholtz", "go").inspect({"source": source})],
            [
                ("epochs", "None", "25", "The number of passes over the images."),
                ("rate", "float64", "0.1", "of a step"),
                ("name", "None", '"a = // b"', ""),
            ],
        )


if __name__ == "__main__":
    unittest.main()
