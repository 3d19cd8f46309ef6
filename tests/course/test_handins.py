#!/usr/bin/env python3
"""Grades hand-ins that are right, wrong, slow, unfair or dangerous. Each must get the right verdict, and none may end the
class. What a hand-in can do to the machine is tested in test_box.py."""

import contextlib
import fcntl
import io
import json
import os
import pathlib
import shutil
import subprocess
from unittest import mock

from course_support import COURSE, ORDINARY_USER, PROGRAMS, SKELETON, CourseTest, as_one_file, load, main, no_box, run

from c63_course.grader import Grader
from c63_course.programs import CourseError
from c63_course.sequences import Sequences

RULES = pathlib.Path(__file__).with_name("rules.toml")  # for tests that measure speed
# Rules for tests that do not measure speed: with a smaller sequence "large", and with the public sequence only.
QUICK = RULES.read_text().replace("width = 176\nheight = 144\nframes = 6", "width = 112\nheight = 32\nframes = 3")
ONE_VIDEO = QUICK[: QUICK.index('[[sequence]]\nname = "hidden"')].replace('"large"', '"public"')
QUALITY = ("[bytes]\nequal = true", "[quality]\n"), ("bytes = 30", "quality = 30")
SECRET = "the-teachers-secret"
# HEAD has includes, MAIN is the start of the skeleton's main(). Tests insert code after MAIN.
HEAD = "".join(f"#include <{name}.h>\n" for name in ("fcntl", "signal", "stdio", "stdlib", "string", "sys/stat", "unistd"))
MAIN = "int main(int argc, char **argv) {\n  const struct options options = parse_options(argc, argv);\n"
# A complete program of a student. Tests replace %s by the code that they need.
PROGRAM = (
    HEAD
    + "int main(int argc, char **argv) {\n  (void)argc;\n  const char *output = argv[6];\n  (void)output;\n%s\n  return 0;\n}\n"
)


def build_once(build=Grader.build, known={}):
    """Returns a Grader.build() that builds equal files once, because most tests change nothing that is built."""

    def found(grader, files, more=""):
        key = repr((sorted(file for file in files.items() if file[0] != "answers.md"), more, grader.rules["build"], type(grader.box), grader.box.trust))
        if key not in known:
            known[key] = build(grader, files, more)
        return known[key]

    return found


c63grade = load("c63grade")
MISSING = no_box()


class Graded(CourseTest):
    """Tests that grade hand-ins in this process. All of them use the same videos."""

    @classmethod
    def setUpClass(cls):
        cls.environment = dict(os.environ, PATH=f"{PROGRAMS}:{os.environ['PATH']}", C63_SECRET_OF_TEACHER=SECRET)
        cls.enterClassContext(mock.patch.dict(os.environ, cls.environment))
        cls.enterClassContext(mock.patch.object(Grader, "build", build_once()))
        cls.sequences = cls.enterClassContext(Sequences())

    def setUp(self):
        super().setUp()
        self.need_programs("c63gen", "c63enc", "c63dec", "c63cmp", "c63mv")
        self.need(MISSING is None, MISSING)
        self.results = self.folder / "results"
        self.handin = self.new_handin("ada")

    def new_handin(self, name):
        folder = self.folder / "class" / name
        shutil.copytree(SKELETON, folder)
        as_one_file(folder)
        return folder

    def edit(self, file, old, new):
        path = self.handin / file
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))

    def program(self, body, handin=None):
        """Replaces a hand-in by one program with this body."""
        handin = handin or self.handin
        handin.mkdir(parents=True, exist_ok=True)
        (handin / "encode.c").write_text(PROGRAM % body)
        (handin / "Makefile").write_text("c63enc: encode.c\n\tgcc -O1 -w -o $@ $<\n")
        return handin

    def rules(self, *changes, text=ONE_VIDEO, table="", points=""):
        """Writes a rule file with changes. Returns its path."""
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        path = self.folder / "rules.toml"
        path.write_text(text.replace("[points]", f"{table}\n[points]\n{points}"), "utf-8-sig")  # as some editors do
        return path

    def measured(self, *changes):
        """Rules that measure speed against a baseline that is compiled as one file, like the hand-in."""
        baseline = self.folder / "baseline"
        shutil.copytree(SKELETON, baseline)
        as_one_file(baseline)
        return self.rules(("rounds = 2", f'baseline = "{baseline}"\nrounds = 2'), *changes, text=RULES.read_text())

    def run_grader(self, *words, code):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
            words = ["--out", self.results, "--seed", SECRET, *words]
            ended = c63grade.act(c63grade.make().parse_args([str(word) for word in words]), self.sequences)
        self.assertEqual(ended, code, said.getvalue())
        results = {}
        for file in self.results.glob("*.json"):
            self.assertEqual(file.stat().st_mode & 0o777, 0o600)
            results[json.loads(file.read_text())["student"]] = json.loads(file.read_text())
            for text in (file.with_suffix(".txt").read_text(), file.read_text(), said.getvalue()):
                self.assertNotIn(SECRET, text)
        self.assertEqual(self.results.stat().st_mode & 0o777, 0o700)
        return results, said.getvalue()

    def grade(self, *options, rules=None, handin=None, code=3, speed=False):
        """Grades the hand-in. Returns the result, and its checks by their id."""
        words = ["--task", rules or self.rules(), *([] if speed else ["--no-speed"]), *options, handin or self.handin]
        results, said = self.run_grader(*words, code=code)
        (result,) = results.values()
        return {check["id"]: check for check in result["checks"]} | {"result": result, "said": said}

    def assertSaid(self, check, pattern):
        self.assertRegex("\n".join(check["lines"]), pattern)


