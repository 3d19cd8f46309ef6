#!/usr/bin/env python3
"""Grades hand-ins that are right, wrong, slow, unfair or dangerous. Each must get the right verdict, and none may harm
the machine."""

import contextlib
import fcntl
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from unittest import mock

from course_support import COURSE, PROGRAMS, SKELETON, CourseTest, main, run

sys.path.insert(0, str(COURSE))
from c63_course.box import SERVER, Box  # noqa: E402
from c63_course.grader import Sequences  # noqa: E402

RULES = pathlib.Path(__file__).with_name("rules.toml")  # for tests that measure speed
# Rules for tests that do not measure speed. To save time, the sequence "large" is made smaller.
QUICK = RULES.read_text().replace("width = 176\nheight = 144\nframes = 6", "width = 112\nheight = 32\nframes = 3")
SOLUTIONS = pathlib.Path(__file__).with_name("solutions")
SECRET = "the-teachers-secret"
# HEAD has includes, MAIN is the start of the skeleton's main(). Tests insert code after MAIN.
HEAD = "".join(f"#include <{name}.h>\n" for name in ("fcntl", "signal", "stdio", "stdlib", "string", "sys/wait", "unistd"))
MAIN = "int main(int argc, char **argv) {\n  const struct options options = parse_options(argc, argv);\n"
# This Makefile compiles each program as one file, which takes half of the time. Tests of builds use the skeleton's own
# Makefile instead.
PARTS = {"enc": "encode search write", "dec": "decode parse"}
MAKEFILE = """all: c63enc c63dec
c63%: %.c $(filter-out enc.c dec.c,$(wildcard *.c)) c63.h
\tgcc -std=gnu11 $(OPTIMIZE) -fno-tree-vectorize -ffp-contract=off $(WARNINGS) $(LDFLAGS) -o $@ $< -lm
"""
# A complete program of a student. Tests replace %s by the code that they need.
PROGRAM = (
    HEAD
    + "int main(int argc, char **argv) {\n  (void)argc;\n  const char *output = argv[6];\n  (void)output;\n%s\n  return 0;\n}\n"
)
NAMESPACES = (
    subprocess.run(
        [
            "unshare",
            *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]),
            "--net",
            "--pid",
            "--mount",
            "--fork",
            "true",
        ],
        stderr=subprocess.DEVNULL,
    ).returncode
    == 0
    if shutil.which("unshare")
    else False
)


