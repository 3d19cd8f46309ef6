"""Grades a hand-in by the rules of a task."""

import contextlib
import dataclasses
import fcntl
import glob
import hashlib
import os
import pathlib
import platform
import re
import shlex
import shutil
import statistics
import tempfile
import time

from . import explain, report, rules
from .box import FOLDERS, Box
from .handin import Feeder, files_of
from .programs import CourseError, course_folder, find_program, version
from .sequences import entry_of

COMPILERS = re.compile(r"(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|nvcc)(?:-\d+)?")
STREAM = b"\xff\xd8\xff\xdb\x00\xc3\x00"  # the first bytes of the course encoder's streams
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=all"
OWN_PROGRAMS = ("c63enc", "c63dec", "c63pred", "c63join", "c63mpi")
EMULATED = 20  # times as long as a limit says may take what a CPU emulates
MOST_SAMPLES = 352 * 288 * 3  # of a video's luma, to emulate
BUSY = 0.15  # share of the CPUs that other programs may use before times are doubtful


def cpu_busy():
    """Returns how many seconds all CPUs together have worked so far."""
    with open("/proc/stat") as file:
        fields = [int(word) for word in file.readline().split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


@dataclasses.dataclass
class Check:
    """One check: a line of the result, with its points."""

    id: str
    name: str
    of: float
    points: float = 0.0
    passed: bool | None = None
    lines: list[str] = dataclasses.field(default_factory=list)

    def fails(self, *lines, share=0.0):
        self.passed, self.points = False, round(self.of * share, 2)
        self.lines += lines
        return self

    def holds(self, *lines):
        self.passed, self.points = True, float(self.of)
        self.lines += lines
        return self


def record_of(compiler):
    """Returns the line of a script that records the command line of a compiler."""
    return f'echo "{compiler} $*" >>"${{0%/*}}/../run/compiled" 2>/dev/null'


def how_it_ended(ended):
    if ended["over"]:
        return f"It exceeded its limit of {ended['over']}."
    if ended["exit"] > 128:
        return f"It was ended by signal {ended['exit'] - 128}."
    return f"It ended with exit code {ended['exit']}." if ended["exit"] else "It ended well."


def last_lines(ended, count=2):
    return [f"It said: {line[:200]}" for line in ended["output"].strip().splitlines()[-count:]]


class Grader:
    """Judges one hand-in. Use as a context. `sequences` are shared by all hand-ins."""

    def __init__(self, task_rules, options, say, sequences):
        self.rules, self.options, self.say, self.made = task_rules, options, say, sequences
        self.secret = options.seed or "public"
        self.checks, self.streams, self.counter = {}, {}, 0
        self.result, self.right, self.seen = {"isolation": []}, False, []

    def __enter__(self):
        self.folder_of_work = tempfile.TemporaryDirectory(prefix="c63grade-")  # only the grader may read it: 0700
        self.work = pathlib.Path(self.folder_of_work.name)
        return self

    def __exit__(self, *_):
        self.folder_of_work.cleanup()

    def check(self, name):
        return self.checks.setdefault(name, Check(name, rules.CHECKS[name], self.rules["points"][name]))

    # ---- what is judged ----

    def make_sequences(self):
        entries = self.rules["sequence"]
        if self.options.emulate:
            entries = [
                entry | {"frames": min(entry["frames"], max(2, MOST_SAMPLES // (entry["width"] * entry["height"])))} for entry in entries
            ]
        entries = entries + [entry_of(file) for file in self.options.video or []]
        self.sequences = [self.made.get(entry, self.rules["name"], self.secret) for entry in entries]
        for sequence in self.sequences:
            for quantizer in self.quantizers():
                sequence.expect(quantizer)

    def quantizers(self):
        return self.rules["quality"]["quantizers"] if self.rules["quality"] else [25]

    def make_box(self, covered=()):
        box = Box(self.options.trust, [path for name in covered if (path := find_program(name, needed=False))])
        self.result["isolation"] = box.notes
        if self.options.emulate:
            self.result["isolation"].append("A CPU emulated the GPU (--emulate): videos were short, and there are no points for speed.")
        return box

    def limits(self, seconds=None):
        run = self.rules["run"]
        seconds = (seconds or run["seconds"]) * (EMULATED if self.options.emulate else 1)
        return run | {"seconds": seconds, "processes": run["processes"] + 4 * (os.cpu_count() or 1)}

    def compilers(self, more=""):
        """Returns scripts that stand in front of the compilers: they record their command lines, and may add options."""
        scripts = {}  # of the same name, the first in PATH is used
        for folder in FOLDERS:
            for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
                if COMPILERS.fullmatch(name):
                    added = "" if name == "nvcc" else more
                    script = f'#!/bin/sh\n{record_of(name)}\nexec {folder}/{name} "$@" {added}\n'
                    scripts.setdefault(f"tools/{name}", script)
        if self.options.emulate:
            scripts["tools/nvcc"] = f'#!/bin/sh\n{record_of("nvcc")}\nPATH=${{PATH#*:}} exec "${{0%/*}}/c63bench" nvcc "$@"\n'
        return scripts

    def emulator(self):
        """Returns the program that stands for CUDA without a GPU, as a file of the box."""
        return {"tools/c63bench": (pathlib.Path(find_program("c63bench")).read_bytes(), 0o755)} if self.options.emulate else {}

    def build(self, files, more=""):
        """Builds in a box. Returns the result of make, the compilers' command lines, and the files that are there then."""
        files = {f"handin/{name}": file for name, file in files.items()}
        more = "-fPIC" if self.options.emulate else more
        tools = {name: (script.encode(), 0o755) for name, script in self.compilers(more).items()} | self.emulator()
        limits = self.limits(self.rules["build"]["seconds"]) | {"memory": max(self.rules["run"]["memory"], 4 << 30)}
        command = shlex.split(self.rules["build"]["command"])
        ended = self.box.run(files | tools, command, limits, take=("handin", "run/compiled"))
        compiled = ended["files"].pop("run/compiled", (b"", 0))
        return ended, compiled[0].decode(errors="replace").splitlines(), ended["files"]

    def judge_build(self, files):
        """Builds the hand-in. Returns its files then, or None."""
        check, want = self.check("build"), self.rules["build"]
        made_by_make = want["command"].startswith("make")
        if made_by_make and not {name.lower() for name in files} & {"makefile", "gnumakefile"}:
            check.fails("There is no Makefile.")
            return None
        self.box = self.make_box(OWN_PROGRAMS)
        ended, compiled, built = self.build(files)
        self.result["build_log"] = ended["output"][-4000:]
        absent = [name for name in want["programs"] if f"handin/{name}" not in built]
        if ended["over"]:
            check.fails(f"The build exceeds its limit of {ended['over']}.")
        elif ended["exit"] != 0:
            check.fails(f"The build ended with exit code {ended['exit']}.")
        elif absent:
            check.fails(f"The build does not make {', '.join(absent)}.")
        else:
            warnings = len(re.findall(r"\bwarning:", ended["output"]))
            check.holds(*([f"{warnings} warnings"] if warnings else []))
            self.judge_optimization(compiled, {os.path.basename(name) for name in files})
            return built
        return None

    def judge_optimization(self, compiled, own):
        """Checks the optimization options of the compilers. Calls that nvcc itself makes for its temporary files do not
        count."""
        check, slow = self.check("optimized"), []
        for line in compiled:
            words = line.split() or [""]
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

    def encode(self, files, sequence, quantizer=25, command=None, limits=None, **more):
        """Runs the encoder. Returns its result and its stream, which may be None."""
        argv = self.argv(sequence, quantizer, "{box}/run/in.yuv", "{box}/run/out.c63", command)
        argv = more.pop("prefix", []) + argv
        files = files | {"run/in.yuv": (sequence.source.read_bytes(), 0o644)}
        if self.options.emulate:
            more["environment"] = {"C63_EMULATED_FAULTS": "{box}/run/faults"}
        ended = self.box.run(files, argv, limits or self.limits(), take=("run/out.c63", "run/faults"), **more)
        self.seen += ended["files"].get("run/faults", (b"", 0))[0].decode(errors="replace").splitlines()
        return ended, ended["files"].get("run/out.c63", (None, 0))[0]

    def argv(self, sequence, quantizer, source, target, command=None):
        command = command or self.command
        places = {"input": source, "output": target, "qp": quantizer, "frames": sequence.frames}
        words = shlex.split(command)
        argv = [word.format(width=sequence.width, height=sequence.height, **places) for word in words]
        return argv if quantizer == 25 or "{qp}" in command else argv[:1] + ["-q", str(quantizer)] + argv[1:]

    def stream_file(self, content):
        self.counter += 1
        path = self.work / f"stream{self.counter}.c63"
        path.write_bytes(content)
        return path

    def judge_streams(self, built):
        """Encodes all sequences. Checks that streams can be decoded, and compares bytes or quality."""
        decodable, rule = self.check("decodable"), self.check("bytes" if self.rules["bytes"] else "quality")
        compare = self.compare if self.rules["bytes"] else self.compare_quality
        jobs = [(sequence, quantizer) for sequence in self.sequences for quantizer in self.quantizers()]
        right, ratios, wrong = 0, [], []
        for sequence, quantizer in jobs:
            title = sequence.name + (f" at qp {quantizer}" if len(self.quantizers()) > 1 else "")
            self.say(f"{title}: {sequence.width}x{sequence.height}, {sequence.frames} frames")
            ended, content = self.encode(built, sequence, quantizer)
            stream, fine = self.stream_file(content or b""), False
            try:
                if ended["exit"] != 0 or ended["over"]:
                    raise CourseError(how_it_ended(ended), 4)
                if not content:
                    raise CourseError("It wrote no stream.", 4)
                decoded = sequence.decode(stream)
            except CourseError as error:
                decodable.lines += [f"{title}: {error}", *last_lines(ended)]
            else:
                self.streams[sequence.name, quantizer] = content
                try:
                    lines, fine = compare(sequence, quantizer, stream, decoded, ratios)
                except CourseError as error:  # such as pictures of another shape
                    lines = [f"It differs, and cannot be compared: {error}"]
                rule.lines += [f"{title}: {line}" for line in lines]
            right += fine
            wrong += [] if fine else [sequence.hidden]
            if ended["over"] == "time":
                decodable.lines.append("The other sequences were not tried, so as not to wait for each.")
                wrong.append(False)
                break
        if wrong and all(wrong):
            rule.lines.insert(0, "It works on the public sequences, but not on all hidden ones.")
        for check, count in ((decodable, len(self.streams)), (rule, right)):
            check.passed = count == len(jobs)
            check.points = round(check.of * count / len(jobs), 2)
        if self.rules["quality"] and rule.passed:
            self.points_for_bits(rule, ratios)
        self.right = decodable.passed and rule.passed

    def compare(self, sequence, quantizer, stream, decoded, _):
        expected, pictures = sequence.expect(quantizer)
        if stream.read_bytes() == expected.read_bytes():
            return [], True
        self.say(f"{sequence.name}: looking for the first difference")
        return explain.why_different(stream, expected, sequence, decoded, pictures), False

    def compare_quality(self, sequence, quantizer, stream, decoded, ratios):
        want = self.rules["quality"]
        expected, pictures = sequence.expect(quantizer)
        mine, theirs = sequence.psnr(stream), sequence.psnr(expected)
        ratio = stream.stat().st_size / expected.stat().st_size
        ratios.append(ratio)
        lines = [f"{mine:.2f} dB ({mine - theirs:+.2f} dB) with {100 * (ratio - 1):+.1f} % of bits"]
        fine = mine >= theirs - want["psnr_within"] and ratio <= 1 + want["bits_within"] / 100
        if not fine:
            look = explain.look_of(decoded, pictures, sequence.width, sequence.height)
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

    def judge_search(self, built):
        """Checks the search range with a picture that moves as far as the range."""
        want, check = self.rules["search"], self.check("search")
        shares = []
        for far in (want["range"] - 1, 1 - want["range"]):
            size = {"pattern": "pan", "width": 176, "height": 144, "frames": 3, "mv": f"{far},{far}"}
            sequence = self.made.get({"name": f"far{far}", "hidden": True} | size, self.rules["name"], self.secret)
            ended, content = self.encode(built, sequence)
            stream = self.stream_file(content or b"")
            try:
                mine = explain.share_of(stream, sequence, (-far, -far)) if content and not ended["exit"] else 0.0
            except CourseError as error:
                mine = 0.0
                check.lines.append(f"Its stream cannot be read: {error}")
            theirs = explain.share_of(sequence.expect()[0], sequence, (-far, -far))
            shares.append(mine / theirs if theirs else 0)
            check.lines.append(
                f"Motion of ({far}, {far}): {100 * mine:.0f} % of the blocks follow it, {100 * theirs:.0f} % with exact search."
            )
            audit = explain.motion_audit(stream, sequence.source) if want["exact"] and mine else None
            if audit and audit["all"]["differing"]:
                shares.append(0)
                check.lines.append(f"The audit of all vectors: {audit['first_difference']['text']}.")
        check.holds() if min(shares) >= 0.9 else check.fails()

    def judge_flight(self, built):
        """Checks that frames come out in time. What comes must be the stream that was judged."""
        want, check = self.rules["flight"], self.check("flight")
        sequence = next((s for s in self.sequences if s.frames >= 2 * want["frames"] + 2), self.sequences[0])
        quantizer = self.quantizers()[0]
        stream = self.streams.get((sequence.name, quantizer))
        if stream is None:
            check.fails(f"Not checked: it wrote no stream of {sequence.name} that can be decoded.")
            return
        patience = max(1, self.limits(want["seconds"])["seconds"] / 3)
        feeder = Feeder(sequence.source.read_bytes(), sequence.frame_bytes, want["frames"], stream, patience)
        self.box.run(built, self.argv(sequence, quantizer, "-", "-"), self.limits(want["seconds"]), feeder=feeder)
        check.holds() if feeder.came == len(stream) and not feeder.differs else check.fails()
        check.lines.append(
            f"It received at most {want['frames']} frames before the first coded one had to come out: "
            f"{feeder.coded()} of {sequence.frames} came."
        )
        if feeder.differs:
            check.lines.append("What came out is not the stream that it writes to a file.")
        elif not check.passed:
            check.lines.append(
                "It holds back more frames than the task allows, does not flush its output after each frame, or does not "
                "accept - as input and output."
            )

    def judge_decoder(self, built):
        check, command, wrong = self.check("decoder"), self.rules["decoder"]["command"], []
        for sequence in self.sequences:
            stream, decoded = sequence.expect()
            argv = [word.format(input="{box}/run/in.c63", output="{box}/run/out.yuv") for word in shlex.split(command)]
            files = built | {"run/in.c63": (stream.read_bytes(), 0o644)}
            ended = self.box.run(files, argv, self.limits(), take=("run/out.yuv",))
            content = ended["files"].get("run/out.yuv", (None, 0))[0]
            if content == decoded and ended["exit"] == 0:
                continue
            if not content or ended["exit"] != 0:
                wrong.append(f"{sequence.name}: {how_it_ended(ended)}")
            else:
                at = next((i for i, (x, y) in enumerate(zip(content, decoded)) if x != y), min(len(content), len(decoded)))
                look = explain.look_of(content, decoded, sequence.width, sequence.height)
                wrong.append(f"{sequence.name}: first difference in frame {at // sequence.frame_bytes}. {look or ''}")
            if ended["over"] == "time":
                break
        check.fails(*wrong, share=1 - len(wrong) / len(self.sequences)) if wrong else check.holds()

    def judge_memory(self, files, built):
        """Builds once more with sanitizers and runs that, or runs under compute-sanitizer. A run without a fault ends well
        and writes the stream that was judged; what it prints is only shown."""
        check, faults, looked = self.check("memory"), [], False
        sequence = min(self.sequences, key=lambda one: one.width * one.height * one.frames)
        quantizer = self.quantizers()[0]
        limits = {"memory_of_each": False, "memory": 4 * self.rules["run"]["memory"]}

        def judge(what, files, times, lines, **more):
            slower = self.limits(times * self.rules["run"]["seconds"]) | limits
            ended, content = self.encode(files, sequence, quantizer, limits=slower, **more)
            if ended["exit"] or ended["over"]:
                faults.extend([f"{what}: {how_it_ended(ended)}", *lines(ended)])
            elif content != self.streams.get((sequence.name, quantizer), content):
                faults.append(f"{what}: its stream is another one.")

        def report_of(ended):
            return [line[:300] for line in ended["output"].splitlines() if re.search("ERROR: AddressSan|runtime error:", line)][:1]

        if self.options.sanitize:
            ended, _, checked = self.build(files, SANITIZERS)
            programs = [checked.get(f"handin/{name}", (b"",))[0] for name in self.rules["build"]["programs"]]
            if ended["exit"] != 0 or not all(b"__asan_init" in program for program in programs):
                check.lines.append("Sanitizers: not used, because it does not build with them, or calls a compiler by its path.")
            else:
                looked = True
                judge("Sanitizers", checked, 10, report_of, environment={"ASAN_OPTIONS": "detect_leaks=0"})
        if self.options.compute_sanitizer:
            if shutil.which("compute-sanitizer", path=":".join(FOLDERS)):
                looked = True
                prefix = ["compute-sanitizer", "--error-exitcode", "99"]
                judge("compute-sanitizer", built, 20, lambda ended: last_lines(ended, 5), prefix=prefix)
            else:
                check.lines.append("compute-sanitizer: not used, because it is not installed.")
        if looked:
            check.fails(*faults) if faults else check.holds()
        else:
            check.of = 0

    def judge_emulated(self):
        """Judges what the emulated GPU has seen. A doubt is a fault only if the streams are wrong."""
        check, seen = self.check("memory"), dict.fromkeys(self.seen)
        faults = [line.removeprefix("fault: ")[:300] for line in seen if line.startswith("fault: ")]
        if not self.right:
            faults += [line.removeprefix("doubt: ")[:300] for line in seen if line.startswith("doubt: ")]
        check.fails(*faults[:20]) if faults else check.holds()

    # ---- speed ----

    def judge_speed(self, built):
        want, check = self.rules["speed"], self.check("speed")
        if not self.right:
            check.fails("Not measured: the speed of wrong results is worth nothing.")
            return
        sequence, quantizer = next(s for s in self.sequences if s.name == want["sequence"]), self.quantizers()[0]
        baseline = self.build_baseline(want["baseline"])
        expected = self.streams[sequence.name, quantizer]
        rounds, times, own_cpu = self.options.rounds or want["rounds"], {"baseline": [], "handin": []}, 0.0
        turns = [("baseline", baseline, self.rules["run"]["command"]), ("handin", built, self.command)]
        with self.gpu_queue():
            busy, began = cpu_busy(), time.monotonic()
            for i in range(want["warmup"] + rounds):
                self.say(f"speed: run {i + 1} of {want['warmup'] + rounds}")
                for name, files, command in turns if i % 2 == 0 else reversed(turns):
                    ended, content = self.encode(files, sequence, quantizer, command)
                    own_cpu += ended["cpu_seconds"]
                    if name == "handin" and content != expected:
                        check.fails(
                            f"In run {i + 1} its stream differed from the earlier one, so the times do not count. "
                            + how_it_ended(ended)
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
        ended, _, built = self.build(files_of(folder)[0])
        if ended["exit"] != 0:
            raise CourseError(f"the baseline does not build: {ended['output'][-300:]}", 1)
        return built

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
        content = files.get(want["file"], (b"", 0))[0].decode("utf-8-sig", errors="replace")
        sections = re.split(r"^## *(\d{1,4})\b.*$", content, flags=re.M)
        answers = {int(number): text.strip() for number, text in zip(sections[1::2], sections[2::2])}
        short = [n for n in range(1, want["questions"] + 1) if len(answers.get(n, "")) < 20]
        self.result["answers"] = {str(n): text[:4000] for n, text in answers.items()}
        check.lines.append(f"{want['questions'] - len(short)} of {want['questions']} questions are answered in {want['file']}.")
        check.lines += [
            f"Question {n}: " + ("the answer has fewer than 20 letters." if answers.get(n) else f"there is no text below '## {n}'.")
            for n in short
        ]
        if short:
            check.passed = False

    # ---- all of it ----

    def grade(self, handin, student):
        """Judges a hand-in. Whatever happens is its result."""
        self.result |= {
            "program": "c63grade",
            "version": version(),
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "student": student,
            "task": self.rules["name"],
            "title": self.rules["task"]["title"],
            "machine": machine(),
            "trusted": self.options.trust,
            "hidden_sequences": "secret" if self.options.seed else "public seed: give --seed for secret ones",
        }
        built = None
        self.folder = pathlib.Path(handin) if os.path.isdir(handin) else None
        try:
            built = self.judge(handin)
        except Exception as error:  # a fault of ours, too, must not end a class
            kind = "" if isinstance(error, (CourseError, OSError)) else f"{type(error).__name__}: "
            self.result["fault"] = f"could not be judged: {kind}{error}".replace(str(self.work), "")
        return self.finish(built)

    def judge(self, handin):
        self.command = self.rules["run"]["command"] if self.folder else handin
        if self.folder:
            files, left_out = files_of(self.folder.resolve())
            self.judge_own(files, left_out)
            if self.rules["answers"]:
                self.judge_answers(files)
            self.say("building")
            built = self.judge_build(files)
        else:
            files, built = {}, self.take_command()
        if built is None:
            return None
        built = built | self.emulator()
        self.judge_streams(built)
        for name in ("search", "flight", "decoder"):
            if self.rules[name] and (self.folder or name != "decoder"):
                getattr(self, f"judge_{name}")(built)
        if self.folder and (self.options.sanitize or self.options.compute_sanitizer):
            self.judge_memory(files, built)
        if self.options.emulate:
            self.judge_emulated()
        if self.rules["speed"] and not self.options.no_speed and not self.options.emulate:
            self.judge_speed(built)
        return built

    def take_command(self):
        """Takes a command in place of a hand-in: a program that exists already. The box gets a copy of it."""
        words = shlex.split(self.command)
        program = shutil.which(words[0]) if words else None
        if program is None:
            raise CourseError(f"'{self.command}' is neither a folder nor a command that can be run", 4)
        if "{input}" not in self.command or "{output}" not in self.command:
            raise CourseError("a command names {input} and {output}, and {width} and {height} as it needs them", 2)
        self.box = self.make_box()
        self.command = shlex.join(["./program"] + words[1:])
        return {"handin/program": (pathlib.Path(program).read_bytes(), 0o755)}

    def finish(self, built):
        """Adds the checks that were not reached, which give no points. Checks that an option leaves out do not count."""
        for name, of in self.rules["points"].items():
            left_out = (
                (name == "speed" and (self.options.no_speed or self.options.emulate))
                or (not self.folder and name in ("build", "optimized", "own", "answers", "decoder"))
                or (name == "memory" and not (self.options.sanitize or self.options.compute_sanitizer or self.options.emulate))
            )
            if of and name not in self.checks and not left_out:
                self.check(name).fails("Not checked, because it was not built." if built is None else "Not checked.")
        self.result["checks"] = [dataclasses.asdict(self.checks[name]) for name in rules.CHECKS if name in self.checks]
        return report.settle(self.result)


def field_of(pattern, name):
    """Returns a field of the first file of a pattern, or nothing."""
    for file in glob.glob(pattern)[:1]:
        for line in pathlib.Path(file).read_text().splitlines():
            if line.startswith(name):
                return line.split(":", 1)[1].strip()
    return ""


def machine():
    cpu, gpu = field_of("/proc/cpuinfo", "model name"), field_of("/proc/driver/nvidia/gpus/*/information", "Model")
    return {"cpu": cpu, "cpus": os.cpu_count(), "gpu": gpu, "system": platform.platform(), "load": os.getloadavg()[0]}
