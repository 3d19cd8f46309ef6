"""Code that c63course and c63grade share: options like those of the other programs, paths, and errors."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

EXIT_CODES = """Exit codes: 0 done, 1 internal error, 2 wrong usage, 3 a rule does not hold, 4 bad input, 6 output not written,
130 and 143 stopped by SIGINT and SIGTERM."""


class CourseError(Exception):
    """An error to report to the user: one line, and an exit code."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


def course_folder():
    """Returns the folder with skeleton, tasks and notebooks."""
    return pathlib.Path(__file__).resolve().parents[1]


def find_program(name, needed=True):
    """Returns the path of a c63 program: next to this one, or in PATH."""
    for folder in (pathlib.Path(sys.argv[0]).absolute().parent, pathlib.Path(sys.argv[0]).resolve().parent):
        if os.access(folder / name, os.X_OK) and (folder / name).is_file():
            return str(folder / name)
    found = shutil.which(name)
    if found is None and needed:
        raise CourseError(f"{name} is neither next to this program nor on the PATH; build or install c63", 4)
    return found


def call(program, *words, good=(0,)):
    """Runs a c63 program and returns its standard output. If its exit code is not a good one, its error line becomes
    ours, with the names of files instead of their paths."""
    result = subprocess.run([find_program(program), *map(str, words)], capture_output=True)
    if result.returncode not in good:
        said = result.stderr.decode(errors="replace").strip().splitlines()
        message = said[-1] if said else f"{program} ended with {result.returncode}"
        for file in words:
            message = message.replace(str(file), file.name) if isinstance(file, pathlib.Path) else message
        raise CourseError(message, 4)
    return result.stdout


def printable(text):
    """Returns a text that others wrote in a form for terminals, files and pages: one line, and what could do more than
    show a letter as an escape such as \\x1b."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(text))


def version():
    """Returns the lines of --version from the programs next to this one."""
    return call("c63enc", "--version").decode().splitlines()[:2]


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and whose exit code for wrong usage is 2."""

    def error(self, message):
        print(f"{self.prog}: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(2)


def make_parser(name, description, examples):
    epilog = "Examples:\n" + "".join(f"  {command}\n      {text}\n" for command, text in examples)
    parser = Parser(
        prog=name,
        description=description,
        allow_abbrev=False,
        add_help=False,
        epilog=epilog + "\nLog goes to standard error, data to standard output.\n" + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    general = parser.add_argument_group("General")
    general.add_argument("--help", "--help-all", action="help", help="Print this help and exit")
    general.add_argument("--version", action="store_true", help="Print version and build and exit")
    general.add_argument("-v", "--verbose", action="store_true", help="Print more messages")
    general.add_argument("--quiet", action="store_true", help="Print errors only")
    return parser


def main_of(parser, act):
    """Runs a program: parses its options and calls `act`. Turns errors into one line and an exit code."""
    arguments = sys.argv[1:]
    if "--version" in arguments:
        sys.stdout.write("\n".join([parser.prog, *version()]) + "\n")  # one write, for readers that take one line
        return 0
    try:
        return act(parser.parse_args(arguments))
    except CourseError as error:
        print(f"{parser.prog}: {printable(error)}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print(f"{parser.prog}: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python writes nothing more at its end
        print(f"{parser.prog}: stdout: the reader closed the pipe", file=sys.stderr)
        return 6
    except OSError as error:
        print(f"{parser.prog}: {printable(error.filename or '')}: {error.strerror}", file=sys.stderr)
        return 6
