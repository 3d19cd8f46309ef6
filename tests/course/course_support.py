"""Shared by the tests of the course: paths, folders, and skips that name their reason."""

import hashlib
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
COURSE = SOURCE / "tools" / "course"
SKELETON = COURSE / "skeleton"
PROGRAMS = pathlib.Path(os.environ.get("C63_BIN_DIR", SOURCE / "build" / "ci" / "bin"))
SHARED = pathlib.Path(os.environ.get("C63_SHARED_DATA", SOURCE.parent / "shared"))
ORDINARY_USER = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", "env"]

sys.path.insert(0, str(COURSE))
sys.dont_write_bytecode = True


def no_box():
    """Returns why bubblewrap can make no box here, or None. What c63grade asks of a box is for the tests to judge."""
    try:
        run("bwrap --unshare-all --unshare-user --disable-userns --ro-bind / / --proc /proc true".split())
        return None
    except (OSError, AssertionError) as error:
        return str(error)


def run(command, folder=None, **keywords):
    """Runs a program. If it fails, the error contains its whole output."""
    result = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
        **keywords,
    )
    if result.returncode != 0:
        raise AssertionError(f"{command} ended with {result.returncode}:\n{result.stdout}")
    return result.stdout


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def as_one_file(folder):
    """Makes one file of each program of a skeleton, which halves the time of builds."""
    makefile = (folder / "Makefile").read_text().replace("$(wildcard *.c *.cu)", "enc.c dec.c").replace(" -g ", " ")
    for program, names in (("enc", "encode search write"), ("dec", "decode parse")):
        makefile = makefile.replace(f"ONLY = {names}\n", f"ONLY = {program}\n")
        names = f"{names} bits layout predict tables timer transform".split()
        (folder / f"{program}.c").write_text("".join(f'#include "{name}.c"\n' for name in names))
    (folder / "Makefile").write_text(makefile)


def load(program):
    """Returns c63course or c63grade as a module."""
    loader = importlib.machinery.SourceFileLoader(program, str(COURSE / program))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(program, loader))
    loader.exec_module(module)
    return module


class CourseTest(unittest.TestCase):
    """A test with its own folder."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="c63-course-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def need(self, there, reason):
        if not there:
            self.skipTest(reason)

    def need_programs(self, *names):
        for name in names:
            self.need((PROGRAMS / name).is_file(), f"no {name} in {PROGRAMS} (set C63_BIN_DIR)")


class Result(unittest.TextTestResult):
    def addSkip(self, test, reason):  # read by tools/checks/skipped_tests
        super().addSkip(test, reason)
        print(f"skipped: course/{test.id().removeprefix('__main__.')}: {reason}", flush=True)


def main():
    unittest.main(testRunner=unittest.TextTestRunner(stream=sys.stdout, resultclass=Result, verbosity=2))
