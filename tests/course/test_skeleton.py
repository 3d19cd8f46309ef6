#!/usr/bin/env python3
"""The skeleton writes the course encoder's bytes, decodes as c63dec does, and builds without a warning."""

import os
import pathlib
import random
import shutil
import subprocess
import tempfile

from course_support import PROGRAMS, SHARED, SKELETON, CourseTest, as_one_file, digest, main, run

# Patterns of c63gen, with width, height and number of frames. The golden streams test the skeleton without c63's programs.
VIDEOS = (
    ("noise", 16, 16, 3), ("noise", 48, 32, 3), ("pan", 64, 64, 6), ("zoom", 32, 32, 103), ("natural", 40, 24, 4), ("noise", 20, 6, 5),
    ("checker", 2, 2, 3), ("noise", 4, 1, 2), ("rotate", 16, 18, 3), ("objects", 176, 144, 4), ("stars", 64, 64, 3),
)  # fmt: skip
GOLDEN = ("people_320x192", "static_152x100")
COMPILERS = ["gcc", "clang", *(f"{name}-{n}" for name, most in (("gcc", 17), ("clang", 23)) for n in range(9, most))]
CUDA = "/usr/local/cuda/bin"


class Skeleton(CourseTest):
    @classmethod
    def setUpClass(cls):
        cls.built = pathlib.Path(tempfile.mkdtemp(prefix="c63-skeleton-"))
        cls.addClassCleanup(shutil.rmtree, cls.built, ignore_errors=True)
        shutil.copytree(SKELETON, cls.built, dirs_exist_ok=True)
        said = run(["make", "-s", "-j2", "SIMD=-O3 -march=native"], cls.built)
        assert said == "", said  # no warning of gcc

    def encode(self, video, width, height, *options):
        stream = self.folder / "stream.c63"
        run([self.built / "c63enc", "-w", width, "-h", height, *options, "-o", stream, video])
        return stream

    def decode(self, stream):
        video = self.folder / "decoded.yuv"
        run([self.built / "c63dec", stream, video])
        return video

    def video(self, pattern, width, height, frames):
        self.need_programs("c63gen", "c63enc", "c63dec")
        video = self.folder / "in.yuv"
        run([PROGRAMS / "c63gen", "--quiet", "--pattern", pattern, "-w", width, "-h", height, "-f", frames, video])
        return video

    def expected(self, video, width, height, *options):
        stream, decoded = self.folder / "theirs.c63", self.folder / "theirs.yuv"
        run([PROGRAMS / "c63enc", "--quiet", "--backend", "cpu", "-w", width, "-h", height, *options, video, stream])
        run([PROGRAMS / "c63dec", "--quiet", "--backend", "cpu", stream, decoded])
        return stream.read_bytes(), decoded.read_bytes()

    def check(self, video, width, height, *options):
        stream = self.encode(video, width, height, *options)
        found = stream.read_bytes(), self.decode(stream).read_bytes()
        self.assertEqual(found, self.expected(video, width, height, *options))

    def test_streams_and_pictures_are_those_of_c63(self):
        for pattern, width, height, frames in VIDEOS:
            with self.subTest(pattern=pattern, width=width, height=height):
                self.check(self.video(pattern, width, height, frames), width, height)
        video = self.video("objects", 112, 80, 7)
        for qp in (5, 12, 25):
            self.check(video, 112, 80, "-q", qp, "-f", 5)

    def test_golden_streams(self):
        for name in GOLDEN:
            golden, width, height = SHARED / "golden" / f"{name}.c63", *name.split("_")[1].split("x")
            self.need(golden.is_file(), f"no golden/{name}.c63 in {SHARED} (set C63_SHARED_DATA)")
            lines = (SHARED / "golden" / "manifest.tsv").read_text().splitlines()[1:]
            digests = {line.split("\t")[0]: line.split("\t")[2] for line in lines}
            video = SHARED / "sequences" / f"{name}.yuv"
            self.assertEqual(digest(self.encode(video, width, height)), digests[f"{name}.c63"])
            self.assertEqual(digest(self.decode(golden)), digests[f"{name}.dec.yuv"])

    def test_decodes_what_presets_write(self):
        video, stream = self.video("natural", 176, 144, 12), self.folder / "theirs.c63"
        for preset in ("fast", "good", "best"):
            expected = self.expected(video, 176, 144, "--preset", preset)[1]
            self.assertEqual(self.decode(stream).read_bytes(), expected, preset)

    def test_pipes(self):
        video = self.video("pan", 32, 32, 5)
        expected = self.encode(video, 32, 32).read_bytes()
        words = [self.built / "c63enc", "-w", "32", "-h", "32", "-o", "-", "-"]
        ended = subprocess.run(words, input=video.read_bytes(), stdout=subprocess.PIPE, check=True)
        self.assertEqual(ended.stdout, expected)

    def test_stages_are_told(self):
        video = self.video("pan", 64, 64, 3)
        said = run([self.built / "c63enc", "-w", 64, "-h", 64, "-t", "-o", self.folder / "out", video])
        for stage in ("read", "search", "predict", "transform", "reconstruct", "codes", "write", "all"):
            self.assertRegex(said, rf"(?m)^{stage} +[0-9.]+ +[0-9.]+ +[0-9.]+%")

    def test_wrong_use_is_refused(self):
        video = self.folder / "in.yuv"
        video.write_bytes(b"short")
        for words, code in (
            (["-w", "3", "-h", "3", "-o", "x", video], 2),
            (["-w", "16", "-h", "16", video], 2),
            (["-w", "16", "-h", "16", "-q", "26", "-o", "x", video], 2),
            (["-w", "16", "-h", "16", "-o", "x", video], 4),
            (["-w", "16", "-h", "16", "-o", "x", "absent"], 4),
            (["-w", "16", "-h", "16", "-o", "absent/x", video], 6),
        ):
            ended = subprocess.run([self.built / "c63enc", *words], cwd=self.folder, stderr=subprocess.PIPE)
            self.assertEqual((ended.returncode, ended.stderr == b""), (code, False), words)

    def test_damaged_streams_are_refused_without_a_fault(self):
        checked = self.folder / "checked"
        shutil.copytree(SKELETON, checked)
        as_one_file(checked)
        run(["make", "-s", "c63dec", "OPTIMIZE=-O1 -fsanitize=address,undefined -fno-sanitize-recover"], checked)
        video = self.video("pan", 32, 32, 3)
        whole = self.encode(video, 32, 32).read_bytes()
        chance = random.Random(63)
        refused = 0
        for i in range(60):
            damaged = bytearray(whole)
            if i % 2:
                del damaged[chance.randrange(len(damaged)) :]
            else:
                for _ in range(1 + i // 10):
                    damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
            file = self.folder / "damaged.c63"
            file.write_bytes(damaged)
            words = [checked / "c63dec", file, "/dev/null"]
            ended = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertIn(ended.returncode, (0, 4), f"{i}: {ended.stderr}")
            self.assertNotRegex(ended.stderr, "Sanitizer|runtime error")
            refused += ended.returncode == 4
        self.assertGreater(refused, 20)

    def build_without_warning(self, name, *words):
        folder = self.folder / name
        shutil.copytree(SKELETON, folder)
        as_one_file(folder)
        environment = dict(os.environ, PATH=f"{os.environ['PATH']}:{CUDA}")
        output = run(["make", "-s", "-j2", *words], folder, env=environment)
        self.assertEqual(output, "", name)
        video = self.video("natural", 64, 64, 3)
        run([folder / "c63enc", "-w", 64, "-h", 64, "-o", self.folder / "out.c63", video])
        self.assertEqual((self.folder / "out.c63").read_bytes(), self.expected(video, 64, 64)[0], name)

    def test_builds_without_a_warning_by_gcc_and_clang(self):
        built, real = [], {pathlib.Path(shutil.which("gcc")).resolve()}  # setUpClass builds with gcc
        for compiler in COMPILERS:
            path = shutil.which(compiler)
            if path is None or pathlib.Path(path).resolve() in real:
                continue
            real.add(pathlib.Path(path).resolve())
            self.build_without_warning(compiler, f"CC={compiler}")
            built.append(compiler + " " + run([compiler, "-dumpfullversion" if "gcc" in compiler else "-dumpversion"]).strip())
        print("built by:", ", ".join(built))

    def test_builds_without_a_warning_by_nvcc(self):
        self.need(shutil.which("nvcc", path=f"{os.environ['PATH']}:{CUDA}"), "no nvcc here")
        self.build_without_warning("nvcc", "cuda")

    def test_gprof_names_the_search(self):
        self.need(shutil.which("gprof"), "no gprof here")
        folder = self.folder / "profiled"
        shutil.copytree(SKELETON, folder)
        shutil.copy(self.video("natural", 176, 144, 4), folder)
        said = run(["make", "-s", "gprof", "VIDEO=in.yuv", "WIDTH=176", "HEIGHT=144"], folder)
        self.assertRegex(said, r"sad_8x8")


if __name__ == "__main__":
    main()
