#!/usr/bin/env python3
"""Runs commands that fail, and then what their messages say to type: that must work.

Usage: suggestions.py --bin DIR
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PREPARE = """
c63gen --quiet --pattern pan -w 64 -h 48 -f 4 video.y4m
c63gen --quiet --pattern pan -w 64 -h 48 -f 4 raw_64x48.yuv
cp raw_64x48.yuv other.yuv
cp raw_64x48.yuv raw.yuv
c63gen --quiet --pattern pan -w 352 -h 288 -f 2 large.yuv
c63enc --quiet --backend cpu video.y4m in.c63
seq 1 20 > in.txt
"""

#: A command that fails, what is suggested (in parentheses), and the command that follows from it: {} is the suggestion.
SUGGESTIONS = [
    ("c63enc video.y4m out.c63 --keyimt 5", r"did you mean (--\w+)\?", "c63enc video.y4m out.c63 {} 5"),
    ("c63enc --no-such-option-at-all", r"see (--help)", "c63enc {}"),
    ("c63enc -h", r"as in (-h \d+);", "c63enc -w 352 {} large.yuv out.c63"),
    ("c63enc -h", r"use (--help)", "c63enc {}"),
    ("c63enc video.y4m other.yuv", r"type: (-o \S+)", "c63enc video.y4m {}"),
    ("c63enc large.yuv out.c63", r"name it like (name_352x288\.yuv)", "mv large.yuv {} && c63enc {} out.c63"),
    ("c63enc -w 64 raw.yuv out.c63", r"give both -w and (-h)", "c63enc -w 64 {} 48 raw.yuv out.c63"),
    ("c63enc video.y4m out.c63 --tune ssim", r"\((--preset good)\)", "c63enc video.y4m out.c63 --tune ssim {}"),
    ("c63enc video.y4m out.c63 --preset goood", r"one of (\w+)", "c63enc video.y4m out.c63 --preset {}"),
    ("c63enc video.y4m out.c63 -q 3", r"outside (\d+)\.\.", "c63enc video.y4m out.c63 -q {}"),
    ("c63enc video.y4m out.c63 --device 1023", r"(c63enc --list-devices)", "{}"),
    ("c63enc video.y4m out.c63 --prefilter blur", r"give (mean:)K", "c63enc video.y4m out.c63 --prefilter {}3"),
    ("c63enc video.y4m out.c63 --stats log", r"a target: (--bitrate)", "c63enc video.y4m out.c63 --stats log {} 2M"),
    ("c63enc video.y4m out.c63 --segment-plan plan", r"needs (--segment)", "c63enc video.y4m out.c63 --segment-plan plan {} 1/1"),
    ("cat video.y4m | c63enc - out.c63 --bitrate 2M", r"\((--spool)\)", "cat video.y4m | c63enc - out.c63 --bitrate 2M {} ."),
    ("c63dec in.c63 out.mp4", r"write (\.y4m)", "c63dec in.c63 out{}"),
    ("c63dec in.c63 out.c63", r"as raw YUV 4:2:0 \((\.yuv)\)", "c63dec in.c63 out{}"),
    ("c63dec in.c63 --index -", r"use (--list)", "c63dec in.c63 {}"),
    ("c63mv video.y4m -o motion.npy", r"with (--format).* (npz)", "c63mv video.y4m -o motion.npy {} {}"),
    ("c63mv video.y4m --format flo", r"needs a file to write \((-o)\)", "c63mv video.y4m --format flo {} flow-%d.flo"),
    ("c63mv in.c63 -o motion.npz", r"; (--search) searches", "c63mv in.c63 -o motion.npz {}"),
    ("c63cmp ab video.y4m --qp 25", r"give (--a) and (--b)", "c63cmp ab video.y4m --qp 25 --repeat 1 {} '' {} '--preset good'"),
    ("c63filter convolve in.txt out.txt", r"needs (--kernel), such as (\S+) ", "c63filter convolve in.txt out.txt {} {}"),
]


def run(command, folder, environment):
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def problem_of(row, environment):
    """Returns why a row fails, or nothing."""
    command, pattern, following = row
    with tempfile.TemporaryDirectory(prefix="c63-suggestions-") as folder:
        prepared = run(f"set -e\n{PREPARE}", folder, environment)
        if prepared.returncode != 0:
            return prepared.stdout
        failed = run(f"set -o pipefail; {command}", folder, environment)
        found = re.search(pattern, failed.stdout)
        if failed.returncode == 0 or found is None:
            return f"ended with {failed.returncode}, and should have failed with {pattern}:\n{failed.stdout}"
        words = found.groups()
        typed = following.format(*(words * 2 if len(words) < following.count("{}") else words))
        done = run(f"set -o pipefail; {typed}", folder, environment)
        return None if done.returncode == 0 else f"suggests this, which ends with {done.returncode}: {typed}\n{done.stdout}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    options = parser.parse_args()
    environment = dict(os.environ, PATH=f"{options.bin.resolve()}:{os.environ['PATH']}")
    problems = [(row[0], problem) for row in SUGGESTIONS if (problem := problem_of(row, environment))]
    for command, problem in problems:
        print(f"{command}\n  {problem}")
    print(f"{len(SUGGESTIONS)} suggestions were tried, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