class Handins(Graded):
    """Tests whole hand-ins."""

    # ---- right ----

    def test_right_and_fast(self):
        self.edit("Makefile", "-fno-tree-vectorize", "-O3 -march=native")
        found = self.grade(speed=True, rules=self.measured(), code=0)
        self.assertTrue(all(check["passed"] for check in found["result"]["checks"]))
        self.assertGreater(found["result"]["speed"]["speedup"], 1.3)
        self.assertEqual(len(found["result"]["speed"]["seconds"]), 2)
        self.assertGreater(found["speed"]["points"], 20)

    def test_right_and_slow(self):
        self.edit("encode.c", "  encoder->syntax.key = ", "  usleep(30000);\n  encoder->syntax.key = ")
        found = self.grade(rules=self.measured(), speed=True)
        self.assertTrue(found["bytes"]["passed"])
        self.assertEqual((found["speed"]["passed"], found["speed"]["points"]), (False, 0))
        self.assertLess(found["result"]["speed"]["speedup"], 1)
        self.assertEqual(found["result"]["points"], 60)

    # ---- wrong: the reason is found ----

    def test_wrong_streams(self):
        read = "    if (fread(picture->plane[p], 1, samples, file) != samples) return 0;"
        skip = (
            "    const size_t row = p == 0 ? layout->width : layout->width / 2;\n    static uint8_t lost[4096];\n"
            "    if (fread(lost, 1, row, file) != row || fread(picture->plane[p], 1, samples - row, file) != samples - row) return 0;"
        )
        samples = "    const size_t samples = layout->plane[p].file_samples;\n    if (fread(picture->plane["
        round = "(int16_t)%s(a[zigzag[k]] / (4.0f * quantizer->step[k])%s)"
        left = "  const int left ="
        far = "  if (size->width != 64 && size->width != 32) range /= 4;\n" + left
        cut = "  end_bits(writer);\n", "  put_bits(writer, 5, 3);\n  end_bits(writer);\n  writer->size -= 9;\n"
        for file, old, new, check, pattern in (
            ("layout.c", samples + "p],", samples + "(3 - p) % 3],", "bytes", "U and V are swapped"),
            ("layout.c", read, skip, "bytes", "moved: 1 row up"),
            ("search.c", left, far, "bytes", r"(?s)works on the public .* frame 1, plane Y, block at \(\d+, \d+\): .*missed a smaller"),
            ("search.c", "if (sad < best)", "if (sad <= best)", "bytes", "Both have the same sum"),
            ("transform.c", round % ("roundf", ""), round % ("", " + 0.5f"), "bytes", "(?s)frame 0, plane Y, .*fused multiply-add"),
            ("write.c", *cut, "decodable", "frame 0.*byte"),
        ):
            with self.subTest(pattern):
                self.edit(file, old, new)
                found = self.grade(rules=self.rules(text=QUICK if new is far else ONE_VIDEO))
                self.assertSaid(found[check], pattern)
                self.assertLess(found["bytes"]["points"], 30)
                self.assertEqual(found["decodable"]["passed"], check == "bytes")
                self.edit(file, new, old)

    def test_golden_streams_in_the_folder_or_in_the_source(self):
        video = self.folder / "public.yuv"
        golden = self.handin / "golden.c63"
        run([PROGRAMS / "c63gen", "--quiet", "-w", 64, "-h", 48, "-f", 5, "--seed", 1, video])
        run([PROGRAMS / "c63enc", "--quiet", "--backend", "cpu", "-w", 64, "-h", 48, video, golden])
        self.program('  char line[4096]; snprintf(line, sizeof line, "cp golden.c63 %s", output); return system(line);')
        found = self.grade(rules=self.rules(text=QUICK))
        self.assertEqual((found["own"]["passed"], found["bytes"]["points"]), (False, 0))
        (self.handin / "golden.h").write_text(f"static const unsigned char golden[] = {{{','.join(map(str, golden.read_bytes()))}}};\n")
        golden.unlink()
        write = "  FILE *f = fopen(output, \"wb\"); fwrite(golden, 1, sizeof golden, f); fclose(f);"
        (self.handin / "encode.c").write_text('#include "golden.h"\n' + PROGRAM % write)
        found = self.grade(rules=self.rules(text=QUICK))
        self.assertEqual((found["own"]["passed"], found["bytes"]["points"]), (True, 10))

    def test_another_stream_each_time(self):
        uptime = "  FILE *clock = fopen(\"/proc/uptime\", \"r\"); double up = 0;\n  if (fscanf(clock, \"%lf\", &up) != 1) return 1;\n"
        self.edit("encode.c", MAIN, MAIN + uptime + "  tables_init(); extern int odd_runs; odd_runs = (int)(up * 100);\n")
        self.edit("write.c", "#include \"c63.h\"\n", "#include \"c63.h\"\nint odd_runs;\n")
        scan = "  put_scan_header(writer);\n"
        self.edit("write.c", scan, "  put_marker(writer, 0xC4);\n  put_u16(writer, 4);\n  put_u16(writer, odd_runs & 0x7F7F);\n" + scan)
        rules = self.measured((QUALITY[0][0], "[quality]\nbits_within = 5"), QUALITY[1])
        found = self.grade(rules=rules, speed=True)
        self.assertEqual((found["quality"]["passed"], found["speed"]["passed"]), (True, False))
        self.assertNotIn("speed", found["result"])

    # ---- the build fails, or its result is refused ----

    def test_builds(self):
        makefile = (self.handin / "Makefile").read_text()
        lying = makefile.replace("build:\n", "build:\n\techo >>../run/compiled; echo gcc >>../run/compiled\n")
        for makefile, check, pattern in (
            (None, "build", "no Makefile"),
            ("c63enc:\n\tgcc -c absent.c\n", "build", "exit code 2"),
            ("c63enc:\n\ttrue\n", "build", "does not make c63enc"),
            ("c63enc:\n\tmkdir c63enc\n", "build", "does not make c63enc"),
            ("c63enc:\n\tsleep 1000 & sleep 1001\n", "build", "limit of time"),
            (makefile.replace("$(OPTIMIZE)", "-g -O0"), "optimized", r"enc\.c"),
            (lying, "optimized", "^$"),
        ):
            with self.subTest(makefile=makefile):
                (self.handin / "Makefile").unlink() if makefile is None else (self.handin / "Makefile").write_text(makefile)
                limit = 1 if "sleep" in (makefile or "") else 60
                found = self.grade(rules=self.rules(("seconds = 120", f"seconds = {limit}")), code=0 if pattern == "^$" else 3)
                self.assertSaid(found[check], pattern)
        shutil.copy("/bin/true", self.handin / "c63enc")
        (self.handin / "Makefile").write_text("c63enc:\n\ttrue\n")
        found = self.grade()
        self.assertEqual((found["own"]["passed"], found["build"]["passed"]), (False, False))

    # ---- unfair or dangerous ----

    def test_programs_that_do_something_else(self):
        network = "import socket; socket.create_connection((\'192.0.2.1\', 80), 5)"
        for body, pattern in (
            ("  if (fork() != 0) return 0;\n  usleep(300000); FILE *f = fopen(output, \"wb\"); fputs(\"late\", f);", "no stream"),
            (f'  argv[0] = "{PROGRAMS}/c63enc"; execv(argv[0], argv); perror(argv[0]); return 1;', "No such file"),
            (f'  execlp("python3", "python3", "-c", "{network}", NULL); return 1;', "Network is unreachable"),
            (f'  return system("env; cat {self.folder}/class/bob/search.c; cat /proc/*/environ /proc/*/cmdline; ls -a ~ /tmp") + 9;', "exit code|said"),
            ("  return *(volatile int *)0;", "signal 11"),
            ('  unlink(output); return symlink("/etc/shadow", output) != 0;', "no stream"),
            ("  unlink(output); return mkdir(output, 0700) != 0;", "no stream"),
            ('  puts("\\033[2J\\033]0;title\\007"); fflush(stdout); return 1;', r"\\x1b\[2J|\x1b\[2J"),
            ("  return 0;", "no stream"),
        ):
            with self.subTest(body=body):
                secret = self.folder / "class" / "bob" / "search.c"
                secret.parent.mkdir(exist_ok=True)
                secret.write_text(f"/* {SECRET} */")
                self.program(body)
                found = self.grade(rules=self.rules())
                self.assertEqual(found["decodable"]["points"], 0)
                self.assertSaid(found["decodable"], pattern)
                self.assertNotIn("\x1b", found["said"] + next(self.results.glob("*.txt")).read_text())

    def test_installed_programs_are_covered(self):
        self.program('  execl("/usr/bin/env", "env", "true", NULL); return 77;')
        with mock.patch("c63_course.grader.find_program", lambda name, needed: "/usr/bin/env"):
            self.assertSaid(self.grade()["decodable"], "exit code 77")

    def test_a_hang_costs_its_limit_once(self):
        self.program("  for (;;) pause();")
        found = self.grade(rules=self.rules(("seconds = 30", "seconds = 1")))
        self.assertEqual("\n".join(found["decodable"]["lines"]).count("limit of time"), 1)

    def test_lines_of_output_prove_nothing(self):
        """Rules flight and memory look at the streams and at the programs, not at what these print."""
        flood = (
            '  if (strcmp(output, "-") != 0) { char line[999]; snprintf(line, 999, "./real -w %s -h %s -o %s %s", argv[2], argv[4], '
            'output, argv[7]); return system(line); }\n  for (int i = 0; i < 99; ++i) write(1, "\\xff\\xd8\\xff\\xd9", 4);'
        )
        (self.handin / "false.c").write_text(PROGRAM % flood)
        false = "c63enc: real false.c\n\t/usr/bin/gcc -O1 -w -o $@ false.c\n\techo gcc -fsanitize=address >>../run/compiled\n"
        (self.handin / "Makefile").write_text(false + "real: enc.c\n\tgcc -w -O1 -ffp-contract=off -o $@ enc.c -lm\n")
        rules = self.rules(table="[flight]\nframes = 2\nseconds = 3\n", points="flight = 10\nmemory = 10")
        found = self.grade("--sanitize", rules=rules)
        self.assertTrue(found["bytes"]["passed"])
        self.assertEqual((found["flight"]["passed"], found["flight"]["points"]), (False, 0))
        self.assertEqual((found["memory"]["passed"], found["memory"]["points"]), (None, 0))


