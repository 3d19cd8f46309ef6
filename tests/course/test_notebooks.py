#!/usr/bin/env python3
"""Runs the notebooks, as files of Python and, if Jupyter is installed, one of them there."""

import json
import os
import shutil
import subprocess
import sys

from course_support import COURSE, PROGRAMS, CourseTest, main, run

from c63_course.handout import notebook

NOTEBOOKS = COURSE / "notebooks"
RUNNER = """
import io, runpy, sys
import matplotlib.pyplot as plt
shown = []
def show():
    shown.extend(plt.figure(number).savefig(io.BytesIO()) for number in plt.get_fignums())
    plt.close("all")
plt.show = show
runpy.run_path(sys.argv[1])
print(len(shown), "pictures")
"""


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
        self.environment = dict(os.environ, PATH=f"{PROGRAMS}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1", MPLBACKEND="Agg")

    def test_all_of_them(self):
        gpu = shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True).stdout.strip()
        python = python_with("numpy", "matplotlib")
        self.need(python, "no Python with numpy and matplotlib (python3-numpy, python3-matplotlib)")
        said = {
            "motion": (2, r"(?s)all of \d+ blocks agree.*all vectors are equal to those of exact search"),
            "rate": (4, r"good: -\d+\.\d % of bits at equal PSNR"),
            "roofline": (3 if gpu else 2, r"from main memory: \d+"),
        }
        self.assertEqual({file.stem for file in NOTEBOOKS.glob("*.py")}, set(said))
        for name, (pictures, pattern) in said.items():
            with self.subTest(name):
                self.need_programs("c63gen", "c63enc", "c63dec", "c63mv", "c63cmp", *["c63bench"] * (name == "roofline"))
                shown = run([python, "-c", RUNNER, NOTEBOOKS / f"{name}.py"], self.folder, env=self.environment)
                self.assertRegex(shown, rf"(?m)^{pictures} pictures$")
                self.assertRegex(shown, pattern)

    def test_jupyter_runs_one(self):
        self.need_programs("c63gen", "c63enc", "c63mv", "c63cmp")
        python = python_with("nbconvert", "ipykernel", "matplotlib")
        self.need(python, "no Jupyter here (jupyter-nbconvert, python3-ipykernel, python3-matplotlib)")
        file = self.folder / "rate.ipynb"
        file.write_text(notebook((NOTEBOOKS / "rate.py").read_text()))
        run([python, "-m", "nbconvert", "--to", "html", "--execute", file], self.folder, env=self.environment)
        self.assertIn("image/png", file.with_suffix(".html").read_text())

    def test_a_file_becomes_a_notebook(self):
        made = json.loads(notebook("# %% [markdown]\n# # Title\n#\n# text\n# %%\nx = 1\n# a comment\n"))
        self.assertEqual(made["nbformat"], 4)
        cells = [(cell["cell_type"], "".join(cell["source"])) for cell in made["cells"]]
        self.assertEqual(cells, [("markdown", "# Title\n\ntext"), ("code", "x = 1\n# a comment")])
        self.assertEqual((made["cells"][1]["outputs"], made["cells"][1]["execution_count"]), ([], None))


if __name__ == "__main__":
    main()
