#!/usr/bin/env python3
"""Makes _options.py of the package when it is built: python/make_options.py FOLDER OF THE BUILT PACKAGE

It has the table of options (c63/options.inc) as the class Options, from which c63.Settings inherits its fields, and as
keywords for type checkers.
"""

import importlib.util
import pathlib
import re
import sys
import textwrap

HEAD = '"""Made of the table of options by python/make_options.py; do not edit."""\n\n'

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
    text += "    Types are checked here; ranges, and what values mean together, when an encode starts. UsageError says what is wrong.\n"
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


def options_module(rows, formats):
    """Returns the text of _options.py: a class with a field for each row of the table."""
    text = HEAD + "from __future__ import annotations\n\nimport dataclasses\nimport fractions\nfrom typing import Literal, Optional, Sequence, TypedDict, Union\n\n"
    text += 'Backend = Literal["auto", "cpu", "cuda", "cuda,cpu", "cpu,cuda"]\nPlanes = Literal["y", "all"]\n'
    text += f"Format = Literal{formats!r}\n"
    text += "".join(f"{alias(name)} = Literal{row['names']!r}\n" for name, row in rows.items() if row.get("type") == "name")
    targets = [name for name, row in rows.items() if row["one_of"]] + ["fps"]
    text += f"\n#: Options of a target: how large or how good the stream is to be.\nTARGETS = {tuple(targets)!r}\n"
    text += f'\n\n@dataclasses.dataclass(frozen=True)\nclass Options:\n    """{documentation(rows)}"""\n\n'
    kinds = {name: type_and_default(name, row) for name, row in rows.items()}
    text += "".join(f"    {name}: {kind} = {default!r}\n" for name, (kind, default) in kinds.items())
    for title, base, are_targets in (("EncoderOptions", "TypedDict", False), ("VideoOptions", "EncoderOptions", True)):
        text += f'\n\nclass {title}({base}, total=False):\n    """Keywords of an encode."""\n\n'
        text += "".join(f"    {name}: {kind}\n" for name, (kind, _) in kinds.items() if (name in targets) == are_targets)
    return text


def main():
    package = pathlib.Path(sys.argv[1])
    found = importlib.util.spec_from_file_location("c63._c63", next(package.glob("_c63.*.so")))
    native = importlib.util.module_from_spec(found)
    found.loader.exec_module(native)
    (package / "_options.py").write_text(options_module(native.options(), native.source_formats()))


if __name__ == "__main__":
    main()