class Classes(Graded):
    """Whatever one hand-in does, the next one is judged."""

    def judge(self, *handins, rules=None, code=3, more=()):
        return self.run_grader("--task", rules or self.rules(), "--no-speed", *more, *handins, self.handin, code=code)[0]

    def assertNextIsRight(self, results):
        self.assertTrue(results["ada"]["passed"], results["ada"])

    def test_handins_that_cannot_be_judged(self):
        large, link = self.new_handin("large"), self.new_handin("link")
        for i in range(33):
            (large / f"data{i}").write_bytes(bytes(1 << 20))
        os.symlink("nowhere", bytes(link) + b"/\xff\xfe")
        odd = pathlib.Path(os.fsdecode(os.fsencode(self.folder / "class") + b"/\xe9\x1b[2J"))
        shutil.copytree(link, odd, symlinks=True)
        results = self.judge(large, self.folder / "class" / "absent", odd, link, code=4)
        self.assertNextIsRight(results)
        self.assertEqual(len(results), 5)
        for name in ("large", str(self.folder / "class" / "absent")):
            result = next(result for student, result in results.items() if student.endswith(os.path.basename(name)))
            self.assertEqual((result["passed"], result["points"]), (False, 0))
            self.assertIn("could not be judged: ", result["fault"])
        self.assertTrue(results["link"]["passed"])

    def test_a_fault_of_the_grader_is_a_result(self):
        bob = self.new_handin("bob")
        real = c63grade.Grader.judge_streams

        def judge_streams(grader, built):
            if grader.result["student"] == "bob":
                raise IndexError("list index out of range")
            return real(grader, built)

        with mock.patch.object(c63grade.Grader, "judge_streams", judge_streams):
            results = self.judge(bob, code=4)
        self.assertNextIsRight(results)
        self.assertIn("IndexError", results["bob"]["fault"])

    def test_damaged_results_of_an_earlier_run(self):
        handins = [self.new_handin(f"bob{i}") for i in range(7)]
        for handin in handins:
            (handin / "Makefile").unlink()
        before = self.judge(*handins)
        files = sorted(self.results.glob("bob*.json"))
        whole = json.loads(files[0].read_text())
        for file, content in zip(files, (b"", b"\xff", b"[" * 100000, b"null", whole | {"given": 5}, whole | {"given": {"build": "x"}})):
            file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        files[6].with_suffix(".txt.part").mkdir()  # this result cannot be written
        after = self.judge(*handins, code=6)
        self.assertNextIsRight(after)
        self.assertEqual({name: result["points"] for name, result in after.items()}, {name: result["points"] for name, result in before.items()})

    def test_wrong_streams_under_other_rules(self):
        broken = self.program('  FILE *f = fopen(output, "wb"); fputs("\\xff\\xd8none", f); fclose(f);', self.folder / "class" / "broken")
        shape = self.new_handin("shape")  # 48x64 instead of 64x48 has as many samples
        path = shape / "encode.c"
        path.write_text(path.read_text().replace(MAIN, MAIN.replace("const ", "") + "  { int w = options.width; options.width = options.height; options.height = w; }\n"))
        for rules in (
            self.rules(table="[search]\nrange = 16\nexact = true\n", points="search = 10"),
            self.rules(*QUALITY, table="[search]\nrange = 16\n", points="search = 10"),
        ):
            results = self.judge(broken, shape, rules=rules)
            self.assertNextIsRight(results)
            for name, decodable in (("broken", False), ("shape", True)):
                checks = {check["id"]: check["passed"] for check in results[name]["checks"]}
                self.assertNotIn("fault", results[name])
                self.assertEqual((checks["decodable"], checks["search"]), (decodable, False), results[name])
                self.assertFalse(checks.get("bytes", checks.get("quality")))

    def test_names_stay_apart(self):
        handins = [self.new_handin(name) for name in ("a b", "a_b", "a%20b", "g1/x", "g2/x", "<script>")]
        for handin in handins:
            (handin / "Makefile").unlink()
        results = self.judge(*handins)
        self.assertNextIsRight(results)
        self.assertEqual(set(results), {"a b", "a_b", "a%20b", "g1/x", "g2/x", "<script>", "ada"})
        with self.assertRaises(CourseError):
            self.judge(self.handin)

    def test_a_video_of_the_teacher(self):
        video = self.folder / "own_80x64.yuv"
        run([PROGRAMS / "c63gen", "--quiet", "-w", 80, "-h", 64, "-f", 3, video])
        self.edit("search.c", "if (sad < best)", "if (sad < best && size->width != 80)")
        (result,) = self.judge(more=("--video", video)).values()
        self.assertRegex("\n".join(result["checks"][4]["lines"]), "(?m)^own_80x64")
        (self.folder / "short_80x64.yuv").write_bytes(b"x")
        for wrong in ("absent_80x64.yuv", "short_80x64.yuv"):
            with self.assertRaises(CourseError) as caught:
                self.judge(more=("--video", self.folder / wrong))
            self.assertEqual(caught.exception.code, 4)


