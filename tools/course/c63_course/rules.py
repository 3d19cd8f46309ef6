"""Rule files: what a task requires, and how many points it gives. docs/teaching.md describes every key."""

import pathlib
import re
import tomllib

from .programs import CourseError, course_folder

SIZES = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
CHECKS = {  # what is judged, by the key of its points
    "build": "It builds",
    "optimized": "It is built with optimization",
    "own": "It is its own work",
    "decodable": "Every stream can be decoded",
    "bytes": "The bytes are the course encoder's",
    "quality": "Bits and PSNR",
    "search": "The search covers the range",
    "flight": "Frames leave in time",
    "decoder": "Its decoder agrees with c63dec",
    "memory": "No faults in the use of memory",
    "speed": "Speed",
    "answers": "Answers",
}
# Each key, with its type or default. Unknown keys are errors, so that a misspelled rule is not ignored.
TABLES = {
    "task": {"title": str, "time": str, "start": str, "step": str},
    "build": {"command": (str, "make"), "seconds": (int, 300), "programs": (list, ["c63enc"])},
    "run": {
        "command": (str, "./c63enc -w {width} -h {height} -o {output} {input}"),
        "seconds": (int, 60),
        "memory": (str, "1 GiB"),
        "disk": (str, "256 MiB"),
        "processes": (int, 256),
    },
    "bytes": {"equal": (bool, True)},
    "quality": {
        "psnr_within": (float, 0.1),
        "bits_within": (float, 1.0),
        "quantizers": (list, [25]),
        "bits_for_points": (list, []),
    },
    "search": {"range": (int, 16), "exact": (bool, False)},
    "flight": {"frames": (int, 3), "seconds": (int, 30)},
    "decoder": {"command": (str, "./c63dec {input} {output}")},
    "speed": {
        "sequence": (str, "speed"),
        "rounds": (int, 5),
        "warmup": (int, 1),
        "baseline": (str, "skeleton"),
        "for_points": list,
    },
    "answers": {"file": (str, "answers.md"), "questions": int},
    "points": dict.fromkeys(CHECKS, (int, 0)),
}
SEQUENCE = {
    "name": str,
    "pattern": (str, "natural"),
    "width": int,
    "height": int,
    "frames": int,
    "mv": (str, ""),
    "seed": (int, 1),
    "hidden": (bool, False),
}
ALWAYS = ("task", "build", "run", "points")


def size_of(text, where):
    match = re.fullmatch(r"(\d+) ?(|KiB|MiB|GiB)", text)
    if match is None:
        raise CourseError(f"{where}: '{text}' is not a size such as 512 MiB", 4)
    return int(match[1]) * SIZES[match[2]]


def filled(table, given, where):
    """Returns a table with the given values, and defaults for the others."""
    for key in given:
        if key not in table:
            raise CourseError(f"{where}: there is no key '{key}' ({', '.join(table)})", 4)
    values = {}
    for key, kind in table.items():
        kind, default = kind if isinstance(kind, tuple) else (kind, None)
        value = given.get(key, default)
        if value is None:
            raise CourseError(f"{where}: '{key}' is missing", 4)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise CourseError(f"{where}: '{key}' must be {kind.__name__}", 4)
        values[key] = value
    return values


def pairs(values, where):
    """Checks a list of (figure, points), such as [[1, 0], [8, 40]]. Figures must rise."""
    numbers = (int, float)
    good = all(isinstance(pair, list) and len(pair) == 2 and all(type(n) in numbers for n in pair) for pair in values)
    if not good or any(one[0] >= following[0] for one, following in zip(values, values[1:])):
        raise CourseError(f"{where} must be pairs of a figure and points, with rising figures: [[1, 0], [8, 40]]", 4)


def load(path):
    """Returns the rules in a file as a dictionary. A table that is missing in the file is None, unless all tasks have
    it."""
    path = pathlib.Path(path)
    try:
        given = tomllib.loads(path.read_text("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path}: {error}", 4) from None
    sequences = given.pop("sequence", None)
    if not sequences:
        sequences = tomllib.loads((course_folder() / "tasks" / "sequences.toml").read_text())["sequence"]
        timed = given["speed"].get("sequence", "speed") if "speed" in given else ""
        sequences = [one for one in sequences if one["name"] not in ("speed", "gops") or one["name"] == timed]
    for name in given:
        if name not in TABLES:
            raise CourseError(f"{path}: there is no table [{name}] ({', '.join(TABLES)}, and [[sequence]])", 4)
    rules = {
        name: filled(table, given.get(name, {}), f"{path}: [{name}]") if name in given or name in ALWAYS else None
        for name, table in TABLES.items()
    }
    rules["sequence"] = [filled(SEQUENCE, sequence, f"{path}: [[sequence]]") for sequence in sequences]
    check(rules, path)
    rules["name"] = re.sub(r"^\d+-", "", path.stem)
    for key in ("memory", "disk"):
        rules["run"][key] = size_of(rules["run"][key], f"{path}: [run] {key}")
    return rules


def check(rules, path):
    names = [sequence["name"] for sequence in rules["sequence"]]
    if len(set(names)) != len(names):
        raise CourseError(f"{path}: each sequence needs a different name", 4)
    for sequence in rules["sequence"]:
        width, height, frames = sequence["width"], sequence["height"], sequence["frames"]
        if min(width, height, frames) < 1 or width * height % 4:
            raise CourseError(f"{path}: sequence {sequence['name']} has no size that can be encoded", 4)
    if (rules["bytes"] is None) == (rules["quality"] is None):
        raise CourseError(f"{path}: a task has either [bytes] or [quality]", 4)
    if rules["speed"]:
        if rules["speed"]["sequence"] not in names:
            raise CourseError(f"{path}: [speed] names no sequence of the file", 4)
        pairs(rules["speed"]["for_points"], f"{path}: [speed] for_points")
    if rules["quality"]:
        pairs(rules["quality"]["bits_for_points"], f"{path}: [quality] bits_for_points")
    for name, points in rules["points"].items():
        if points and name in TABLES and rules[name] is None:
            raise CourseError(f"{path}: points for {name}, but no table [{name}]", 4)


def tasks():
    """Returns the rule files of the course's tasks by name, in the order of the course."""
    files = sorted((course_folder() / "tasks").glob("[0-9]*.toml"))
    return {re.sub(r"^\d+-", "", file.stem): file for file in files}


def find(task):
    """Returns the rules of a task, given by its name or its file."""
    if task in tasks():
        return load(tasks()[task])
    if task.endswith(".toml") and pathlib.Path(task).is_file():
        return load(task)
    raise CourseError(f"there is no task '{task}'; there are {', '.join(tasks())}, or name a rule file (.toml)", 4)


def points_for(figure, curve):
    """Returns the points for a figure. Between the pairs of a rule file, they follow a straight line."""
    if not curve or figure < curve[0][0]:
        return 0.0
    for (low, less), (high, more) in zip(curve, curve[1:]):
        if figure < high:
            return less + (more - less) * (figure - low) / (high - low)
    return float(curve[-1][1])
