#!/usr/bin/env python3
"""Tests c63course, the tasks, the rule files, the solution of the kernel's task, and the help of both programs."""

import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
from unittest import mock

from course_support import PROGRAMS, SKELETON, SOURCE, CourseTest, load, main, no_box, run

from c63_course import explain, handout, programs, rules
from c63_course.programs import CourseError

HERE = pathlib.Path(__file__).parent
MODULES = {program: load(program) for program in ("c63course", "c63grade")}
CUDA_PATH = f"{os.environ['PATH']}:/usr/local/cuda/bin"
# Searches with the skeleton's functions, a thread for each block.
KERNEL = """
__global__ void search_kernel(const uint8_t *source, const uint8_t *reference, struct plane_size size, int range,
                              struct block_motion *motion) {
  const int x = threadIdx.x, y = blockIdx.x;
  search_block(source, reference, &size, range, x, y, &motion[y * size.blocks_x + x]);
}
void search_plane(const uint8_t *source, const uint8_t *reference, const struct plane_size *size, int range,
                  struct block_motion *motion) {
  const size_t samples = (size_t)size->width * size->height, bytes = block_count(size) * sizeof *motion;
  uint8_t *memory = NULL;
  cudaMalloc(&memory, 2 * samples + bytes);
  cudaMemcpy(memory, source, samples, cudaMemcpyDefault);
  cudaMemcpy(memory + samples, reference, samples, cudaMemcpyDefault);
  struct block_motion *found = (struct block_motion *)(memory + 2 * samples);
  search_kernel<<<size->blocks_y, size->blocks_x>>>(memory, memory + samples, *size, range, found);
  cudaMemcpy(motion, found, bytes, cudaMemcpyDefault);
  cudaFree(memory);
}
"""


