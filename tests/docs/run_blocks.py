#!/usr/bin/env python3
"""Runs the fenced blocks of a guide as a reader would type them, in a folder with short videos of the names that guides use.

A block holds commands for a shell. If it also shows their output, commands begin with "$ ". Blocks of language `text` are not
run, `cpp` is compiled, `python` is run if the package is found. A comment before a block keeps it from being run and says why,
or says that the lines of a block of text are among those that the block before printed:

  <!-- not run: needs a GPU -->
  <!-- printed -->

Later blocks see the variables that a block sets. A guide that sets PATH finds the programs only by that line.

Usage: run_blocks.py --source DIR --bin DIR --compiler C++ [--python PYTHON --python-path DIR] GUIDE.md
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

FENCE = re.compile(r"(?:<!-- (?:not run: (?P<reason>[^>]*?)|(?P<printed>printed)) -->\n)?"
                   r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
RAW = {"FOREMAN_352x288.yuv": "natural", "foreman_352x288.yuv": "natural", "mobile_352x288.yuv": "rotate",
       "people_320x192.yuv": "objects", "video.yuv": "pan"}
FRAMES = 5
ASSIGNMENT = re.compile(r"^(?:export )?\w+=\S+", re.M)
# The folder in which tools/demo leaves its programs, and the video that it makes.
DEMO = "build/demo"
DEMO_VIDEO = f"{DEMO}/natural_352x288.yuv"
# This code runs before each block of Python in a guide. It defines the names that the blocks use.
PYTHON = """import c63
import io
import numpy
camera = numpy.random.default_rng(2).integers(0, 256, (3, 432, 352), dtype=numpy.uint8)
file, show = io.BytesIO(), numpy.shape
frames = numpy.random.default_rng(1).integers(0, 256, (3, 48, 32), dtype=numpy.uint8)
current, reference = frames[1, :32], frames[0, :32]
"""


def shell(command, folder, environment):
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")


def commands_of(text):
    """Returns the lines to run: those after "$ ", or all lines if there are none. A line that ends in \\ continues."""
    lines = text.replace("\\\n", " ").splitlines()
    prompted = [line[2:] for line in lines if line.startswith("$ ")]
    return prompted or [line for line in lines if line.strip()]


def make_videos(folder, environment, text, options):
    """Makes the videos that the guide's commands name."""
    made = []
    if DEMO in text:
        (folder / DEMO).mkdir(parents=True)
        (folder / DEMO / "bin").symlink_to(options.bin.resolve())
        if DEMO_VIDEO in text:
            made.append(re.search(r"c63gen\"(.*) -o", (options.source / "tools/demo").read_text())[1].strip())
            made[-1] = re.sub(r"-f \d+", "-f 30", f"c63gen --quiet {made[-1]} {DEMO_VIDEO}")
    for name, pattern in RAW.items():
        size = re.search(r"(\d+)x(\d+)", name)
        width, height = size.groups() if size else ("1920", "1080")
        if name in text or (name == "foreman_352x288.yuv" and re.search(r"foreman\w*\.(mp4|264)|\bin\.", text)):
            made.append(f"c63gen --quiet --pattern {pattern} -w {width} -h {height} -f {FRAMES} {name}")
    source = "-f rawvideo -pix_fmt yuv420p -s 352x288 -i foreman_352x288.yuv"
    for name in ("foreman.mp4", "foreman_352x288.264", "in.mp4"):
        if name in text:
            made.append(f"ffmpeg -nostdin -v error -y {source} {name}")
    if "in.y4m" in text:
        made.append("c63gen --quiet --pattern stars -w 352 -h 288 -f 24 in.y4m")
    if "in.txt" in text:
        made.append("seq 1 100 > in.txt")
    if re.search(r"c63(dec|pred|cmp|mv)[^\n]* foreman\.c63", text):
        made.append("c63enc --quiet --backend cpu foreman_352x288.yuv foreman.c63")
    if re.search(r"c63dec[^\n]* in\.c63", text):
        made.append("c63gen --quiet --pattern pan -w 352 -h 288 -f 24 before.y4m")
        made.append("c63enc --quiet --backend cpu before.y4m in.c63")
    result = shell("\n".join(made), folder, environment)
    if result.returncode != 0:
        sys.exit(f"cannot make the videos: {result.stdout}")