def load_c63grade():
    loader = importlib.machinery.SourceFileLoader("c63grade", str(COURSE / "c63grade"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("c63grade", loader))
    loader.exec_module(module)
    return module


def as_one_file(folder):
    for program, names in PARTS.items():
        names = f"{names} bits layout predict tables timer transform".split()
        (folder / f"{program}.c").write_text("".join(f'#include "{name}.c"\n' for name in names))
    (folder / "Makefile").write_text(MAKEFILE)


def processes():
    return sum(name.isdigit() for name in os.listdir("/proc"))


c63grade = load_c63grade()


class Graded(CourseTest):
    """Tests that grade hand-ins in this process. All of them use the same videos."""

    @classmethod
    def setUpClass(cls):
        cls.environment = dict(os.environ, PATH=f"{PROGRAMS}:{os.environ['PATH']}", C63_SECRET_OF_TEACHER=SECRET)
        cls.enterClassContext(mock.patch.dict(os.environ, cls.environment))
        cls.sequences = cls.enterClassContext(Sequences())

    def setUp(self):
        super().setUp()
        self.need_programs("c63gen", "c63enc", "c63dec", "c63cmp", "c63mv")
        self.handin = self.folder / "class" / "ada"
        shutil.copytree(SKELETON, self.handin)
        as_one_file(self.handin)
        self.rules = self.folder / "rules.toml"
        self.rules.write_text(QUICK)
        # The baseline (the code against which speed is measured) is compiled as one file, like the hand-in.
        self.measured = self.folder / "measured" / "rules.toml"
        self.measured.parent.mkdir()
        shutil.copytree(self.handin, self.folder / "baseline")
        self.measured.write_text(RULES.read_text().replace("rounds = 2", f'baseline = "{self.folder}/baseline"\nrounds = 2'))

    def use_its_makefile(self):
        shutil.copy(SKELETON / "Makefile", self.handin)
        for name in PARTS:
            (self.handin / f"{name}.c").unlink()

    def edit(self, file, old, new):
        path = self.handin / file
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))

    def program(self, body):
        """Replaces the hand-in by one program with this body."""
        (self.handin / "encode.c").write_text(PROGRAM % body)
        (self.handin / "Makefile").write_text("c63enc: encode.c\n\tgcc -O1 -w -o $@ $<\n")

    def grade(self, *options, rules=None, handin=None, code=3, speed=False):
        """Grades the hand-in. Checks what must be true of every result, and returns the result."""
        words = [
            "--task",
            rules or (self.measured if speed else self.rules),
            "--out",
            self.folder / "results",
            "--seed",
            SECRET,
            *([] if speed else ["--no-speed"]),
            *options,
            handin or self.handin,
        ]
        before, said = processes(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
            ended = c63grade.act(c63grade.make().parse_args([str(word) for word in words]), self.sequences)
        self.assertEqual(ended, code, said.getvalue())
        file = next((self.folder / "results").glob("*.json"))
        result = json.loads(file.read_text())
        page = file.with_suffix(".html").read_text()
        for text in (page, file.read_text(), said.getvalue()):
            self.assertNotIn(SECRET, text)
        self.assertLess(processes(), before + 40)
        return {check["id"]: check for check in result["checks"]} | {"result": result, "page": page, "said": said.getvalue()}

    def assertSaid(self, check, pattern):
        self.assertRegex("\n".join(check["lines"]), pattern)

    def small_rules(self, **changes):
        """Writes QUICK with other values to a file. Returns its path."""
        text = QUICK
        for key, value in changes.items():
            text, count = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}", text, count=1)
            self.assertEqual(count, 1)
        path = self.folder / "small.toml"
        path.write_text(text)
        return path

    def rules_with(self, table, points):
        text = QUICK.replace("[points]", f"{table}\n[points]\n{points}")
        self.rules.write_text(text)
        return self.rules


