#!/usr/bin/env python3
"""Makes _options.py and _encode.pyi of the package when it is built: python/make_stub.py FOLDER OF THE BUILT PACKAGE

_options.py has the table of options (c63/options.inc) as the class Options, from which c63.Settings inherits its
fields. _encode.pyi tells type checkers that the **options of functions in _encode.py are these fields.
"""

import ast
import importlib.util
import pathlib
import re
import sys
import textwrap

HEAD = '"""Made of the table of options by python/make_stub.py; do not edit."""\n\n'

#: TARGETS and MACHINE are headings in the documentation of c63.Settings. GROUPS gives the heading for each group of
#: options.
TARGETS = "Targets, of which one can be set. The encode makes passes over the whole video until one meets it; qp is where it begins"
MACHINE = "Where it runs; no byte depends on it"
GROUPS = {
    "Coding": "What is coded", "Decisions": "Decisions; None leaves them to the preset", "Targets": TARGETS, "Input and output": TARGETS,
    "Machine": MACHINE, "Limits": MACHINE, "Measurement": "What is reported",
}

#: Type, default and example of options that Python takes in another form than the command line.
SPECIAL = {
    "bitrate": ("Optional[float]", None, ""),
    "size": ("Optional[int]", None, ""),
    "target_psnr": ("Union[float, tuple[Planes, float], None]", None, 'such as 38, ("all", 38)'),
    "target_ssim": ("Optional[float]", None, "such as 0.97"),
    "frame_drop": ("bool", True, ""),
    "gop_cap": ("Optional[float]", None, ""),
    "fps": ("Union[float, fractions.Fraction, None]", None, ""),
    "backend": ("Backend", "auto", ""),
    "device": ("Union[int, Sequence[int]]", (), "such as 0, [0, 1]"),
}


def alias(name):
    return "SearchMethod" if name == "me" else name.title()


def type_and_default(name, row):
    if name in SPECIAL:
        return SPECIAL[name][:2]
    kind = alias(name) if row["type"] == "name" else row["type"]
    is_optional = row["default"] is None or row["by_preset"] or row["group"] == "Limits"
    default = row["default"]
    return (f"Optional[{kind}]", None) if is_optional else (kind, int(default) if kind == "float" and default == int(default) else default)


def documentation(rows):
    text = "Settings of an encoder, named as the options of c63enc. The defaults give the course encoder's bytes.\n\n"
    text += "    Each value is checked here, and what values mean together when an encode starts. UsageError says what is wrong.\n"
    title = ""
    for name, row in rows.items():
        if title != GROUPS[row["group"]]:
            title = GROUPS[row["group"]]
            text += f"\n    {title}:\n"
        notes = "; ".join(filter(None, [row["details"], SPECIAL.get(name, ("", "", ""))[2]]))
        said = re.sub("--([a-z-]+)", lambda option: option[1].replace("-", "_"), row["help"])
        line = f"    {name}: {said}{f' ({notes})' if notes else ''}."
        text += textwrap.fill(line, 120, subsequent_indent=" " * 8) + "\n"
    return text + "    "


def options_module(rows):
    """Returns the text of _options.py: a class with a field for each row of the table."""
    text = HEAD + "from __future__ import annotations\n\nimport dataclasses\nimport fractions\nfrom typing import Literal, Optional, Sequence, Union\n\n"
    text += 'Backend = Literal["auto", "cpu", "cuda", "cuda,cpu", "cpu,cuda"]\nPlanes = Literal["y", "all"]\n'
    text += "".join(f"{alias(name)} = Literal{row['names']!r}\n" for name, row in rows.items() if row.get("type") == "name")
    text += f"\n#: Options that say how large or how good the stream is to be.\nTARGETS = {tuple(n for n in rows if rows[n]['one_of'])!r}\n"
    text += f'\n\n@dataclasses.dataclass(frozen=True)\nclass Options:\n    """{documentation(rows)}"""\n\n'
    for name, row in rows.items():
        kind, default = type_and_default(name, row)
        text += f"    {name}: {kind} = {default!r}\n"
    return text