def compile_cpp(text, options, folder):
    """Compiles a block: its includes, then its statements in a function with `frames`."""
    includes = "".join(line + "\n" for line in text.splitlines() if line.startswith("#include"))
    rest = "".join(line + "\n" for line in text.splitlines() if not line.startswith("#include"))
    file = folder / "block.cpp"
    file.write_text(f"{includes}#include <vector>\nvoid block([[maybe_unused]] const std::vector<std::uint8_t>& frames) {{\n{rest}}}\n")
    include = options.source / "encoder" / "include"
    return subprocess.run([options.compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", str(file)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def reason_to_skip(match, options):
    if match["reason"]:
        return match["reason"]
    if match["language"] == "python" and not list(pathlib.Path(options.python_path, "c63").glob("_c63*")):
        return "this build has no Python package"
    if match["language"] == "" and not shutil.which("ffmpeg") and re.search(r"\.(mp4|264)\b", match["text"]):
        return "no ffmpeg on the PATH"
    return None


def compare(lines, printed):
    """Returns what a command would that fails if one of the lines is not among those printed."""
    missing = [line for line in lines if line not in printed.splitlines()]
    return subprocess.CompletedProcess("", 1 if missing else 0, "".join(f"not printed: {line}\n" for line in missing) + printed)


def run_block(match, options, folder, environment, variables):
    if match["language"] == "cpp":
        return compile_cpp(match["text"], options, folder)
    if match["language"] == "python":
        file = folder / "block.py"
        file.write_text(PYTHON + match["text"])
        return shell(f"'{options.python}' {file.name}", folder, environment | {"PYTHONPATH": options.python_path})
    return shell("\n".join(variables + commands_of(match["text"])), folder, environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("guide", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--python", default="python3")
    parser.add_argument("--python-path", default="", help="folder of the package c63; without it, blocks of Python are skipped")
    options = parser.parse_args()
    text = options.guide.read_text()
    name = options.guide.resolve().relative_to(options.source.resolve())
    environment = dict(os.environ, PATH=f"{options.bin.resolve()}:{os.environ['PATH']}")
    failed = ran = 0
    with tempfile.TemporaryDirectory(prefix="c63-docs-") as work:
        folder = pathlib.Path(work)
        for linked in ("docs", "tools"):
            (folder / linked).symlink_to(options.source.resolve() / linked)
        blocks = [match for match in FENCE.finditer(text) if match["language"] != "text" or match["printed"]]
        to_run = "".join(match["text"] for match in blocks if reason_to_skip(match, options) is None)
        make_videos(folder, environment, to_run, options)
        if re.search(r"^export PATH=", to_run, re.M):
            environment = os.environ
        variables, result = [], None
        for match in blocks:
            line = text.count("\n", 0, match.start("text"))
            test = f"{name}:{line}"
            print(f"[ RUN      ] {test}", flush=True)
            reason = reason_to_skip(match, options)
            if reason is not None:  # in the format of GoogleTest, which tools/checks/skipped_tests reads
                print(f"{test}: Skipped\n{reason}\n\n[  SKIPPED ] {test} (0 ms)")
                continue
            start = time.monotonic()
            result = (compare(match["text"].splitlines(), result.stdout) if match["printed"]
                      else run_block(match, options, folder, environment, variables))
            milliseconds = 1000 * (time.monotonic() - start)
            ran += 1
            if match["language"] == "":
                variables += ASSIGNMENT.findall(match["text"])
            if result.returncode != 0:
                failed += 1
                print(f"{match['text']}ended with {result.returncode}:\n{result.stdout}")
            print(f"[{'       OK' if result.returncode == 0 else '  FAILED '} ] {test} ({milliseconds:.0f} ms)")
    print(f"{ran} blocks ran, {failed} failed, {len(blocks) - ran} skipped")
    return 1 if failed or not blocks else 0


if __name__ == "__main__":
    sys.exit(main())