class Handins(Graded):
    """Tests whole hand-ins."""

    # ---- right ----

    def test_01_right_and_fast(self):
        self.use_its_makefile()
        shutil.copy(SOLUTIONS / "simd" / "2-sse2" / "search.c", self.handin)
        found = self.grade(speed=True, rules=RULES, code=0)
        self.assertTrue(all(check["passed"] for name, check in found.items() if isinstance(check, dict) and "passed" in check))
        self.assertGreater(found["result"]["speed"]["speedup"], 1.3)
        self.assertEqual(len(found["result"]["speed"]["seconds"]), 2)
        self.assertGreater(found["speed"]["points"], 20)
        self.assertSaid(found["speed"], r"Other work took \d+ % of the CPUs")
        self.assertIn("<svg", found["page"])

    def test_02_right_and_slow(self):
        self.edit("encode.c", "  encoder->syntax.key = ", "  usleep(100000);\n  encoder->syntax.key = ")
        found = self.grade(speed=True)
        self.assertTrue(found["bytes"]["passed"])
        self.assertFalse(found["speed"]["passed"])
        self.assertEqual(found["speed"]["points"], 0)
        self.assertLess(found["result"]["speed"]["speedup"], 1)
        self.assertEqual(found["result"]["points"], 60)

    # ---- wrong ----

    def test_03_pink(self):
        self.edit(
            "layout.c",
            "    const size_t samples = layout->plane[p].file_samples;\n    if (fread(picture->plane[p],",
            "    const size_t samples = layout->plane[p].file_samples;\n    if (fread(picture->plane[(3 - p) % 3],",
        )
        found = self.grade()
        self.assertTrue(found["decodable"]["passed"])
        self.assertEqual(found["bytes"]["points"], 0)
        self.assertSaid(found["bytes"], "The luma is right and the colours are not: U and V are swapped.")

    def test_04_off_by_a_row(self):
        self.edit(
            "layout.c",
            "    if (fread(picture->plane[p], 1, samples, file) != samples) return 0;",
            "    const size_t row = p == 0 ? layout->width : layout->width / 2;\n"
            "    static uint8_t lost[4096];\n"
            "    if (fread(lost, 1, row, file) != row || fread(picture->plane[p], 1, samples - row, file) != "
            "samples - row) return 0;",
        )
        found = self.grade()
        self.assertSaid(found["bytes"], r"The picture is right but moved: 1 row up\.")

    def test_05_right_on_the_public_video_only(self):
        self.edit(
            "search.c", "  const int left =", "  if (size->width != 64 && size->width != 32) range /= 4;\n  const int left ="
        )
        found = self.grade()
        self.assertTrue(found["decodable"]["passed"])
        self.assertEqual(found["bytes"]["points"], 10)
        self.assertSaid(found["bytes"], "works on the public sequences")
        self.assertSaid(
            found["bytes"],
            r"hidden: First difference: frame 1, plane Y, block at \(\d+, \d+\): vector \(.*\) with SAD \d+ instead",
        )
        self.assertSaid(found["bytes"], "missed a smaller sum")

    def test_06_copies_golden_files(self):
        video = self.folder / "public.yuv"
        run([PROGRAMS / "c63gen", "--quiet", "-w", 64, "-h", 48, "-f", 5, "--seed", 1, video])
        run([PROGRAMS / "c63enc", "--quiet", "--backend", "cpu", "-w", 64, "-h", 48, video, self.handin / "golden.c63"])
        self.program('  char line[4096]; snprintf(line, sizeof line, "cp golden.c63 %s", output); return system(line);')
        found = self.grade()
        self.assertFalse(found["own"]["passed"])
        self.assertSaid(found["own"], "golden.c63 is a coded stream or an expected result; it was left out")
        self.assertEqual(found["bytes"]["points"], 0)
        golden = (self.handin / "golden.c63").read_bytes()  # the stream is now hidden in the source
        (self.handin / "golden.c63").unlink()
        (self.handin / "golden.h").write_text(f"static const unsigned char golden[] = {{{','.join(map(str, golden))}}};\n")
        (self.handin / "encode.c").write_text(
            '#include "golden.h"\n'
            + PROGRAM % "  FILE *f = fopen(output, \"wb\"); fwrite(golden, 1, sizeof golden, f); fclose(f);"
        )
        found = self.grade()
        self.assertTrue(found["own"]["passed"])
        self.assertEqual(found["bytes"]["points"], 10)
        self.assertSaid(found["bytes"], "works on the public sequences")

    def test_07_takes_the_last_of_equal_sums(self):
        self.edit("search.c", "if (sad < best)", "if (sad <= best)")
        found = self.grade()
        self.assertSaid(found["bytes"], "Both have the same sum. The first in raster order wins")

    def test_08_rounds_differently(self):
        self.edit(
            "transform.c",
            "(int16_t)roundf(a[zigzag[k]] / (4.0f * quantizer->step[k]))",
            "(int16_t)(a[zigzag[k]] / (4.0f * quantizer->step[k]) + 0.5f)",
        )
        found = self.grade()
        self.assertSaid(
            found["bytes"], r"First difference: frame 0, plane Y, block at \(\d+, \d+\): levels take \d+ bits instead of \d+"
        )
        self.assertSaid(found["bytes"], "fused multiply-add")

    def test_09_cannot_be_decoded(self):
        self.edit("write.c", "  end_bits(writer);\n", "  put_bits(writer, 5, 3);\n  end_bits(writer);\n  writer->size -= 9;\n")
        found = self.grade()
        self.assertEqual(found["decodable"]["points"], 0)
        self.assertSaid(found["decodable"], r"frame 0.*byte")

    def test_10_another_stream_each_time(self):
        self.edit(
            "encode.c",
            MAIN,
            MAIN + "  FILE *clock = fopen(\"/proc/uptime\", \"r\"); double up = 0;\n"
            "  if (fscanf(clock, \"%lf\", &up) != 1) return 1;\n  fclose(clock);\n  tables_init(); "
            "extern int odd_runs; odd_runs = (int)(up * 100);\n",
        )
        self.edit("write.c", "#include \"c63.h\"\n", "#include \"c63.h\"\nint odd_runs;\n")
        self.edit(
            "write.c",
            "  put_scan_header(writer);\n",
            "  put_marker(writer, 0xC4);\n  put_u16(writer, 4);\n  put_u16(writer, odd_runs & 0x7F7F);\n  "
            "put_scan_header(writer);\n",
        )
        rules = self.folder / "quality.toml"
        rules.write_text(
            self.measured.read_text()
            .replace("[bytes]\nequal = true", "[quality]\nbits_within = 5")
            .replace("bytes = 30", "quality = 30")
        )
        found = self.grade(rules=rules, speed=True)
        self.assertTrue(found["quality"]["passed"])
        self.assertSaid(found["speed"], "its stream differed from the earlier one")

    # ---- the build fails, or its result is refused ----

    def test_11_no_makefile(self):
        (self.handin / "Makefile").unlink()
        found = self.grade()
        self.assertSaid(found["build"], "There is no Makefile.")
        self.assertEqual(found["result"]["points"], 5)

    def test_12_does_not_compile(self):
        self.edit("search.c", "int best = INT_MAX;", "int best = INT_MAX")
        found = self.grade()
        self.assertSaid(found["build"], "The build ended with exit code 2")
        self.assertIn("search.c", found["result"]["build_log"])

    def test_13_debug_build(self):
        self.use_its_makefile()
        self.edit("Makefile", "-g $(OPTIMIZE)", "-g -O0")
        found = self.grade()
        self.assertTrue(found["bytes"]["passed"])
        self.assertFalse(found["optimized"]["passed"])
        self.assertSaid(found["optimized"], r"Built without optimization: .*search\.c")

    def test_14_compiled_already(self):
        shutil.copy("/bin/true", self.handin / "c63enc")
        (self.handin / "Makefile").write_text("c63enc:\n\ttrue\n")
        found = self.grade()
        self.assertSaid(found["own"], "c63enc is compiled already")
        self.assertSaid(found["build"], "The build does not make c63enc")

    # ---- unfair ----

    def test_15_leaves_early(self):
        self.edit("encode.c", MAIN, MAIN + "  if (fork() != 0) return 0;\n  usleep(300000);\n")
        found = self.grade()
        self.assertEqual(found["decodable"]["points"], 0)
        self.assertSaid(found["decodable"], "1 processes were still running when it ended; what they write then does not count")

    def test_16_calls_the_real_encoder(self):
        self.need(NAMESPACES, "no namespaces here, so other programs are not covered")
        self.program(f'  argv[0] = "{PROGRAMS}/c63enc"; execv(argv[0], argv); perror(argv[0]); return 1;')
        found = self.grade()
        self.assertEqual(found["decodable"]["points"], 0)
        self.assertSaid(found["decodable"], "Permission denied|No such file")

    def test_17_prints_secrets(self):
        secret = self.folder / "class" / "bob" / "search.c"
        secret.parent.mkdir()
        secret.write_text(f"/* {SECRET} */")
        self.program(
            f'  fflush(stdout); return system("env; cat {secret}; '
            f'cat /proc/*/environ /proc/*/cmdline | tr \'\\\\0\' \' \'; ls -a ~ /tmp") + 9;'
        )
        found = self.grade()
        self.assertEqual(found["decodable"]["points"], 0)
        if NAMESPACES:
            self.assertNotIn("c63grade", "\n".join(found["decodable"]["lines"]))

    def test_18_needs_the_network(self):
        self.need(NAMESPACES, "no namespaces here, so the network is open")
        self.program(
            '  char *words[] = {"python3", "-c", "import socket; socket.create_connection((\'192.0.2.1\', 80), 5)", NULL};\n'
            '  execvp(words[0], words); return 1;'
        )
        found = self.grade()
        self.assertSaid(found["decodable"], "Network is unreachable")

    # ---- dangerous ----

    def test_19_fork_bomb(self):
        self.program(
            '  int made = 0; for (int i = 0; i < 100000; ++i) { const pid_t pid = fork(); if (pid < 0) break; '
            'if (pid == 0) { pause(); _exit(0); } ++made; }\n'
            '  printf("made %d\\n", made); fflush(stdout); return 1;'
        )
        found = self.grade()
        self.assertSaid(found["decodable"], r"made \d+")
        made = int(re.search(r"made (\d+)", "\n".join(found["decodable"]["lines"]))[1])
        self.assertLess(made, 24 + 4 * os.cpu_count())
        self.assertSaid(found["decodable"], r"\d+ processes were still running")

    def test_20_hundred_gigabytes(self):
        self.program(
            '  char block[1 << 16]; memset(block, 1, sizeof block); signal(SIGXFSZ, SIG_IGN);\n'
            '  for (int n = 0;; ++n) { char name[4096]; snprintf(name, sizeof name, "%s%d", output, n); '
            'const int f = open(name, O_WRONLY | O_CREAT, 0600);\n'
            '    if (f < 0) return 1; long written = 0; '
            'while (written < 100000000000L && write(f, block, sizeof block) > 0) written += sizeof block;\n'
            '    close(f); if (written == 0) return 1; }'
        )
        free = shutil.disk_usage(tempfile.gettempdir()).free
        found = self.grade()
        self.assertSaid(found["decodable"], "It exceeded its limit of disk")
        self.assertGreater(shutil.disk_usage(tempfile.gettempdir()).free, free - (2 << 30))

    def test_21_hangs(self):
        self.program("  for (;;) pause();")
        began = time.monotonic()
        found = self.grade(rules=self.hang_rules())
        self.assertSaid(found["decodable"], "It exceeded its limit of time")
        self.assertLess(time.monotonic() - began, 120)

    def hang_rules(self):
        path = self.folder / "hang.toml"
        path.write_text(QUICK.replace("seconds = 30", "seconds = 1"))
        return path

    def test_22_takes_all_memory(self):
        self.program(
            '  for (int i = 0; i < 4; ++i) if (fork() == 0) break;\n'
            '  for (long n = 0; n < 1000; ++n) { char *p = malloc(1 << 20); if (p == NULL) { puts("no memory"); '
            'fflush(stdout); pause(); } memset(p, 1, 1 << 20); usleep(1000); }\n'
            '  pause();'
        )
        found = self.grade(rules=self.small_rules(memory='"64 MiB"'))
        self.assertSaid(found["decodable"], "It exceeded its limit of memory")

    def test_23_crashes(self):
        self.program("  return *(volatile int *)0;")
        self.assertSaid(self.grade()["decodable"], "It was ended by signal 11")

    def test_24_links_lead_nowhere(self):
        (self.handin / "passwords").symlink_to("/etc/shadow")
        self.program('  unlink(output); return symlink("/etc/shadow", output) != 0;')
        found = self.grade()
        self.assertSaid(found["own"], "passwords is a link or no file")
        self.assertSaid(found["decodable"], "It wrote no stream")

    def test_25_build_that_hangs_and_leaves_something(self):
        (self.handin / "Makefile").write_text("c63enc:\n\tsleep 1000 & sleep 1001\n")
        path = self.folder / "hang.toml"
        path.write_text(QUICK.replace("seconds = 120", "seconds = 1"))
        self.assertSaid(self.grade(rules=path)["build"], "The build exceeds its limit of time")

    def test_26_marks_up_its_page(self):
        marked = self.handin.with_name("<script>alert(1)")
        self.handin.rename(marked)
        (marked / "Makefile").write_text("c63enc:\n\t@echo '<script>alert(2)</script>'; exit 1\n")
        found = self.grade(handin=marked)
        self.assertNotIn("<script>", found["page"])

    def test_27_boxes_without_namespaces(self):
        self.edit("encode.c", MAIN, MAIN + "  if (fork() != 0) return 0;\n  usleep(300000);\n")
        found = self.grade("--isolation", "none")
        self.assertSaid(found["decodable"], "1 processes were still running")
        self.assertIn("no namespaces (switched off)", found["result"]["isolation"][0])
        self.assertIn("did not hold everything", found["page"])

    def test_28_bomb_and_disk_without_namespaces(self):
        self.need(os.geteuid() == 0, "needs root: another user for the hand-in")
        self.program(
            '  for (int i = 0; i < 1000; ++i) { const pid_t pid = fork(); if (pid < 0) break; '
            'if (pid == 0) { setsid(); pause(); _exit(0); } }\n'
            '  char block[1 << 16]; memset(block, 1, sizeof block); for (int n = 0; n < 9; '
            '++n) { char name[4096]; snprintf(name, sizeof name, "%s%d", output, n);\n'
            '  const int f = open(name, O_WRONLY | O_CREAT, 0600); for (int i = 0; i < 100; '
            '++i) if (write(f, block, sizeof block) < 0) break; usleep(30000); } pause();'
        )
        found = self.grade("--isolation", "none")
        self.assertSaid(found["decodable"], "It exceeded its limit of disk")

    def test_29_as_an_ordinary_user(self):
        self.need(os.geteuid() == 0, "needs root to become another user")
        self.need(shutil.which("setpriv"), "no setpriv (util-linux)")
        user = 54321
        for folder in (self.folder, self.folder / "class"):
            os.chmod(folder, 0o755)
        (self.folder / "results").mkdir()
        os.chown(self.folder / "results", user, user)
        self.program(
            '  for (int i = 0; i < 100000; ++i) { const pid_t pid = fork(); if (pid < 0) break; '
            'if (pid == 0) { pause(); _exit(0); } }\n'
            '  return system("id -u; umount /tmp; cat /proc/self/status | grep CapEff") + 5;'
        )
        words = [
            "setpriv",
            f"--reuid={user}",
            f"--regid={user}",
            "--clear-groups",
            "env",
            f"PATH={PROGRAMS}:/usr/local/bin:/usr/bin:/bin",
            "HOME=/",
            COURSE / "c63grade",
            "--task",
            RULES,
            "--no-speed",
            "--out",
            self.folder / "results",
            self.handin,
        ]
        tried = subprocess.run(
            [str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300
        )
        if (
            tried.returncode == 4
            and "neither next to" in tried.stdout
            or "Permission denied" in tried.stdout
            and "c63grade" not in tried.stdout
        ):
            self.skipTest("another user cannot reach the programs here")
        self.assertEqual(tried.returncode, 3, tried.stdout)
        self.assertRegex(tried.stdout, r"CapEff:\s+0000000000000000|Cannot fork|processes were still running")


class Inside(CourseTest):
    """Tests what a program sees in the box."""

    def shell(self, script):
        with Box("full", disk=16 << 20) as box:
            box.seal()
            limits = {"seconds": 20, "memory": 256 << 20, "disk": 16 << 20, "processes": 64}
            return box.run(["sh", "-c", script], limits)

    def test_threads_get_names_and_the_machine_keeps_its_settings(self):
        self.need(NAMESPACES, "no namespaces here")
        ended = self.shell(
            "printf named >/proc/$$/task/$$/comm && cat /proc/$$/comm\n"  # CUDA does not start if this fails
            "find /proc/sys /proc/irq /proc/bus /proc/fs /proc/sysrq-trigger /etc -writable ! -type l 2>/dev/null | head -3"
        )
        self.assertEqual(ended["output"], "named\n")

    def test_never_ends_processes_of_others(self):
        spec = {"namespaces": True, "uid": None, "disk": 1 << 20, "root": str(self.folder), "hide": [], "hide_files": []}
        words = [sys.executable, "-I", "-S", "-B", SERVER, json.dumps(spec)]  # not process 1
        ended = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=20)
        self.assertIn("no process namespace", ended.stdout)


