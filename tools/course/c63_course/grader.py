"""Grades a hand-in by the rules of a task."""

import contextlib
import fcntl
import hashlib
import json
import math
import os
import pathlib
import platform
import re
import shlex
import shutil
import statistics
import tempfile
import time

from . import explain, rules
from .box import FOLDERS, Box
from .programs import CourseError, call, course_folder, find_program, version

COMPILERS = re.compile(r"(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|nvcc)(?:-\d+)?")
LARGEST_SOURCE = 1 << 20  # bytes of a file in a hand-in
BUILT = (b"\x7fELF", b"!<arch>\n", b"\xca\xfe\xba\xbe")
STREAM = b"\xff\xd8\xff\xdb\x00\xc3\x00"  # the first bytes of the course encoder's streams
NAMES = {
    "build": "It builds",
    "optimized": "It is built with optimization",
    "own": "It is its own work",
    "decodable": "Every stream can be decoded",
    "bytes": "The bytes are the course encoder's",
    "quality": "Bits and PSNR",
    "search": "The search covers the range",
    "flight": "Frames leave in time",
    "decoder": "Its decoder agrees with c63dec",
    "memory": "No faults in the use of memory",
    "speed": "Speed",
    "answers": "Answers",
}
BUSY = 0.15  # share of the CPUs that other programs may use before times are doubtful


class Sequence:
    """A video to encode, and per quantizer the course encoder's stream and its decoded pictures."""

    def __init__(self, entry, folder, seed):
        self.name, self.hidden = entry["name"], entry["hidden"]
        self.width, self.height, self.frames = entry["width"], entry["height"], entry["frames"]
        self.source = folder / f"{self.name}_{self.width}x{self.height}.yuv"
        if "file" in entry:
            self.source = pathlib.Path(entry["file"])
        else:
            motion = ["--mv", entry["mv"]] if entry["mv"] else []
            call(
                [
                    find_program("c63gen"),
                    "--quiet",
                    "--pattern",
                    entry["pattern"],
                    "-w",
                    self.width,
                    "-h",
                    self.height,
                    "-f",
                    self.frames,
                    "--seed",
                    seed,
                    *motion,
                    self.source,
                ]
            )
        self.expected = {}  # by quantizer: the stream, and its decoded pictures
        self.folder = folder

    def expect(self, quantizer=25):
        if quantizer not in self.expected:
            stream = self.folder / f"{self.name}.{quantizer}.c63"
            call(
                [
                    find_program("c63enc"),
                    "--quiet",
                    "--backend",
                    "cpu",
                    "-w",
                    self.width,
                    "-h",
                    self.height,
                    "-q",
                    quantizer,
                    self.source,
                    stream,
                ]
            )
            self.expected[quantizer] = (stream, self.decode(stream))
        return self.expected[quantizer]

    def decode(self, stream):
        """Returns the decoded video. Raises CourseError with c63dec's error line. Limits the output to the size of the
        sequence."""
        video = stream.with_suffix(".yuv")
        call(
            [
                find_program("c63dec"),
                "--quiet",
                "--backend",
                "cpu",
                "--max-pixels",
                (self.width + 15) * (self.height + 15),
                "-f",
                self.frames + 1,
                stream,
                video,
            ]
        )
        return video.read_bytes()


