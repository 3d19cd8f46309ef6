#!/usr/bin/env python3
"""Runs all cells of the notebooks, with Jupyter if it is installed, otherwise with run_notebook.py."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from course_support import COURSE, PROGRAMS, CourseTest, main, run

NOTEBOOKS = COURSE / "notebooks"
RUNNER = pathlib.Path(__file__).with_name("run_notebook.py")


def python_with(*modules):
    """Returns the path of a Python that has these modules, or None."""
    for python in (sys.executable, "/usr/bin/python3"):
        code = ";".join(f"import {module}" for module in modules)
        if os.path.exists(python) and subprocess.run([python, "-c", code], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


class Notebooks(CourseTest):
    def setUp(self):
        super().setUp()
        self.environment = dict(os.environ, PATH=f"{PROGRAMS}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1")

    def execute(self, name, pictures, *programs):
        self.need_programs(*programs)
        python = python_with("numpy", "matplotlib")
        self.need(python, "no Python with numpy and matplotlib (python3-numpy, python3-matplotlib)")
        said = run([python, RUNNER, NOTEBOOKS / f"{name}.ipynb", self.folder], self.folder, env=self.environment)
        self.assertRegex(said, rf"(?m)^{pictures} pictures$", said)
        self.assertEqual(len(list(self.folder.glob("*.png"))), pictures)
        return said

    def test_motion(self):
        said = self.execute("motion", 2, "c63gen", "c63enc", "c63dec", "c63mv", "c63cmp")
        self.assertRegex(said, r"all of \d+ blocks agree")
        self.assertIn("all vectors are equal to those of exact search", said)

    def test_rate(self):
        said = self.execute("rate", 4, "c63gen", "c63enc", "c63mv", "c63cmp")
        self.assertRegex(said, r"good: -\d+\.\d % of bits at equal PSNR")

    def test_roofline(self):
        said = self.execute("roofline", 3 if self.gpu() else 2, "c63bench")
        self.assertRegex(said, r"from main memory: \d+")

    def gpu(self):
        return (
            shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.strip()
        )

    def test_jupyter_runs_one(self):
        self.need(python_with("nbconvert", "ipykernel"), "no Jupyter here (jupyter-nbconvert, python3-ipykernel)")
        self.need_programs("c63gen", "c63enc", "c63mv", "c63cmp")
        python = python_with("nbconvert", "ipykernel", "matplotlib")
        self.need(python, "Jupyter is here, but its Python has no matplotlib")
        run(
            [python, "-m", "nbconvert", "--to", "html", "--execute", "--output-dir", self.folder, NOTEBOOKS / "rate.ipynb"],
            self.folder,
            env=self.environment,
        )
        self.assertIn("image/png", (self.folder / "rate.html").read_text())

    def test_files_are_clean(self):
        for file in sorted(NOTEBOOKS.glob("*.ipynb")):
            notebook = json.loads(file.read_text())
            self.assertEqual(notebook["nbformat"], 4)
            for cell in notebook["cells"]:
                self.assertFalse(cell.get("outputs"), f"{file.name} has outputs; clear them")
                self.assertTrue(re.fullmatch(r"[\w-]+", cell["id"]))
        self.assertEqual(len(list(NOTEBOOKS.glob("*.ipynb"))), 3)


if __name__ == "__main__":
    main()
