"""Hands out the course: the skeleton, the tasks and a video, as a folder or an archive."""

import json
import pathlib
import re
import shlex
import shutil
import tempfile

from . import rules
from .programs import CourseError, call, course_folder

GUIDES = ("architecture.md", "bitstream.md", "course.md", "rate.md")  # those that tasks and notebooks name
ARCHIVES = {".tar.gz": "gztar", ".tgz": "gztar", ".zip": "zip"}


def notebook(text):
    """Returns the notebook of a Python file: each line "# %%" begins a cell of code, "# %% [markdown]" one of text."""
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    cells = []
    for kind, body in re.findall(r"^# %%(.*)\n((?:(?!# %%).*\n)*)", text, re.M):
        cell = {"cell_type": "markdown" if kind else "code", "id": f"cell-{len(cells):02}", "metadata": {}}
        cells.append(cell | ({} if kind else {"execution_count": None, "outputs": []}))
        cells[-1]["source"] = re.sub("^# ?", "", body, flags=re.M) if kind else body
        cells[-1]["source"] = cells[-1]["source"].strip().splitlines(keepends=True)
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def task_page(file):
    """Returns the page of a task: its text, and what its rules say."""
    task = rules.load(file)
    about = "*{time} · start from `{start}` · `guides/course.md`, {step}*".format_map(task["task"])
    text = file.with_suffix(".md").read_text()
    text = text.replace("## Questions\n", "## Questions\n\nWrite the answers to `answers.md`, each below a heading such as `## 1`.\n")
    hint = r"^### (.*)\n\n((?:.+\n)+)"  # unfolds with a click on its title
    text = re.sub(hint, r"<details><summary>\1</summary>\n\n\2\n</details>\n", text, flags=re.M)
    parts = [f"# {task['task']['title']}", about, text.strip(), "## How it is graded", f"```\nmake grade TASK={task['name']}\n```"]
    points = [f"| {rules.CHECKS[name]} | {points} |" for name, points in task["points"].items() if points]
    parts.append("\n".join(["| what | points |", "| --- | --- |", *points]))
    said = ["Some of the videos are hidden: they are others for each class."]
    if quality := task["quality"]:
        said.append("PSNR may fall by {psnr_within} dB, and bits may rise by {bits_within} %, at qp".format_map(quality))
        said[-1] += f" {', '.join(map(str, quality['quantizers']))}."
        said += [f"{saved} % fewer bits are worth {points} points." for saved, points in quality["bits_for_points"] if points]
    if speed := task["speed"]:
        said += [f"{times:g} times the skeleton's speed is worth {points} points." for times, points in speed["for_points"] if points]
        said.append("The times are those of whole processes.")
    if task["answers"]:
        said.append("Your teacher reads the answers.")
    return "\n\n".join([*parts, " ".join(said)]) + "\n"


def fill(folder):
    """Copies everything that a student needs into an empty folder."""
    shutil.copytree(
        course_folder() / "skeleton",
        folder,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("build", "c63enc", "c63dec", "gmon.out"),
    )
    for name in ("guides", "notebooks", "tasks", "videos"):
        (folder / name).mkdir()
    for file in rules.tasks().values():
        shutil.copy(file, folder / "tasks")
        (folder / "tasks" / f"{file.stem}.md").write_text(task_page(file))
    shutil.copy(course_folder() / "tasks" / "sequences.toml", folder / "tasks")
    shutil.copy(course_folder() / "notebooks" / "README.md", folder / "notebooks")
    for file in (course_folder() / "notebooks").glob("*.py"):
        (folder / "notebooks" / file.with_suffix(".ipynb").name).write_text(notebook(file.read_text()))
    for name in GUIDES:
        installed, source = course_folder() / "guides" / name, course_folder().parents[1] / "docs" / name
        shutil.copy(installed if installed.is_file() else source, folder / "guides")
    call("c63gen", "--quiet", "-w", 352, "-h", 288, "-f", 30, folder / "videos" / "sample_352x288.yuv")


def ending_of(target):
    """Returns the ending of an archive's name, or nothing if the name is that of a folder."""
    return next((ending for ending in ARCHIVES if target.endswith(ending)), "")


def next_step(target):
    """Returns the command to type after new()."""
    ending, name = ending_of(target), shlex.quote(target)
    if not ending:
        return f"c63grade --task profile {name}"
    unpack = "unzip" if ending == ".zip" else "tar -xf"
    return f"{unpack} {name} && c63grade --task profile {shlex.quote(pathlib.Path(target).name.removesuffix(ending))}"


def new(target):
    """Makes a folder, or an archive if the name ends like one. If it fails, nothing is left."""
    target = pathlib.Path(target)
    ending = ending_of(target.name)
    if target.exists() and (ending or not target.is_dir() or any(target.iterdir())):
        raise CourseError(f"{target} exists already", 6)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".c63course-", dir=target.parent) as work:
        name = target.name.removesuffix(ending)
        folder = pathlib.Path(work, name)
        folder.mkdir()
        fill(folder)
        if ending:
            made = shutil.make_archive(str(pathlib.Path(work, "archive")), ARCHIVES[ending], work, name)
            pathlib.Path(made).replace(target)
        else:
            folder.replace(target)