class Sequences:
    """The videos of a run: each is made once, for all hand-ins. Use as a context."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="c63videos-"))  # the grader's alone: 0700
        self.made = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def get(self, entry, seed):
        key = json.dumps([entry, seed], sort_keys=True)
        if key not in self.made:
            folder = self.folder / str(len(self.made))
            folder.mkdir()
            self.made[key] = Sequence(entry, folder, seed)
        return self.made[key]


def psnr(sequence, stream):
    """Returns the PSNR of all planes together, in dB."""
    said = call(
        [
            find_program("c63cmp"),
            "--quiet",
            "--no-ssim",
            "--json",
            "-",
            "-w",
            sequence.width,
            "-h",
            sequence.height,
            sequence.source,
            stream,
        ]
    )
    return json.loads(said)["videos"][0]["psnr_all_db"] or math.inf


def seed_of(entry, task, secret):
    """Returns the seed of a sequence. That of a hidden sequence cannot be guessed without the secret."""
    if not entry["hidden"]:
        return entry["seed"]
    return int.from_bytes(hashlib.sha256(f"{secret}:{task}:{entry['name']}".encode()).digest()[:4], "big")


def files_of(folder):
    """Returns the files of a hand-in to build from, and for each other file why it is left out."""
    kept, left_out, total = {}, [], 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] in (".git", "build", "videos") or path.is_dir() and not path.is_symlink():
            continue
        if path.is_symlink() or not path.is_file():
            left_out.append((str(name), "is a link or no file"))
        elif path.stat().st_size > LARGEST_SOURCE:
            left_out.append((str(name), "is larger than 1 MiB"))
        else:
            content = path.read_bytes()
            total += len(content)
            if total > 32 << 20:
                raise CourseError(f"{folder} has more than 32 MiB of sources", 4)
            if content.startswith(BUILT):
                left_out.append((str(name), "is compiled already"))
            else:
                kept[str(name)] = (content, 0o755 if os.access(path, os.X_OK) else 0o644)
    return kept, left_out


def cpu_busy():
    """Returns how many seconds all CPUs together have worked so far."""
    with open("/proc/stat") as file:
        fields = [int(word) for word in file.readline().split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


class Check:
    """One check: a line of the result, with its points."""

    def __init__(self, name, of):
        self.name, self.of, self.points, self.passed, self.lines = name, of, 0.0, None, []

    def fails(self, *lines, share=0.0):
        self.passed, self.points = False, round(self.of * share, 2)
        self.lines += lines
        return self

    def holds(self, *lines):
        self.passed, self.points = True, float(self.of)
        self.lines += lines
        return self

    def json(self):
        return {
            "id": self.name,
            "name": NAMES[self.name],
            "passed": self.passed,
            "points": self.points,
            "of": self.of,
            "lines": self.lines,
        }


class Grader:
    def __init__(self, task_rules, options, say, sequences):
        self.rules, self.options, self.say, self.made = task_rules, options, say, sequences
        self.checks = {}
        self.result = {}
        self.stack = contextlib.ExitStack()
        self.work = pathlib.Path(
            self.stack.enter_context(tempfile.TemporaryDirectory(prefix="c63grade-"))
        )  # only the grader may read it: 0700
        self.counter = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def check(self, name):
        return self.checks.setdefault(name, Check(name, self.rules["points"][name]))

    # ---- what is judged ----

    def make_sequences(self):
        secret = self.options.seed or "public"
        entries = list(self.rules["sequence"])
        for text in self.options.video or []:
            match = re.search(r"(\d+)x(\d+)", pathlib.Path(text).name)
            if match is None or not pathlib.Path(text).is_file():
                raise CourseError(f"{text} is not a file with a size in its name, such as FOREMAN_352x288.yuv", 4)
            width, height = int(match[1]), int(match[2])
            entries.append(
                {
                    "name": pathlib.Path(text).stem,
                    "hidden": False,
                    "width": width,
                    "height": height,
                    "file": text,
                    "frames": os.path.getsize(text) // (width * height * 3 // 2),
                }
            )
        self.sequences = [self.made.get(entry, seed_of(entry, self.rules["name"], secret)) for entry in entries]
        for sequence in self.sequences:
            for quantizer in self.quantizers():
                sequence.expect(quantizer)

    def quantizers(self):
        return self.rules["quality"]["quantizers"] if self.rules["quality"] else [25]

    def make_box(self, hide_programs=True):
        hide = {os.path.expanduser("~"), os.environ.get("C63_SHARED_DATA", ""), *map(os.path.dirname, self.options.video or [])}
        if self.folder:
            hide.add(str(self.folder.parent))  # folder of other hand-ins
        programs = ("c63enc", "c63dec", "c63pred", "c63join", "c63mpi")
        found = {find_program(name, needed=False) for name in programs} | {shutil.which(name) for name in programs}
        inputs = max(sequence.source.stat().st_size for sequence in self.sequences)
        box = self.stack.enter_context(
            Box(
                self.options.isolation,
                self.rules["run"]["disk"] + inputs,
                sorted(os.path.realpath(path) for path in hide if path and os.path.realpath(path) != "/"),
                sorted(os.path.realpath(path) for path in found - {None}) if hide_programs else (),
            )
        )
        self.result["isolation"] = box.missing
        return box

    def limits(self, seconds=None):
        run = self.rules["run"]
        return {
            "seconds": seconds or run["seconds"],
            "memory": run["memory"],
            "disk": run["disk"],
            "processes": run["processes"] + 4 * (os.cpu_count() or 1),
        }

    def watch_compilers(self, box):
        """Puts a script in front of each compiler that records its command line."""
        seen = set()  # the first in PATH is used
        for folder in FOLDERS:
            for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
                if COMPILERS.fullmatch(name) and name not in seen:
                    seen.add(name)
                    script = f'#!/bin/sh\necho "{name} $*" >>{box.root}/run/compiled 2>/dev/null\nexec {folder}/{name} "$@"\n'
                    box.put(f"tools/{name}", script.encode(), 0o755)

    def build(self, box, files, *more):
        """Builds in a box. Returns the result of make, and the compilers' command lines."""
        for name, (content, mode) in files.items():
            box.put(f"handin/{name}", content, mode)
        self.watch_compilers(box)
        limits = self.limits(self.rules["build"]["seconds"]) | {"memory": max(self.rules["run"]["memory"], 4 << 30)}
        ended = box.run(shlex.split(self.rules["build"]["command"]) + list(more), limits)
        compiled = (box.get("run/compiled", 1 << 20) or b"").decode(errors="replace").splitlines()
        box.reset()
        return ended, compiled

    def judge_build(self, files):
        check = self.check("build")
        if not any(name.lower() in ("makefile", "gnumakefile") for name in files) and self.rules["build"]["command"].startswith(
            "make"
        ):
            check.fails("There is no Makefile.")
            return False
        self.box = self.make_box()
        ended, compiled = self.build(self.box, files)
        self.result["build_log"] = ended["output"][-4000:]
        if ended["over"]:
            check.fails(f"The build exceeds its limit of {ended['over']}.")
            return False
        absent = [name for name in self.rules["build"]["programs"] if self.box.get(f"handin/{name}", 4) is None]
        if ended["exit"] != 0 or absent:
            check.fails(
                f"The build ended with exit code {ended['exit']}." if ended["exit"] else f"The build does not make {', '.join(absent)}."
            )
            return False
        self.box.seal()
        warnings = len(re.findall(r"\bwarning:", ended["output"]))
        check.holds(*([f"{warnings} warnings"] if warnings else []))
        self.judge_optimization(compiled, {os.path.basename(name) for name in files})
        return True

    def judge_optimization(self, compiled, own):
        """Checks the optimization options of the compilers. Calls that nvcc itself makes for its temporary files do not
        count."""
        check, slow = self.check("optimized"), []
        for line in compiled:
            words = line.split()
            sources = [name for name in map(os.path.basename, words) if re.search(r"\.(c|cc|cpp|cu)$", name) and name in own]
            levels = [word for word in words if re.fullmatch(r"-O\w*", word)]
            default = "-O3" if words[0] == "nvcc" else "-O0"
            level = levels[-1] if levels else default
            if sources and (level in ("-O0", "-Og") or (words[0] == "nvcc" and "-G" in words)):
                slow += sources
        if slow:
            check.fails(f"Built without optimization: {', '.join(sorted(set(slow)))}. The times are those of a debug build.")
        else:
            check.holds(*([] if compiled else ["No call of a compiler was seen."]))

    def judge_own(self, files, left_out):
        """Checks that a hand-in contains no expected results and no compiled programs."""
        check = self.check("own")
        known = {
            hashlib.sha256(content).hexdigest()
            for sequence in self.sequences
            for stream, decoded in sequence.expected.values()
            for content in (stream.read_bytes(), decoded)
        }
        for name in list(files):
            content = files[name][0]
            if content.startswith(STREAM) or hashlib.sha256(content).hexdigest() in known:
                left_out.append((name, "is a coded stream or an expected result"))
                del files[name]
        foul = [(name, why) for name, why in left_out if "stream" in why or "compiled" in why]
        lines = [f"{name} {why}; it was left out." for name, why in left_out]
        check.fails(*lines) if foul else check.holds(*lines)

    # ---- encoding ----

    def encode(self, box, sequence, quantizer=25, limits=None, prefix=(), environment=None):
        """Runs the encoder. Returns its result and its stream, which may be None."""
        box.reset()
        box.put("run/in.yuv", sequence.source.read_bytes())
        words = {
            "width": sequence.width,
            "height": sequence.height,
            "frames": sequence.frames,
            "qp": quantizer,
            "input": "{box}/run/in.yuv",
            "output": "{box}/run/out.c63",
        }
        argv = [word.format(**words) for word in shlex.split(self.command)]
        if quantizer != 25 and "{qp}" not in self.command:
            argv[1:1] = ["-q", str(quantizer)]
        ended = box.run(list(prefix) + argv, limits or self.limits(), environment)
        return ended, box.get("run/out.c63", self.rules["run"]["disk"])

    def stream_file(self, content):
        self.counter += 1
        path = self.work / f"handin{self.counter}.c63"
        path.write_bytes(content)
        return path

    @staticmethod
    def how_it_ended(ended):
        if ended["over"]:
            return f"It exceeded its limit of {ended['over']}."
        if ended["exit"] < 0:
            return f"It was ended by signal {-ended['exit']}."
        return f"It ended with exit code {ended['exit']}." if ended["exit"] else "It ended well."

    def judge_streams(self):
        """Encodes all sequences. Checks that streams can be decoded, and compares bytes or quality."""
        decodable, rule = self.check("decodable"), self.check("bytes" if self.rules["bytes"] else "quality")
        self.streams, good, right, ratios = {}, 0, 0, []
        wrong_hidden = wrong_public = 0
        jobs = [(sequence, quantizer) for sequence in self.sequences for quantizer in self.quantizers()]
        for sequence, quantizer in jobs:
            title = sequence.name + (f" at qp {quantizer}" if len(self.quantizers()) > 1 else "")
            self.say(f"{title}: {sequence.width}x{sequence.height}, {sequence.frames} frames")
            ended, content = self.encode(self.box, sequence, quantizer)
            fault = None
            if ended["exit"] != 0 or ended["over"]:
                fault = self.how_it_ended(ended)
            elif not content:
                fault = "It wrote no stream."
            else:
                stream = self.stream_file(content)
                try:
                    decoded = sequence.decode(stream)
                except CourseError as error:
                    fault = str(error).replace(str(stream), "the stream")
            if fault and ended["left_running"]:
                fault += (
                    f" {ended['left_running']} processes were still running when it ended; what they write then does not count."
                )
            if fault:
                decodable.lines.append(f"{title}: {fault}")
                said = ended["output"].strip().splitlines()
                decodable.lines += [f"It said: {line[:200]}" for line in said[-2:]]
            else:
                good += 1
                self.streams[sequence.name, quantizer] = content
                lines, fine = (self.compare if self.rules["bytes"] else self.compare_quality)(
                    sequence, quantizer, stream, decoded, ratios
                )
                right += fine
                rule.lines += [f"{title}: {line}" for line in lines]
                if fine:
                    continue
            wrong_hidden += sequence.hidden
            wrong_public += not sequence.hidden
        if wrong_hidden and not wrong_public:
            rule.lines.insert(0, "It works on the public sequences, but not on all hidden ones.")
        for check, count in ((decodable, good), (rule, right)):
            check.passed = count == len(jobs)
            check.points = round(check.of * count / len(jobs), 2)
        if self.rules["quality"] and rule.passed:
            self.points_for_bits(rule, ratios)
        self.right = decodable.passed and rule.passed

    def compare(self, sequence, quantizer, stream, decoded, _):
        expected, expected_decoded = sequence.expect(quantizer)
        if stream.read_bytes() == expected.read_bytes():
            return [], True
        self.say(f"{sequence.name}: looking for the first difference")
        return (
            explain.why_different(
                stream, expected, sequence.source, decoded, expected_decoded, sequence.width, sequence.height
            ),
            False,
        )

    def compare_quality(self, sequence, quantizer, stream, decoded, ratios):
        want = self.rules["quality"]
        expected, expected_decoded = sequence.expect(quantizer)
        if len(decoded) != len(expected_decoded):
            return [f"It has {len(decoded)} bytes of pictures instead of {len(expected_decoded)}."], False
        mine, theirs = psnr(sequence, stream), psnr(sequence, expected)
        ratio = stream.stat().st_size / expected.stat().st_size
        ratios.append(ratio)
        lines = [f"{mine:.2f} dB ({mine - theirs:+.2f} dB) with {100 * (ratio - 1):+.1f} % of bits"]
        fine = mine >= theirs - want["psnr_within"] and ratio <= 1 + want["bits_within"] / 100
        if not fine:
            look = explain.look_of(decoded, expected_decoded, sequence.width, sequence.height)
            lines.append(f"Allowed are {want['psnr_within']} dB less and {want['bits_within']} % more bits. " + (look or ""))
        return lines, fine

    def points_for_bits(self, rule, ratios):
        curve = self.rules["quality"]["bits_for_points"]
        saved = 100 * (1 - statistics.geometric_mean(ratios))
        self.result["bits_saved_percent"] = saved
        if curve:
            rule.points = round(min(rule.of, rules.points_for(saved, curve)), 2)
            rule.lines.append(f"{saved:.1f} % of the bits are saved at equal PSNR: {rule.points:g} of {rule.of} points.")

    # ---- the task's own rules ----

    def judge_search(self):
        """Checks the search range with a picture that moves as far as the range."""
        want, check = self.rules["search"], self.check("search")
        shares = []
        for sign in (1, -1):
            far = sign * (want["range"] - 1)
            entry = {
                "name": f"far{sign}",
                "pattern": "pan",
                "width": 176,
                "height": 144,
                "frames": 3,
                "mv": f"{far},{far}",
                "hidden": True,
            }
            sequence = self.made.get(entry, seed_of(entry, self.rules["name"], self.options.seed or "public"))
            ended, content = self.encode(self.box, sequence)
            vectors = []
            for stream in (content and self.stream_file(content), sequence.expect()[0]):
                rows = explain.blocks_of(stream, sequence.source, sequence.frames) if stream and ended["exit"] == 0 else []
                inside = [row for row in rows if row["plane"] == "Y" and row["inter"] == "1"]
                vectors.append(
                    sum((int(row["mv_x"]), int(row["mv_y"])) == (-far, -far) for row in inside) / max(1, len(inside))
                )
            shares.append(vectors[0] / vectors[1] if vectors[1] else 0)
            check.lines.append(
                f"Motion of ({far}, {far}): {100 * vectors[0]:.0f} % of the blocks follow it, {100 * vectors[1]:.0f} % with "
                "exact search."
            )
            if want["exact"] and content:
                audit = explain.motion_audit(self.stream_file(content), sequence.source)
                if audit and audit["all"]["differing"]:
                    shares.append(0)
                    check.lines.append(f"The audit of all vectors: {audit['first_difference']['text']}.")
        check.holds() if min(shares) >= 0.9 else check.fails()

    def judge_flight(self):
        want, check = self.rules["flight"], self.check("flight")
        sequence = next((s for s in self.sequences if s.frames >= 2 * want["frames"] + 2), self.sequences[0])
        words = {
            "width": sequence.width,
            "height": sequence.height,
            "frames": sequence.frames,
            "qp": 25,
            "input": "-",
            "output": "-",
        }
        self.box.reset()
        self.box.put("run/in.yuv", sequence.source.read_bytes())
        told = self.box.feed(
            [word.format(**words) for word in shlex.split(self.command)],
            self.limits(want["seconds"]),
            "run/in.yuv",
            sequence.width * sequence.height * 3 // 2,
            want["frames"],
            max(3, want["seconds"] / 3),
        )
        line = (
            f"It received at most {want['frames']} frames before the first coded one had to come out: "
            f"{told['coded']} of {told['frames']} came."
        )
        if told["coded"] == told["frames"]:
            check.holds(line)
        else:
            check.fails(
                line,
                "It holds back more frames than the task allows, does not flush its output after each frame, or does not "
                "accept - as input and output.",
            )

    def judge_decoder(self):
        check, command = self.check("decoder"), self.rules["decoder"]["command"]
        wrong = []
        for sequence in self.sequences:
            stream, decoded = sequence.expect()
            self.box.reset()
            self.box.put("run/in.c63", stream.read_bytes())
            argv = [word.format(input="{box}/run/in.c63", output="{box}/run/out.yuv") for word in shlex.split(command)]
            ended = self.box.run(argv, self.limits())
            content = self.box.get("run/out.yuv", self.rules["run"]["disk"])
            if content == decoded and ended["exit"] == 0:
                continue
            if not content or ended["exit"] != 0:
                wrong.append(f"{sequence.name}: {self.how_it_ended(ended)}")
            else:
                at = next((i for i, (x, y) in enumerate(zip(content, decoded)) if x != y), min(len(content), len(decoded)))
                wrong.append(
                    f"{sequence.name}: first difference in frame {at // (sequence.width * sequence.height * 3 // 2)}. "
                    + (explain.look_of(content, decoded, sequence.width, sequence.height) or "")
                )
        check.fails(*wrong, share=1 - len(wrong) / len(self.sequences)) if wrong else check.holds()

    def judge_memory(self, files):
        """Builds once more with sanitizers and runs that, or runs under compute-sanitizer."""
        check, faults, looked = self.check("memory"), [], False
        sequence = min(self.sequences, key=lambda one: one.width * one.height * one.frames)
        if self.options.sanitize:
            flags = "-fsanitize=address,undefined -fno-sanitize-recover=all"
            box = self.make_box()
            ended, compiled = self.build(box, files, f"OPTIMIZE=-O1 {flags}", f"LDFLAGS={flags}")
            if ended["exit"] != 0 or not any("-fsanitize" in line for line in compiled):
                check.lines.append("Sanitizers: not used, because its Makefile ignores OPTIMIZE and LDFLAGS.")
            else:
                looked = True
                box.seal()
                ended = self.encode(
                    box,
                    sequence,
                    limits=self.limits(10 * self.rules["run"]["seconds"]) | {"memory_of_each": False},
                    environment={"ASAN_OPTIONS": "detect_leaks=0"},
                )[0]
                found = re.search(r"ERROR: AddressSanitizer.*|.*runtime error:.*", ended["output"])
                faults += [f"Sanitizers: {found[0][:300]}"] if found else []
                faults += [] if found or ended["exit"] == 0 else [f"With sanitizers: {self.how_it_ended(ended)}"]
        if self.options.compute_sanitizer:
            if shutil.which("compute-sanitizer", path=":".join(FOLDERS)):
                looked = True
                ended = self.encode(
                    self.box,
                    sequence,
                    limits=self.limits(20 * self.rules["run"]["seconds"]) | {"memory_of_each": False},
                    prefix=["compute-sanitizer", "--error-exitcode", "99"],
                )[0]
                faults += [f"compute-sanitizer: {line}" for line in ended["output"].splitlines()[-5:]] if ended["exit"] else []
            else:
                check.lines.append("compute-sanitizer: not used, because it is not installed.")
        if looked:
            check.fails(*faults) if faults else check.holds()
        else:
            check.of = 0

    # ---- speed ----

    def judge_speed(self):
        want, check = self.rules["speed"], self.check("speed")
        if not self.right:
            check.fails("Not measured: the speed of wrong results is worth nothing.")
            return
        sequence = next(s for s in self.sequences if s.name == want["sequence"])
        baseline = self.build_baseline(want["baseline"])
        expected = self.streams[sequence.name, self.quantizers()[0]]
        rounds, times, own_cpu = self.options.rounds or want["rounds"], {"baseline": [], "handin": []}, 0.0
        with self.gpu_queue():
            busy, began = cpu_busy(), time.monotonic()
            for i in range(want["warmup"] + rounds):
                self.say(f"speed: run {i + 1} of {want['warmup'] + rounds}")
                turns = [("baseline", baseline), ("handin", self.box)]
                for name, box in turns if i % 2 == 0 else reversed(turns):
                    command, self.command = self.command, self.rules["run"]["command"] if name == "baseline" else self.command
                    ended, content = self.encode(box, sequence, self.quantizers()[0])
                    self.command = command
                    own_cpu += ended["cpu_seconds"]
                    if name == "handin" and content != expected:
                        check.fails(
                            f"In run {i + 1} its stream differed from the earlier one, so the times do not count. "
                            f"{self.how_it_ended(ended)} "
                            f"Processes that were still running: {ended['left_running']}."
                        )
                        return
                    if i >= want["warmup"]:
                        times[name].append(ended["seconds"])
            other = max(0.0, (cpu_busy() - busy - own_cpu) / ((time.monotonic() - began) * (os.cpu_count() or 1)))
        ratios = sorted(b / h for b, h in zip(times["baseline"], times["handin"]))
        speedup = statistics.median(ratios)
        self.result["speed"] = {
            "sequence": sequence.name,
            "baseline_seconds": times["baseline"],
            "seconds": times["handin"],
            "speedup": speedup,
            "lowest": ratios[0],
            "highest": ratios[-1],
            "other_work": other,
        }
        check.points = round(min(check.of, rules.points_for(speedup, want["for_points"])), 2)
        check.passed = check.points > 0
        check.lines.append(
            f"{speedup:.2f} times as fast as the {want['baseline']} (between {ratios[0]:.2f} and {ratios[-1]:.2f} in {rounds} "
            f"rounds): {statistics.median(times['handin']) * 1e3:.1f} ms instead of "
            f"{statistics.median(times['baseline']) * 1e3:.1f} ms, from start to end of the process."
        )
        check.lines.append(
            f"Other work took {100 * other:.0f} % of the CPUs meanwhile"
            + (": the machine was not idle. Repeat this for a figure that counts." if other > BUSY else ".")
        )

    def build_baseline(self, name):
        folder = course_folder() / "skeleton" if name == "skeleton" else pathlib.Path(name)
        self.say(f"building the baseline: {name}")
        box = self.make_box()
        files, _ = files_of(folder)
        ended, _ = self.build(box, files)
        if ended["exit"] != 0:
            raise CourseError(f"the baseline does not build: {ended['output'][-300:]}", 1)
        box.seal()
        return box

    @contextlib.contextmanager
    def gpu_queue(self):
        """Waits until the lock file is free, if one is named, so that graders use a GPU one after another."""
        if not self.options.lock:
            yield
            return
        with open(self.options.lock, "a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.say(f"waiting for {self.options.lock}")
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    # ---- answers ----

    def judge_answers(self, files):
        want, check = self.rules["answers"], self.check("answers")
        content = files.get(want["file"], (b"", 0))[0].decode(errors="replace")
        sections = re.split(r"^## *(\d+).*$", content, flags=re.M)
        answers = {int(number): text.strip() for number, text in zip(sections[1::2], sections[2::2])}
        missing = [n for n in range(1, want["questions"] + 1) if len(answers.get(n, "")) < 20]
        self.result["answers"] = {str(n): text[:4000] for n, text in answers.items()}
        given = dict(item.split("=", 1) for item in self.options.given or []).get("answers")
        if given is not None:
            check.points, check.passed = min(float(check.of), float(given)), not missing
        check.lines.append(
            f"{want['questions'] - len(missing)} of {want['questions']} questions are answered in {want['file']}."
            + ("" if given is not None else " The teacher reads them and gives the points (--given answers=N).")
        )
        if missing:
            check.passed = False

    # ---- all of it ----

    def grade(self, handin):
        self.folder = pathlib.Path(handin).resolve() if pathlib.Path(handin).is_dir() else None
        self.command = self.rules["run"]["command"] if self.folder else handin
        student = self.options.student or (self.folder.name if self.folder else os.path.basename(shlex.split(handin)[0]))
        self.result |= {
            "program": "c63grade",
            "version": version(),
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "student": student,
            "task": self.rules["name"],
            "title": self.rules["task"]["title"],
            "machine": machine(),
            "isolation": [],
            "hidden_sequences": "secret" if self.options.seed else "public seed: give --seed for secret ones",
        }
        self.make_sequences()
        if self.folder:
            files, left_out = files_of(self.folder)
            self.judge_own(files, left_out)
            self.say("building")
            built = self.judge_build(files)
        else:
            files, built = {}, self.take_command()
        if self.rules["answers"] and self.folder:
            self.judge_answers(files)
        if built:
            self.judge_streams()
            for name in ("search", "flight", "decoder"):
                if self.rules[name] and (self.folder or name != "decoder"):
                    getattr(self, f"judge_{name}")()
            if self.folder and (self.options.sanitize or self.options.compute_sanitizer):
                self.judge_memory(files)
            if self.rules["speed"] and not self.options.no_speed:
                self.judge_speed()
        return self.finish(built)

    def take_command(self):
        """Takes a command in place of a hand-in: a program that exists already. It is copied into the box, which may
        not see its folder."""
        words = shlex.split(self.command)
        program = shutil.which(words[0])
        if program is None:
            raise CourseError(f"'{self.command}' is neither a folder nor a command that can be run", 4)
        if "{input}" not in self.command or "{output}" not in self.command:
            raise CourseError("a command names {input} and {output}, and {width} and {height} as it needs them", 2)
        self.box = self.make_box(hide_programs=False)
        with open(program, "rb") as file:
            self.box.put("handin/program", file.read(), 0o755)
        self.command = shlex.join(["./program"] + words[1:])
        self.box.seal()
        return True

    def finish(self, built):
        """Computes the points. Checks that were not reached give none. Checks that an option leaves out do not count at
        all."""
        for name, of in self.rules["points"].items():
            left_out = (
                (name == "speed" and self.options.no_speed)
                or (not self.folder and name in ("build", "optimized", "own", "answers", "decoder"))
                or (name == "memory" and not (self.options.sanitize or self.options.compute_sanitizer))
            )
            if of and name not in self.checks and not left_out:
                self.check(name).fails("Not checked, because it was not built." if not built else "Not checked.")
        checks = [self.checks[name] for name in NAMES if name in self.checks]
        by_hand = [
            check
            for check in checks
            if check.name == "answers" and not any(item.startswith("answers=") for item in self.options.given or [])
        ]
        self.result["checks"] = [check.json() for check in checks]
        self.result["points"] = round(sum(check.points for check in checks), 2)
        self.result["of"] = sum(check.of for check in checks)
        self.result["still_to_give"] = sum(check.of for check in by_hand)
        self.result["passed"] = all(check.passed is not False for check in checks)
        return self.result


def machine():
    cpu = ""
    with contextlib.suppress(OSError):
        cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    gpu = ""
    with contextlib.suppress(OSError, StopIteration):
        folder = next(pathlib.Path("/proc/driver/nvidia/gpus").iterdir())
        gpu = next(
            line.split(":", 1)[1].strip()
            for line in (folder / "information").read_text().splitlines()
            if line.startswith("Model")
        )
    return {"cpu": cpu, "cpus": os.cpu_count(), "gpu": gpu, "system": platform.platform(), "load": os.getloadavg()[0]}
