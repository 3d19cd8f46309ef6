"""Pages with results, and the table of a class."""

import csv
import html
import json
import pathlib
import statistics

from .programs import CourseError

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem;
  margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.5rem; margin-bottom: 0; } .sum { font-size: 1.25rem; margin: .25rem 0 1.5rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top;
  padding: .4rem .6rem; border-top: 1px solid #ddd; }
td.points, th.points { text-align: right; white-space: nowrap; }
ul { margin: .2rem 0;
  padding-left: 1.1rem; }
li { overflow-wrap: anywhere; }
.yes { color: #0a7a30; }
.no { color: #b3261e; }
.open { color: #8a5a00; }
pre { overflow-x: auto; background: #f5f5f5;
  padding: .6rem; }
.warn { background: #fff4d6; border-left: 4px solid #d99a00;
  padding: .5rem .8rem; }
footer { color: #555; font-size: .85rem; margin-top: 2rem; }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #16181c; }
td, th { border-color: #3a3d44; }
pre { background: #22252b; }
  .warn { background: #3a3014; }
.yes { color: #6fd08c; }
.no { color: #ff8a80; }
.open { color: #f0c060; }
footer { color: #aaa; }
}
"""
MARKS = {True: ("yes", "yes"), False: ("no", "no"), None: ("open", "open")}


def rounds_picture(speed):
    """Returns a drawing with a dot for each round: the times of the skeleton and of the hand-in."""
    longest = max(speed["baseline_seconds"] + speed["seconds"])
    rows = []
    for y, (name, seconds) in enumerate((("baseline", speed["baseline_seconds"]), ("hand-in", speed["seconds"]))):
        dots = "".join(
            f'<circle cx="{90 + 460 * one / longest:.1f}" cy="{20 + 30 * y}" r="5" fill-opacity=".5">'
            f'<title>{1e3 * one:.2f} ms</title></circle>'
            for one in seconds
        )
        median = 90 + 460 * statistics.median(seconds) / longest
        rows.append(
            f'<text x="0" y="{25 + 30 * y}">{name}</text>{dots}<path d="M{median:.1f} {10 + 30 * y}v20" stroke="currentColor" '
            'stroke-width="2"/>'
        )
    return (
        '<svg viewBox="0 0 640 70" width="100%" fill="currentColor" font-size="14" role="img" aria-label="Times of all rounds">'
        + "".join(rows)
        + f'<text x="560" y="25">{1e3 * longest:.0f} ms</text></svg>'
    )


def page(result):
    def text(value):
        return html.escape(str(value))

    rows = []
    for check in result["checks"]:
        css, word = MARKS[check["passed"]]
        lines = "".join(f"<li>{text(line)}</li>" for line in check["lines"])
        picture = rounds_picture(result["speed"]) if check["id"] == "speed" and "speed" in result else ""
        rows.append(
            f'<tr><td class="{css}">{word}</td><td>{text(check["name"])}'
            f'{"<ul>" + lines + "</ul>" if lines else ""}{picture}</td>'
            f'<td class="points">{check["points"]:g} of {check["of"]:g}</td></tr>'
        )
    open_points = f', {result["still_to_give"]:g} more are given by hand' if result["still_to_give"] else ""
    answers = "".join(f"<h3>{text(number)}</h3><p>{text(answer)}</p>" for number, answer in result.get("answers", {}).items())
    boxes = "".join(f"<li>{text(line)}</li>" for line in result["isolation"])
    where = result["machine"]
    build = ""
    if result.get("build_log"):
        build = f"<details><summary>What the build said</summary><pre>{text(result['build_log'])}</pre></details>"
    device = ", " + text(where["gpu"]) if where["gpu"] else ""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text(result["student"])}: {text(result["title"])}</title><style>{STYLE}</style></head><body>
<h1>{text(result["student"])}: {text(result["title"])}</h1>
<p class="sum">{result["points"]:g} of {result["of"]:g} points{open_points}</p>
{f'<div class="warn">The box did not hold everything on this machine:<ul>{boxes}</ul></div>' if boxes else ""}
<table><tr><th></th><th>Rule</th><th class="points">Points</th></tr>{"".join(rows)}</table>
{f"<h2>Answers</h2>{answers}" if answers else ""}
{build}
<footer>{text(result["date"])}; {text(", ".join(result["version"]))}; {text(where["cpu"])}, {where["cpus"]} CPUs{device};
load {where["load"]:.1f} at the start; hidden sequences: {text(result["hidden_sequences"])}</footer>
</body></html>
"""


def write(result, folder):
    """Writes the page and the JSON of a result. Returns their names."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in f"{result['student']}.{result['task']}")
    files = folder / f"{stem}.html", folder / f"{stem}.json"
    for file, content in zip(files, (page(result), json.dumps(result, indent=2) + "\n")):
        part = file.with_name(file.name + ".part")
        part.write_text(content)
        part.replace(file)
    return files


def field(value):
    """Returns a text as a CSV field. It gets an apostrophe in front if a spreadsheet would take it for a formula."""
    text = str(value)
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


# For each form of the table: its first columns. The columns of the tasks follow.
COLUMNS = {"plain": ["student"], "moodle": ["ID number"], "canvas": ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]}


def table(paths, output, form):
    """Writes the results of a class as CSV: a row per student, a column per task. The newest result of each counts."""
    results = {}
    for path in paths:
        files = sorted(pathlib.Path(path).glob("*.json")) if pathlib.Path(path).is_dir() else [pathlib.Path(path)]
        for file in files:
            try:
                result = json.loads(file.read_text())
                if result.get("program") != "c63grade":
                    continue
                key = result["student"], result["task"]
                date = result["date"]
            except (OSError, ValueError, KeyError, AttributeError) as error:
                raise CourseError(f"{file} is not a result of c63grade: {error}", 4) from None
            if key not in results or results[key]["date"] <= date:
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
