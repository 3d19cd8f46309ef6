"""Code that the scripts of this folder share: running programs, medians, result files, tables of guides, and bundles for
machines without c63."""

import datetime
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import typing

TOP = pathlib.Path(__file__).resolve().parents[2]


class Outcome(typing.NamedTuple):
    """The result of a process that has ended."""

    code: int  # exit code; negative: number of the signal that ended it
    peak: int  # peak memory, in bytes
    seconds: float  # from its start to its end
    text: str  # standard output and standard error
    cpu_seconds: float


def run(command, **more):
    """Runs a program to its end and returns its Outcome. `more` is for Popen."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as log:
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, **more)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - begin
        log.seek(0)
        text = log.read().decode(errors="replace")
        return Outcome(child.returncode, usage.ru_maxrss * 1024, seconds, text, usage.ru_utime + usage.ru_stime)


def run_well(command, **more):
    """Does what run() does. Ends the script if the program fails."""
    outcome = run(command, **more)
    if outcome.code != 0:
        script = pathlib.Path(sys.argv[0]).name
        sys.exit(f"{script}: {shlex.join(map(str, command))[:300]}: exit status {outcome.code}\n{outcome.text.strip()}")
    return outcome


def require_programs(parser, folder, *names):
    """Ends the script with its usage if one of the programs is not in the folder."""
    for name in names:
        if not (folder / name).is_file():
            parser.error(f"{folder / name} is not built; name the build's folder with --build")


def summary(values, digits=None):
    """Returns median, 10th and 90th percentile and number of the values."""
    values = sorted(values)
    at = lambda share: values[round(share * (len(values) - 1))]
    figures = {name: at(share) for name, share in (("median", 0.5), ("p10", 0.1), ("p90", 0.9))}
    if digits is not None:
        figures = {name: round(value, digits) for name, value in figures.items()}
    return figures | {"runs": len(values)}


def version_of(program):
    """Returns the lines that a program prints for --version: revision, compiler, CUDA, instruction sets."""
    return run([program, "--version"]).text.splitlines()


def stamp(check, program):
    """Returns the first members of every result file: what is measured, when and on which machine."""
    return {"check": check, "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "version": version_of(program), "logical_cpus": os.cpu_count(), "system": platform.platform(),
            "load_average": round(os.getloadavg()[0], 1)}


def write_result(file, result):
    """Writes a result as JSON, and prints the file's name."""
    file = pathlib.Path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    print(f"written to {file}")


def table(header, rows):
    """Returns a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(str, cells))} |\n" for cells in lines)


def filled(page, maker, text):
    """Returns the page with `text` between the two marks of the script `maker`."""
    begin, end = (re.search(mark, page) for mark in (rf"<!-- tables?: made by tools/checks/{maker}\b.*-->\n", "<!-- end of tables? -->"))
    if begin is None or end is None:
        sys.exit(f"{maker}: a page has no place for its tables")
    return page[:begin.end()] + "\n" + text + "\n" + page[end.start():]


def keep(files, check):
    """Writes files, given by their paths. With `check` writes nothing. Returns the exit status: 3 if a file differs."""
    differ = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if check and differ:
        print(f"{', '.join(map(str, differ))}: not what {sys.argv[0]} makes from the results", file=sys.stderr)
        return 3
    for path in differ:
        path.write_text(files[path])
    return 0


# Libraries that each machine has, in a version that fits its kernel and loader. Bundles leave them out.
OWN = re.compile(r"/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so")


def modules(build):
    """Returns the modules that programs load by name: libc63_ffmpeg.so, if the build has it."""
    return sorted(build.glob("lib*/**/c63/libc63_*.so"))


def add_programs(folder, programs, under="."):
    """Copies programs and their modules to folder/under, and the libraries that both need to folder/lib, for
    LD_LIBRARY_PATH."""
    (folder / "lib").mkdir(exist_ok=True)
    (folder / under).mkdir(parents=True, exist_ok=True)
    programs = list(programs)
    for program in dict.fromkeys(programs + [m for p in programs if p.parent.name == "bin" for m in modules(p.parent.parent)]):
        # Line numbers are useful only on the build machine. Without them, the file is a quarter as large.
        subprocess.run(["strip", "--strip-debug", "-o", folder / under / program.name, program], check=True)
        needed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        for library in re.findall(r"=> (/\S+)", needed):
            if not OWN.search(library) and not (folder / "lib" / library.rsplit("/")[-1]).exists():
                shutil.copy2(library, folder / "lib")
                # oneTBB loads tbbmalloc by name. Without it, oneTBB uses malloc, and does not survive a malloc that
                # fails.
                if "/libtbb.so" in library:
                    shutil.copy2(library.replace("libtbb.so.12", "libtbbmalloc.so.2"), folder / "lib")


def pack(folder, file):
    """Packs a folder, this file and the running script into an archive. On the other machine, the script needs this
    file."""
    for script in (__file__, sys.argv[0]):
        shutil.copy2(script, folder)
    subprocess.run(["tar", "-C", folder, "-cf", file, "--use-compress-program=xz -T0 -6", "."], check=True)