class Course(CourseTest):
    def setUp(self):
        super().setUp()
        self.enterContext(mock.patch.dict(os.environ, PATH=f"{PROGRAMS}:{os.environ['PATH']}"))
        self.enterContext(contextlib.chdir(self.folder))

    def course(self, *words, code=0, program="c63course"):
        """Runs a program in this process. Returns what it prints."""
        said = io.StringIO()
        arguments = mock.patch("sys.argv", [program, *map(str, words)])
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), arguments:
            try:
                ended = programs.main_of(MODULES[program].make(), MODULES[program].act)
            except SystemExit as end:
                ended = end.code
        self.assertEqual(ended, code, said.getvalue())
        return said.getvalue()

    def need_all(self):
        self.need_programs("c63gen", "c63enc", "c63dec", "c63cmp", "c63mv")

    # ---- from nothing to the first result ----

    def test_two_commands_to_the_first_result(self):
        self.need_all()
        began = time.monotonic()
        self.course("new", "mine")
        self.course("--task", "profile", "mine", program="c63grade", code=3)  # no answers yet
        seconds = time.monotonic() - began
        print(f"from c63course new to the first result: {seconds:.1f} s")
        self.assertLess(seconds, 120)
        result = json.loads((self.folder / "mine.profile.json").read_text())
        self.assertEqual((result["points"], result["of"], result["still_to_give"]), (40, 100, 60))
        ids = [check["id"] for check in result["checks"]]
        self.assertEqual(ids, ["build", "optimized", "own", "decodable", "bytes", "answers"])

    def test_what_is_handed_out(self):
        self.need_programs("c63gen")
        self.course("new", "mine")
        for name in ("Makefile", "search.c", "tasks/01-profile.md", "tasks/01-profile.toml", "notebooks"):
            self.assertTrue((self.folder / "mine" / name).exists(), name)
        for page in [*self.folder.glob("mine/tasks/*.md"), *self.folder.glob("mine/notebooks/*.ipynb")]:
            for named in re.findall(r"guides/[\w.-]+", page.read_text()):
                self.assertTrue((self.folder / "mine" / named).is_file(), named)
            self.assertNotIn("docs/", page.read_text())
        self.assertEqual((self.folder / "mine/videos/sample_352x288.yuv").stat().st_size, 30 * 352 * 288 * 3 // 2)
        self.course("new", "mine", code=6)
        for name in ("mine.tar.gz", "mine.zip"):
            shutil.rmtree(self.folder / "mine")
            unpack = self.course("new", name).split("Next: ")[1].split(" && ")[0]
            self.need(shutil.which(unpack.split()[0]), f"no {unpack.split()[0]} here")
            run(["sh", "-c", unpack], self.folder)
            self.assertTrue((self.folder / "mine" / "search.c").is_file())
            self.course("new", name, code=6)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".c63course")], [])

    # ---- tasks ----

    def test_every_task_is_whole(self):
        guide = (SOURCE / "docs" / "course.md").read_text().lower()
        self.assertGreaterEqual(len(rules.tasks()), 10)
        self.assertEqual([line.split()[0] for line in self.course("tasks").splitlines()], list(rules.tasks()))
        for name, file in rules.tasks().items():
            with self.subTest(task=name):
                task, page = rules.load(file), handout.task_page(file)
                self.assertTrue(page.startswith(f"# {task['task']['title']}\n"))
                for part in ("What to do", "What to read", "What to measure", "Questions", "Hints", "How it is graded"):
                    self.assertEqual(page.count(f"\n## {part}\n"), 1)
                self.assertTrue((SKELETON / task["task"]["start"].replace(".cu", ".c")).is_file())
                self.assertEqual(page.count("<details>"), page.count("</details>"))
                self.assertEqual(page.count("<details>"), file.with_suffix(".md").read_text().count("\n### "))
                questions = re.findall(r"(?m)^\d+\. ", page.split("## Questions")[1].split("## Hints")[0])
                self.assertEqual(len(questions), task["answers"]["questions"])
                self.assertEqual(sum(task["points"].values()), 100)
                self.assertEqual(sum(map(int, re.findall(r"(?m)^\| .* \| (\d+) \|$", page))), 100)
                self.assertIn(task["task"]["step"].lower(), guide)
                self.assertTrue(any(sequence["hidden"] for sequence in task["sequence"]))

    # ---- rule files ----

    def test_wrong_rule_files_are_refused(self):
        good = (HERE / "rules.toml").read_text()
        for old, new, why in (
            ("equal = true", "equl = true", "there is no key 'equl'"),
            ("[bytes]\n", "[byte]\n", "there is no table [byte]"),
            ("seconds = 30", 'seconds = "30"', "'seconds' must be int"),
            ('"16 MiB"', '"16 MB"', "is not a size"),
            ('sequence = "large"', 'sequence = "huge"', "names no sequence"),
            ("decodable = 10", "search = 10", "no table [search]"),
            ("[[1.1, 0], [1.3, 20]", "[[1.3, 0], [1.1, 20]", "rising"),
            ("[bytes]\nequal = true\n", "", "either [bytes] or [quality]"),
            ("width = 64", "width = 0", "no size that can be encoded"),
            ('name = "hidden"', 'name = "public"', "a different name"),
            ("[build]", "[build", "line"),
            ("frames = 5\n", "", "'frames' is missing"),
        ):
            with self.subTest(why=why):
                file = self.folder / "rules.toml"
                self.assertIn(old, good)
                file.write_text(good.replace(old, new, 1))
                with self.assertRaisesRegex(CourseError, re.escape(why)):
                    rules.load(file)
        self.course("--task", "nothing", "x", program="c63grade", code=4)

    def test_points_lie_on_a_line_between_pairs(self):
        curve = [[1, 0], [2, 10], [4, 20]]
        self.assertEqual([rules.points_for(x, curve) for x in (0.5, 1, 1.5, 2, 3, 4, 9)], [0, 0, 5, 10, 15, 20, 20])
        self.assertEqual(rules.points_for(3, []), 0)

    # ---- tables ----

    def result(self, student, task, points, date="2026-01-01T00:00:00Z", of=100):
        file = self.folder / "results" / f"{len(list(self.folder.glob('results/*')))}.json"
        file.parent.mkdir(exist_ok=True)
        result = {"student": student, "task": task, "points": points, "of": of, "date": date, "still_to_give": 5}
        file.write_text(json.dumps(result | {"program": "c63grade"}))

    def test_table_of_a_class(self):
        self.result("Ada, Countess", "simd", 80)
        self.result("Ada, Countess", "simd", 90, "2026-02-01T00:00:00Z")
        self.result("Ada, Countess", "kernel", 60.5)
        self.result("=HYPERLINK()", "simd", 10)
        self.result("\x1b[31mred", "kernel", 1)
        (self.folder / "results" / "other.json").write_text('{"program": "c63cmp"}')
        self.assertEqual(
            self.course("table", "results"),
            "student,kernel,simd,sum,of,still to give\n\\x1b[31mred,1,,1,100,5\n'=HYPERLINK(),,10,10,100,5\n\"Ada, Countess\",60.5,90,150.5,200,10\n",
        )
        self.course("table", "results", "--format", "moodle", "-o", "class.csv")
        self.assertEqual(
            (self.folder / "class.csv").read_text(), "ID number,kernel,simd\n\\x1b[31mred,1,\n'=HYPERLINK(),,10\n\"Ada, Countess\",60.5,90\n"
        )
        canvas = self.course("table", "results", "--format", "canvas").splitlines()
        self.assertEqual(canvas[1], "Points Possible,,,,,100,100")
        self.assertEqual(canvas[4], '"Ada, Countess","Ada, Countess",,"Ada, Countess",,60.5,90')
        good = {"program": "c63grade", "student": "a", "task": "t", "date": "d", "points": 1, "of": 2, "still_to_give": 0}
        broken = [json.dumps(good | more) for more in ({"points": "x"}, {"student": ["a"]}, {"date": 3}, {"of": None})]
        for text in ("{", "[]", '"x"', '{"program": "c63grade"}', "[" * 100000, *broken):
            (self.folder / "results" / "broken.json").write_text(text)
            self.course("table", "results", code=4)
        for more in ({}, {"checks": 3}, {"checks": [{"id": "answers"}]}):
            (self.folder / "broken.json").write_text(json.dumps(good | more))
            self.course("give", "3", "broken.json", code=4)
        (self.folder / "empty").mkdir()
        self.course("table", "empty", code=4)

    # ---- usage ----

    def test_wrong_usage(self):
        task = ["--task", "profile"]
        for words in ([], task, [*task, "--rounds", "0", "x"], ["--nonsense"], [*task, "x", "x"]):
            said = self.course(*words, program="c63grade", code=2)
            self.assertEqual(len(said.strip().splitlines()), 1, said)
        self.course(code=2)
        for program in ("c63course", "c63grade"):
            self.assertIn("Exit codes: 0 done", self.course("--help-all", program=program))
            self.assertTrue(self.course("--version", program=program).startswith(program))
        self.need_all()
        self.course("--task", "profile", "absent", program="c63grade", code=4)

    # ---- a search on a GPU ----

    def search_on_gpu(self):
        """Makes a hand-in with KERNEL, and a task for it. Returns both."""
        folder, task = self.folder / "kernel", self.folder / "rules.toml"
        shutil.copytree(SKELETON, folder)
        search = (folder / "search.c").read_text().replace("static ", "__device__ static ")
        (folder / "search.c").unlink()
        (folder / "search.cu").write_text(search[: search.index("void search_plane")] + KERNEL)
        text = (HERE / "rules.toml").read_text().replace("width = 176\nheight = 144\nframes = 6", "width = 112\nheight = 32\nframes = 3")
        task.write_text(text.replace('"256 MiB"', '"8 GiB"').replace("processes = 24", "processes = 256"))
        return folder, task

    def test_a_search_on_an_emulated_gpu(self):
        self.need_all()
        self.need_programs("c63bench")
        self.need(no_box() is None, no_box())
        folder, task = self.search_on_gpu()
        self.course("--task", task, "--emulate", folder, program="c63grade", code=0)
        result = json.loads((self.folder / "kernel.rules.json").read_text())
        self.assertEqual(result["of"], 60)  # without speed
        kernel = (folder / "search.cu").read_text()
        for before, after, fault in (
            ("2 * samples + bytes)", "2 * samples + bytes - 8)", r"search.cu:29: .*\[writes-outside\]"),
            ("cudaMemcpy(motion,", "(void)cudaMemcpyDefault, memmove(motion,", r"search.cu:59: .*\[host-access\]"),
            ("+ samples, reference, samples,", "+ samples, reference, samples / 2,", r"search.cu:11: .*\[reads-unwritten\]"),
        ):
            text = kernel.replace(before, after).replace("memmove(motion, found, bytes, cudaMemcpyDefault)", "memmove(motion, found, bytes)")
            (folder / "search.cu").write_text(text)
            self.course("--task", task, "--emulate", folder, program="c63grade", code=3)
            checks = {check["id"]: check for check in json.loads((self.folder / "kernel.rules.json").read_text())["checks"]}
            self.assertFalse(checks["memory"]["passed"])
            self.assertRegex("\n".join(checks["memory"]["lines"]), fault)
        self.course("--task", task, "--emulate", "--sanitize", folder, program="c63grade", code=2)

    def test_a_search_on_a_gpu(self):
        self.need(shutil.which("nvcc", path=CUDA_PATH), "no nvcc here")
        folder, task = self.search_on_gpu()
        self.assertEqual(run(["make", "-s", "c63enc"], folder, env=dict(os.environ, PATH=CUDA_PATH)), "")
        gpu = shutil.which("nvidia-smi") and subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0
        self.need(gpu, "compiled, but not run: no GPU here")
        self.need_all()
        self.course("--task", task, "--no-speed", folder, program="c63grade", code=0)

    # ---- explanations ----

    def test_faults_that_a_person_would_see(self):
        width, height = 48, 32
        luma = bytes((5 * x + 3 * y + x * y // 7) & 255 for y in range(height) for x in range(width))
        chroma = bytes(range(192)) * 2, bytes(reversed(range(192))) * 2
        right = luma + chroma[0] + chroma[1]
        down = luma[:width] + luma[:-width]
        for picture, pattern in (
            (right, "None"),
            (luma + chroma[1] + chroma[0], "U and V are swapped"),
            (luma + bytes(768), "pink or green"),
            (down + chroma[0] + chroma[1], "moved: 1 row down."),
            (luma[2:] + luma[:2] + chroma[0] + chroma[1], "moved: 2 columns left."),
            (bytes(len(right)), "is wrong"),
        ):
            self.assertIn(pattern, str(explain.look_of(picture, right, width, height)))


if __name__ == "__main__":
    main()
