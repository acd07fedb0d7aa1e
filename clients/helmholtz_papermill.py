"""Parameters of papermill for notebooks in Go: papermill -p epochs 5 in.ipynb out.ipynb

papermill 2.7 loads engines of other packages, but no translators. So this module offers an engine, which is papermill's
own, and registers its translator when papermill loads the engine.
"""

import json
import math
import re


class Engine:
    """papermill's usual engine. Papermill asks for its methods once it is complete, and imports this module before."""

    def __getattr__(self, name):
        from papermill.engines import papermill_engines

        return getattr(papermill_engines.get_engine("nbclient"), name)


engine = Engine()

# A program that imports this module first reaches it again from here, when papermill loads the engine above.
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

KEYWORDS = """break case chan const continue default defer else fallthrough for func go goto if import interface map package
range return select struct switch type var""".split()
# Names that cells use without declaring them: GoNB's main function calls flag.Parse.
USED = """flag main init _ any append bool byte cap clear close comparable complex complex128 complex64 copy delete error false
float32 float64 imag int int16 int32 int64 int8 iota len make max min new nil panic print println real recover rune string true
uint uint16 uint32 uint64 uint8 uintptr""".split()

# A declaration in a line, with the comment behind it.
DECLARATION = re.compile(r"\s*(?:(?:const|var)\s+)?(?P<name>[^\W\d]\w*)(?:\s+(?P<type>[^\s=]+))?\s*=\s*(?P<value>\"(?:\\.|[^\"\\])*\"|`[^`]*`|.*?)\s*(?://\s*(?P<help>.*))?$")


class GoTranslator(Translator):
    @classmethod
    def codify(cls, parameters, comment="Parameters"):
        """Return a cell that declares the parameters. GoNB keeps constants and variables apart, so the cell first
        removes what the notebook declares under their names."""
        declared = []
        for name, value in parameters.items():
            check(name)
            is_constant = isinstance(value, (bool, int, str)) or isinstance(value, float) and math.isfinite(value)
            kind = "const" if is_constant else "var"
            try:
                declared.append(f"{kind} {name}{' any' if value is None else ''} = {cls.translate(value)}")
            except ValueError as error:
                raise ValueError(f"the parameter {name}: {error}") from None
        return "\n".join([cls.comment(comment), *([f"%rm {' '.join(parameters)}"] if parameters else []), *declared]) + "\n"

    @classmethod
    def comment(cls, text):
        return f"// {text}".strip()

    @classmethod
    def translate_none(cls, value):
        return "nil"

    @classmethod
    def translate_float(cls, value):
        if math.isfinite(value):
            return repr(value)
        return "math.NaN()" if math.isnan(value) else f"math.Inf({1 if value > 0 else -1})"

    @classmethod
    def translate_escaped_str(cls, value):
        text = str(value)
        if any(0xD800 <= ord(c) < 0xE000 for c in text):
            raise ValueError(f"{text!r} has half of a surrogate pair, which no Go string can hold")
        return json.dumps(text, ensure_ascii=False).replace("\ufeff", "\\ufeff")

    @classmethod
    def translate_list(cls, values):
        return f"{cls.type_of(values)}{{{', '.join(cls.translate(v) for v in values)}}}"

    @classmethod
    def translate_dict(cls, values):
        for key in values:
            if not isinstance(key, str):
                raise ValueError(f"the key {key!r} is no text: write it in quotes")
        return f"{cls.type_of(values)}{{{', '.join(f'{cls.translate_str(k)}: {cls.translate(v)}' for k, v in values.items())}}}"

    @classmethod
    def type_of(cls, value):
        """Return the Go type of a value, which is any for a list of several types."""
        if isinstance(value, (list, dict)):
            types = {cls.type_of(v) for v in (value.values() if isinstance(value, dict) else value)}
            if types == {"int", "float64"}:
                types = {"float64"}
            return ("map[string]" if isinstance(value, dict) else "[]") + (types.pop() if len(types) == 1 else "any")
        kinds = {bool: "bool", int: "int", float: "float64", type(None): "any"}
        return kinds.get(type(value), "string")

    @classmethod
    def inspect(cls, cell):
        """Return the parameters that a cell declares. The comment above or behind a declaration explains it."""
        found, above = [], []
        for line in cell["source"].splitlines():
            if line.strip().startswith("//"):
                above.append(line.strip().removeprefix("//").strip())
                continue
            if declared := DECLARATION.match(line):
                explained = declared["help"] or " ".join(above)
                found.append(Parameter(declared["name"], declared["type"] or "None", declared["value"], explained))
            above = []
        return found


def check(name):
    """Refuse a name that cannot be declared, or that breaks cells."""
    if not re.fullmatch(r"[^\W\d]\w*", name) or name in KEYWORDS:
        raise ValueError(f"the parameter {name!r} is no name in Go: use letters, digits and _, and no keyword")
    if name in USED:
        raise ValueError(f"the parameter {name} would break cells, which use that name: rename it in the notebook")


for language in ("go", "helmholtz", "gonb"):
    papermill_translators.register(language, GoTranslator)
