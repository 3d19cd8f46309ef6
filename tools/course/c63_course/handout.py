"""Hands out the course: the skeleton, the tasks and a video, as a folder or an archive."""

import json
import pathlib
import re
import shlex
import shutil
import tempfile

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


def fill(folder):
    """Copies everything that a student needs into an empty folder."""
    shutil.copytree(
        course_folder() / "skeleton",
        folder,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("build", "c63enc", "c63dec", "gmon.out"),
    )
    shutil.copytree(course_folder() / "tasks", folder / "tasks")
    for name in ("guides", "notebooks", "videos"):
        (folder / name).mkdir()
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
