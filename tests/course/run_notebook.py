#!/usr/bin/env python3
"""Runs the code cells of a notebook one after another, as Jupyter would, and saves its pictures.

Usage: run_notebook.py NOTEBOOK FOLDER
Exit status: 0: all cells ran; 77: the notebook ended with SystemExit and a text that says what is missing; 1: a cell
failed.
"""

import json
import os
import pathlib
import sys

os.environ["MPLBACKEND"] = "Agg"


def main():
    notebook, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    cells = json.loads(notebook.read_text())["cells"]
    import matplotlib.pyplot as plt

    pictures = []

    def show():
        for number in plt.get_fignums():
            pictures.append(folder / f"{notebook.stem}-{len(pictures)}.png")
            plt.figure(number).savefig(pictures[-1], dpi=80, bbox_inches="tight")
        plt.close("all")

    plt.show = show
    names = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        try:
            exec(compile("".join(cell["source"]), f"{notebook.name}, cell {number}", "exec"), names)
        except SystemExit as stopped:
            print(stopped)
            return 77
        show()
    print(len(pictures), "pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