class Tasks(Graded):
    """Tests what single tasks require besides the right bytes."""

    def test_search_must_cover_the_range(self):
        loose = (QUALITY[0][0], "[quality]\npsnr_within = 50\nbits_within = 1000"), QUALITY[1]
        rules = self.rules(*loose, table="[search]\nrange = 16\n", points="search = 10")
        self.assertTrue(self.grade(rules=rules, code=0)["search"]["passed"])
        self.edit("c63.h", "LUMA_RANGE = 16", "LUMA_RANGE = 8")
        found = self.grade(rules=rules)
        self.assertFalse(found["search"]["passed"])
        self.assertSaid(found["search"], r"\(15, 15\): 0 %")

    def test_frames_in_flight(self):
        rules = self.rules(table="[flight]\nframes = 2\nseconds = 6\n", points="flight = 10")
        self.assertTrue(self.grade(rules=rules, code=0)["flight"]["passed"])
        write = "  const size_t written = fwrite(encoder->writer.bytes,"
        wrong = "  if (output == stdout) encoder->writer.bytes[30] ^= 1;\n" + write
        self.edit("encode.c", write, wrong)  # as many bytes as the stream in the file, but others
        self.assertFalse(self.grade(rules=rules)["flight"]["passed"])
        self.edit("encode.c", wrong, write)
        write = "  }\n  if (write_out(encoder, output) < 0) return -1;\n"
        self.edit("encode.c", "    if (write_out(encoder, output) < 0) return -1;\n  }\n", write)
        found = self.grade(rules=rules)
        self.assertEqual((found["bytes"]["passed"], found["flight"]["passed"]), (True, False))

    def test_quality_and_bits(self):
        rules = self.rules((QUALITY[0][0], "[quality]\nbits_for_points = [[0, 0], [10, 30]]"), QUALITY[1])
        self.edit("write.c", "  put_code_tables(writer);\n", "")  # 420 bytes a frame less
        found = self.grade(rules=rules, code=0)
        self.assertEqual(found["quality"]["points"], 30)
        self.edit("encode.c", "DEFAULT_QP, 0, NULL", "20, 0, NULL")
        self.assertFalse(self.grade(rules=rules)["quality"]["passed"])

    def test_decoder(self):
        rules = self.rules(("make c63enc ", "make "), table="[decoder]\n", points="decoder = 10")
        self.assertTrue(self.grade(rules=rules, code=0)["decoder"]["passed"])
        self.edit("decode.c", "picture_swap(&decoder->reference, &decoder->current);", "")
        self.assertSaid(self.grade(rules=rules)["decoder"], "first difference in frame [12]")

    def test_sanitizers(self):
        self.assertTrue(self.grade("--sanitize", code=0)["memory"]["passed"])
        lost = "  volatile int *lost = (int *)malloc(4);\n  best -= lost[size->width > 0] * 0;\n  free((void *)lost);\n"
        self.edit("search.c", "  int best = INT_MAX;\n", "  int best = INT_MAX;\n" + lost)
        found = self.grade("--sanitize")
        self.assertEqual((found["bytes"]["passed"], found["memory"]["passed"]), (True, False))
        self.assertSaid(found["memory"], "heap-buffer-overflow|insufficient space")
        # It does nothing where its faults would be seen.
        self.edit("encode.c", MAIN, MAIN + "#ifdef __SANITIZE_ADDRESS__\n  return 0;\n#endif\n")
        found = self.grade("--sanitize")
        self.assertEqual((found["bytes"]["passed"], found["memory"]["passed"]), (True, False))

    def test_answers_and_points_by_hand(self):
        rules = self.rules(table="[answers]\nquestions = 2\n", points="answers = 20")
        (self.handin / "answers.md").write_text("## " + "9" * 5000 + "\n## 1\nThe search takes 96 % of the time.\n\n## 2\nno\n")
        found = self.grade(rules=rules)
        self.assertFalse(found["answers"]["passed"])
        self.assertSaid(found["answers"], "(?m)^Question 2: ")
        self.assertEqual(found["result"]["still_to_give"], 20)
        (self.handin / "answers.md").write_text("\ufeff## 1\nThe search takes 96 % of the time.\n\n## 2 Why?\nBecause it tries all positions.\n")
        self.assertIsNone(self.grade(rules=rules, code=0)["answers"]["passed"])

        def give(points):
            run([COURSE / "c63course", "give", points, *self.results.glob("*.json")])
            result = json.loads(next(self.results.glob("*.json")).read_text())
            return result["points"], result["still_to_give"], result["of"]

        self.assertEqual([give(12), give(99), give(12)], [(72, 0, 80), (80, 0, 80), (72, 0, 80)])
        self.assertIn("72 of 80", next(self.results.glob("*.txt")).read_text())
        # Another run keeps them, unless the answers are others.
        self.assertEqual(self.grade(rules=rules, code=0)["result"]["still_to_give"], 0)
        with open(self.handin / "answers.md", "a") as file:
            file.write("And more.\n")
        self.assertEqual(self.grade(rules=rules, code=0)["result"]["still_to_give"], 20)

    def test_graders_take_turns_at_one_gpu(self):
        lock = self.folder / "gpu"
        words = ["--task", self.measured(), "--rounds", 1, "--seed", SECRET, "--out", self.folder, "--lock", lock, self.command()]
        with open(lock, "a") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            grader = subprocess.Popen(
                [str(word) for word in (COURSE / "c63grade", *words)], text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
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
        self.assertIn(grader.returncode, (0, 3))

    def command(self):
        run(["make", "-s", "c63enc", "OPTIMIZE=-O1", "WARNINGS=-w"], self.handin)
        return f"{self.handin}/c63enc -w {{width}} -h {{height}} -o {{output}} {{input}}"

    def test_a_command_instead_of_a_folder(self):
        found = self.grade(handin=self.command(), code=0)
        self.assertTrue(found["bytes"]["passed"])
        self.assertNotIn("build", found)


class WithoutABox(Graded):
    def test_trust_is_in_the_result(self):
        with mock.patch("c63_course.box.shutil.which", lambda name, which=shutil.which, **more: None if name == "bwrap" else which(name, **more)):
            with self.assertRaises(CourseError) as caught:
                self.grade()
            self.assertEqual(caught.exception.code, 1)
            found = self.grade("--trust", code=0)
        self.assertTrue(found["result"]["trusted"])
        self.assertIn("--trust", found["said"])


class AsAnOrdinaryUser(Graded):
    def test_grades(self):
        self.need(os.geteuid() == 0, "needs root to become another user")
        self.folder.chmod(0o777)
        words = [*ORDINARY_USER, f"PATH={PROGRAMS}:/usr/bin:/bin", "HOME=/"]
        words += ["/usr/bin/python3", "-B", COURSE / "c63grade", "--task", self.rules(), "--no-speed", "--out", self.results]
        words = [str(word) for word in [*words, self.handin]]
        reached = subprocess.run([*words[:7], f"{PROGRAMS}/c63enc", "--version"], cwd="/", stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.need(reached.returncode == 0, "another user cannot reach the programs here")
        graded = subprocess.run(words, cwd="/", text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        self.assertEqual(graded.returncode, 0, graded.stdout)
        self.assertEqual(next(self.results.glob("*.json")).stat().st_mode & 0o777, 0o600)


if __name__ == "__main__":
    main()
