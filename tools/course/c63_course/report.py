"""Results of hand-ins, and the table of a class."""

import contextlib
import csv
import hashlib
import json
import os
import pathlib
import urllib.parse

from .programs import CourseError, printable

MARKS = {True: "yes", False: "no", None: "open"}


def settle(result):
    """Puts the sums into a result. Points that a teacher gave by hand are part of it, and of no run."""
    for check in result["checks"]:
        if check["id"] in result.get("given", {}):
            check["points"] = min(float(check["of"]), result["given"][check["id"]])
            check["passed"] = check["passed"] is not False
    by_hand = [check for check in result["checks"] if check["id"] == "answers" and "answers" not in result.get("given", {})]
    result["points"] = round(sum(check["points"] for check in result["checks"]), 2)
    result["of"] = sum(check["of"] for check in result["checks"])
    result["still_to_give"] = sum(check["of"] for check in by_hand)
    result["passed"] = "fault" not in result and all(check["passed"] is not False for check in result["checks"])
    return result


def lines_of(result):
    """Returns what a terminal shows of a result."""
    more = f", {result['still_to_give']:g} more are given by hand" if result["still_to_give"] else ""
    lines = [f"{result['student']}: {result['title']}", f"  {result['points']:g} of {result['of']:g} points{more}"]
    lines += [f"  It {result['fault']}"] if "fault" in result else []
    for check in result["checks"]:
        lines.append(f"  {MARKS[check['passed']]:<5}{check['name']:<38} {check['points']:g} of {check['of']:g}")
        lines += [f"         {line}" for line in check["lines"]]
    return list(map(printable, lines + [f"  {line}" for line in result["isolation"]]))


def page(result):
    """Returns the page for the student, as text."""
    lines = lines_of(result)
    speed, where = result.get("speed", {}), result["machine"]
    for name, what in (("baseline_seconds", "baseline"), ("seconds", "hand-in")):
        lines += [f"  {what:<9}" + "".join(f"{1e3 * one:10.2f}" for one in speed[name]) + " ms"] if speed else []
    for number, answer in result.get("answers", {}).items():
        lines += ["", f"Answer {number}"] + list(map(printable, answer.splitlines()))
    lines += ["", "What the build said"] + list(map(printable, result.get("build_log", "").splitlines()))
    device = f", {where['gpu']}" if where["gpu"] else ""
    lines += ["", f"{result['date']}; {', '.join(result['version'])}; {where['cpu']}, {where['cpus']} CPUs{device}; load"]
    lines[-1] += f" {where['load']:.1f} at the start; hidden sequences: {result['hidden_sequences']}"
    return "\n".join(lines) + "\n"


def stem_of(student, task):
    """Returns a file name: a different one for each name."""
    stem = urllib.parse.quote(f"{student}.{task}", safe=" ", errors="surrogateescape")
    return stem if len(stem) < 200 else stem[:100] + hashlib.sha256(stem.encode()).hexdigest()


def write_file(file, text):
    """Writes a file that appears when it is complete, and that only its owner may read."""
    part = file.with_name(file.name + ".part")
    part.unlink(missing_ok=True)
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(text)
    part.replace(file)


def write(result, folder):
    """Writes the page and the JSON of a result. Returns their names. Points given by hand for the same answers stay."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    stem = stem_of(result["student"], result["task"])
    files = folder / f"{stem}.txt", folder / f"{stem}.json"
    if files[1].is_file() and "given" not in result:
        before = None
        with contextlib.suppress(CourseError):  # a damaged file must not end a class
            before = read(files[1])
        if before and before.get("given") and before.get("answers") == result.get("answers"):
            result["given"] = before["given"]
            settle(result)
    for file, content in zip(files, (page(result), json.dumps(result, indent=2) + "\n")):
        write_file(file, content)
    return files


# What the table of a class uses.
NEEDED = {"student": str, "task": str, "date": str, "points": (int, float), "of": (int, float), "still_to_give": (int, float)}


def read(file):
    """Returns a result, or None if a JSON file is of another program."""
    try:
        result = json.loads(pathlib.Path(file).read_text())
        if result.get("program") != "c63grade":
            return None
        for key, kind in NEEDED.items():
            if not isinstance(result[key], kind):
                raise ValueError(f"'{key}' has another type")
        if not all(isinstance(points, (int, float)) for points in result.get("given", {}).values()):
            raise ValueError("points given by hand are no numbers")
        return result
    except (OSError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise CourseError(f"{file} is not a result of c63grade: {error}", 4) from None


def give(file, points):
    """Records points that a teacher gave by hand for the answers. Nothing is built or run."""
    result = read(file)
    try:
        if "answers" not in [check["id"] for check in result["checks"]]:
            raise ValueError("no answers")
        result["given"] = {"answers": points}
        page(settle(result))  # fails if something is missing or has another type
    except (KeyError, TypeError, ValueError, AttributeError):
        raise CourseError(f"{file} is not a result of c63grade with answers", 4) from None
    write(result, pathlib.Path(file).parent)
    return result


def field(value):
    """Returns a text as a CSV field. It gets an apostrophe in front if a spreadsheet would take it for a formula."""
    text = printable(value)
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


# For each form of the table: its first columns. The columns of the tasks follow.
COLUMNS = {"plain": ["student"], "moodle": ["ID number"], "canvas": ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]}


def table(paths, output, form):
    """Writes the results of a class as CSV: a row per student, a column per task. The newest result of each counts."""
    results = {}
    for path in paths:
        files = sorted(pathlib.Path(path).glob("*.json")) if pathlib.Path(path).is_dir() else [pathlib.Path(path)]
        for file in files:
            result = read(file)
            key = (result["student"], result["task"]) if result else None
            if result and (key not in results or results[key]["date"] <= result["date"]):
                results[key] = result
    if not results:
        raise CourseError("none of the files is a result of c63grade", 4)
    tasks = sorted({task for _, task in results})
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(COLUMNS[form] + tasks + (["sum", "of", "still to give"] if form == "plain" else []))
    if form == "canvas":  # Canvas reads the maximum points from the second row
        worth = {task: max(result["of"] for (_, one), result in results.items() if one == task) for task in tasks}
        writer.writerow(["Points Possible", "", "", "", ""] + [f"{worth[task]:g}" for task in tasks])
    for student in sorted({student for student, _ in results}):
        mine = {task: results[student, task] for task in tasks if (student, task) in results}
        row = [field(student)] if form != "canvas" else [field(student), field(student), "", field(student), ""]
        row += [f"{mine[task]['points']:g}" if task in mine else "" for task in tasks]
        if form == "plain":
            row += [f"{sum(result[key] for result in mine.values()):g}" for key in ("points", "of", "still_to_give")]
        writer.writerow(row)