class Tasks(Graded):
    """Tests what single tasks require besides the right bytes."""

    def test_search_must_cover_the_range(self):
        rules = self.rules_with("[search]\nrange = 16\n", "search = 10")
        text = (
            rules.read_text()
            .replace("[bytes]\nequal = true", "[quality]\npsnr_within = 50\nbits_within = 1000")
            .replace("bytes = 30", "quality = 30")
        )
        rules.write_text(text)
        self.assertTrue(self.grade(rules=rules, code=0)["search"]["passed"])
        self.edit("c63.h", "LUMA_RANGE = 16", "LUMA_RANGE = 8")
        found = self.grade(rules=rules)
        self.assertFalse(found["search"]["passed"])
        self.assertSaid(found["search"], r"Motion of \(15, 15\): 0 % of the blocks follow it")

    def test_frames_in_flight(self):
        rules = self.rules_with("[flight]\nframes = 2\nseconds = 12\n", "flight = 10")
        self.assertSaid(self.grade(rules=rules, code=0)["flight"], r"6 of 6 came|5 of 5 came|4 of 4 came")
        self.edit(
            "encode.c",
            "    if (write_out(encoder, output) < 0) return -1;\n  }\n",
            "  }\n  if (write_out(encoder, output) < 0) return -1;\n",
        )
        found = self.grade(rules=rules)
        self.assertTrue(found["bytes"]["passed"])
        self.assertFalse(found["flight"]["passed"])

    def test_quality_and_bits(self):
        rules = self.rules_with("", "")
        rules.write_text(
            rules.read_text()
            .replace("[bytes]\nequal = true", "[quality]\nbits_for_points = [[0, 0], [10, 30]]")
            .replace("bytes = 30", "quality = 30")
        )
        self.edit("write.c", "  put_code_tables(writer);\n", "")  # 420 bytes a frame less
        found = self.grade(rules=rules, code=0)
        self.assertSaid(found["quality"], r"% of the bits are saved at equal PSNR: 30 of 30 points")
        self.edit("encode.c", "DEFAULT_QP, 0, NULL", "20, 0, NULL")
        self.assertSaid(self.grade(rules=rules)["quality"], r"Allowed are 0\.1 dB less and 1\.0 % more bits")

    def test_decoder(self):
        rules = self.rules_with("[decoder]\n", "decoder = 10")
        rules.write_text(rules.read_text().replace("make c63enc ", "make "))
        self.assertTrue(self.grade(rules=rules, code=0)["decoder"]["passed"])
        self.edit("decode.c", "picture_swap(&decoder->reference, &decoder->current);", "")
        self.assertSaid(self.grade(rules=rules)["decoder"], "first difference in frame [12]")

    def test_sanitizers(self):
        self.edit(
            "search.c",
            "  int best = INT_MAX;\n",
            "  int best = INT_MAX;\n  volatile int *lost = (int *)malloc(4);\n  best -= lost[size->width > 0] * "
            "0;\n  free((void *)lost);\n",
        )
        found = self.grade("--sanitize")
        self.assertTrue(found["bytes"]["passed"])
        self.assertSaid(found["memory"], "heap-buffer-overflow|insufficient space")

    def test_answers_and_points_by_hand(self):
        rules = self.rules_with("[answers]\nquestions = 2\n", "answers = 20")
        (self.handin / "answers.md").write_text("## 1\nThe search takes 96 % of the time.\n\n## 2\nno\n")
        found = self.grade(rules=rules)
        self.assertSaid(found["answers"], "1 of 2 questions are answered")
        self.assertEqual(found["result"]["still_to_give"], 20)
        (self.handin / "answers.md").write_text(
            "## 1\nThe search takes 96 % of the time.\n\n## 2 Why?\nBecause it tries all positions.\n"
        )
        found = self.grade("--given", "answers=12", rules=rules, code=0)
        self.assertEqual((found["answers"]["points"], found["result"]["still_to_give"]), (12, 0))

    def test_graders_take_turns_at_one_gpu(self):
        lock = self.folder / "gpu"
        words = ["--task", self.measured, "--rounds", 1, "--seed", SECRET, "--out", self.folder, "--lock", lock, self.encoder()]
        with open(lock, "a") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            grader = subprocess.Popen(
                [str(word) for word in (COURSE / "c63grade", *words)],
                text=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
            before = []
            for line in grader.stderr:
                before.append(line)
                if "waiting for" in line:
                    break
            self.assertEqual(before[-1], f"c63grade: waiting for {lock}\n", before)
            self.assertFalse([line for line in before if "speed: run" in line])
            with self.assertRaises(subprocess.TimeoutExpired):
                grader.wait(0.3)
        after = grader.communicate(timeout=300)[1]
        self.assertIn("speed: run 1 of 1", after)
        self.assertIn(grader.returncode, (0, 3))  # c63enc may be slower than the skeleton on so small a video

    def encoder(self):
        return f"{PROGRAMS}/c63enc --quiet --backend cpu -w {{width}} -h {{height}} -o {{output}} {{input}}"

    def test_a_command_instead_of_a_folder(self):
        found = self.grade(handin=self.encoder(), code=0)
        self.assertTrue(found["bytes"]["passed"])
        self.assertNotIn("build", found)


if __name__ == "__main__":
    main()
