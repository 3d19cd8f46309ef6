#!/usr/bin/env python3
"""Makes c63/_encode.pyi, which tells type checkers what _encode.py takes: **options become the fields of Settings.

  python/make_stub.py [--check]

--check writes nothing, and exits with 1 if the file would change. A test in tests/python calls it.
"""

import argparse
import ast
import pathlib
import sys

PACKAGE = pathlib.Path(__file__).parent / "c63"
HEAD = '"""Made of _encode.py and _settings.py by python/make_stub.py; do not edit."""\n\n'


def fields_of_settings(tree):
    (settings,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings")
    return [node for node in settings.body if isinstance(node, ast.AnnAssign)]


def options_of(function, fields):
    """Returns the fields that a function takes, or none if it is not decorated."""
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


def stub():
    settings = ast.parse((PACKAGE / "_settings.py").read_text())
    module = ast.parse((PACKAGE / "_encode.py").read_text())
    fields = fields_of_settings(settings)
    aliases = [node.targets[0].id for node in settings.body if isinstance(node, ast.Assign) and "Literal[" in ast.unparse(node.value)]
    imports = [ast.unparse(node) for node in module.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    imports = [line for line in imports if "__future__" not in line] + ["import fractions", "from typing import Sequence"]
    parts = [HEAD + "\n".join([*imports, f"from ._settings import {', '.join(aliases)}"]) + "\n"]
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    file = PACKAGE / "_encode.pyi"
    if not arguments.check:
        file.write_text(stub())
    elif not file.is_file() or file.read_text() != stub():
        print(f"{file} is not what {pathlib.Path(__file__).name} makes: run it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
