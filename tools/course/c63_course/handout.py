"""Hands out the course: the skeleton, the tasks and a video, as a folder or an archive."""

import pathlib
import shutil
import tempfile

from . import rules
from .programs import CourseError, call, course_folder, find_program

ARCHIVES = {".tar.gz": "gztar", ".tgz": "gztar", ".zip": "zip"}


def fill(folder):
    """Copies everything that a student needs into an empty folder."""
    shutil.copytree(
        course_folder() / "skeleton",
        folder,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("build", "c63enc", "c63dec", "gmon.out"),
    )
    (folder / "tasks").mkdir()
    for file in rules.tasks().values():
        for each in (file, file.with_suffix(".md")):
            shutil.copy(each, folder / "tasks")
    shutil.copytree(course_folder() / "notebooks", folder / "notebooks")
    (folder / "videos").mkdir()
    call([find_program("c63gen"), "--quiet", "-w", 352, "-h", 288, "-f", 30, folder / "videos" / "sample_352x288.yuv"])


def new(target):
    """Makes a folder, or an archive if the name ends like one. If it fails, nothing is left."""
    target = pathlib.Path(target)
    ending = next((ending for ending in ARCHIVES if target.name.endswith(ending)), "")
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