def options_of(function, fields):
    """Returns the fields that a function takes as options. Empty if it is not decorated with takes_options."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "takes_options":
            without = [name for keyword in decorator.keywords for name in ast.literal_eval(keyword.value)]
            return [field for field in fields if field.target.id not in without]
    return []


def function_stub(function, fields, indent):
    given = function.args
    parameters = [argument.arg + (f": {ast.unparse(argument.annotation)}" if argument.annotation else "") for argument in given.args]
    for i, default in enumerate(reversed(given.defaults), 1):
        parameters[-i] += f" = {ast.unparse(default)}"
    options = options_of(function, fields)
    if given.kwonlyargs or options:
        parameters.append("*")
    for argument, default in zip(given.kwonlyargs, given.kw_defaults):
        text = f"{argument.arg}: {ast.unparse(argument.annotation)}"
        parameters.append(text + (f" = {ast.unparse(default)}" if default else ""))
    parameters += [f"{o.target.id}: {ast.unparse(o.annotation)} = {ast.unparse(o.value)}" for o in options]
    if given.vararg:
        parameters.append(f"*{given.vararg.arg}: {ast.unparse(given.vararg.annotation)}")
    decorators = [f"{indent}@{ast.unparse(d)}\n" for d in function.decorator_list if not ast.unparse(d).startswith("takes_options")]
    result = f" -> {ast.unparse(function.returns)}: ...\n"
    listed = ", ".join(parameters)
    if len(indent) + len(function.name) + len(listed) + len(result) > 110:
        listed = "".join(f"\n{indent}    {parameter}," for parameter in parameters) + f"\n{indent}"
    return "".join(decorators) + f"{indent}def {function.name}({listed}){result}"


def is_overload(node):
    return any(ast.unparse(decorator) == "overload" for decorator in node.decorator_list)


def class_stub(node, fields):
    decorators = "".join(f"@{ast.unparse(decorator)}\n" for decorator in node.decorator_list)
    bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
    text = f"{decorators}class {node.name}{bases}:\n"
    overloaded = {part.name for part in node.body if isinstance(part, ast.FunctionDef) and is_overload(part)}
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            default = " = ..." if part.value is not None and "default" in ast.unparse(part.value) else ""
            text += f"    {part.target.id}: {ast.unparse(part.annotation)}{default}\n"
        elif isinstance(part, ast.FunctionDef) and (part.name[0] != "_" or part.name[:2] == "__"):
            if part.name not in overloaded or is_overload(part):
                text += function_stub(part, fields, "    ")
    return text


def encode_stub(module, fields, aliases):
    """Returns the text of _encode.pyi: the public names of _encode.py, with the fields of Options in place of
    **options."""
    imports = [ast.unparse(node) for node in module.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    imports = [line for line in imports if "__future__" not in line] + ["import fractions", "from typing import Sequence"]
    parts = [HEAD + "\n".join([*imports, f"from ._options import {', '.join(aliases)}"]) + "\n"]
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            parts.append(class_stub(node, fields))
        elif isinstance(node, ast.FunctionDef) and node.name[0] != "_":
            parts.append(function_stub(node, fields, ""))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            parts.append(f"{node.targets[0].id}: np.dtype[np.void]\n")
        elif isinstance(node, ast.Assign):
            parts.append(ast.unparse(node) + "\n")
    return "\n".join(parts)


def main():
    package = pathlib.Path(sys.argv[1])
    found = importlib.util.spec_from_file_location("c63._c63", next(package.glob("_c63.*.so")))
    native = importlib.util.module_from_spec(found)
    found.loader.exec_module(native)
    options = options_module(native.options())
    (package / "_options.py").write_text(options)
    tree = ast.parse(options)
    (table,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    fields = [node for node in table.body if isinstance(node, ast.AnnAssign)]
    aliases = [node.targets[0].id for node in tree.body if isinstance(node, ast.Assign) and "Literal[" in ast.unparse(node.value)]
    source = pathlib.Path(__file__).parent / "c63" / "_encode.py"
    (package / "_encode.pyi").write_text(encode_stub(ast.parse(source.read_text()), fields, aliases))


if __name__ == "__main__":
    main()
