#!/usr/bin/env python3
"""The skeleton writes the course encoder's bytes, decodes as c63dec does, and builds without a warning."""

import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

from course_support import (
    PROGRAMS,
    SHARED,
    SKELETON,
    TWO_FILES,
    CourseTest,
    as_two_files,
    digest,
    main,
    run,
    video_a,
    video_b,
    video_d,
)

# Each row: generator, width, height, number of frames, MD5 of the stream, MD5 of the decoded video.
VECTORS = [
    (video_a, 16, 16, 3, "b9dde34e2b7bcfe235d1c258c9d79246", "996d65294437f2e683eb1d918551cf0e"),
    (video_a, 48, 32, 3, "acf4e349d30796da90ba76f55d36fc7c", "57b0ca31754d20b0a86a22471f3f19ea"),
    (video_b, 64, 64, 6, "2a04e47273177ca65447b89a2f5b1ae3", "38eac626a485530f90c20426acffc410"),
    (video_b, 32, 32, 103, "5124609d12fc3a11d6366b14f581dcef", "26943ee4c60bd9bd41600e6313ec10a5"),
    (video_b, 40, 24, 4, "73b4e4f0d2f6de50f1e58703784007e7", "f69b71f1030007c011e51a2257c0236d"),
    (video_a, 20, 6, 5, "8a7bba43d4fca8e1c6bbb5d486a2bf82", "f1ccc6570a0d0e8c99cd7a02af7557ed"),
    (video_b, 2, 2, 3, "64961bcb8de4817d720aeffab84edf20", "078a7d6959653b74a2b831d13c11d5e8"),
    (video_a, 4, 1, 2, "eebc392f4feadcbeb4a76b1a3194673d", "6c7aac054324e30d056c3de04948e892"),
    (video_b, 16, 18, 3, "0fdbe7e48d1a56ffec3762247b961ea5", "111152bb26044f1b8b34d69fd29856ec"),
    (video_b, 176, 144, 4, "3f8a2444eec3930e125223b343ebfa2f", "18fd55a312d7865bc4a2c31bfc19117e"),
    (lambda *size: video_d(*size, 17), 64, 64, 3, "201eb33a476da958f1e9bc00f36522fb", "a99262493240e9b3d4dac8607425c19b"),
    (lambda *size: video_d(*size, 12), 64, 64, 3, "bb322017e62320263501868b39e9683c", "db46f087f44ef486bc6071e5d9e78f40"),
    (lambda *size: video_d(*size, 3), 64, 64, 3, "5e6dce8d050026ae2d1735df6aa66408", "e8ffbd527ed89e27127dad273ec5aa3f"),
]
COMPILERS = (
    ["gcc"] + [f"gcc-{version}" for version in range(9, 17)] + ["clang"] + [f"clang-{version}" for version in range(9, 23)]
)
CUDA = "/usr/local/cuda/bin"


class Skeleton(CourseTest):
    @classmethod
    def setUpClass(cls):
        cls.built = pathlib.Path(tempfile.mkdtemp(prefix="c63-skeleton-"))
        cls.addClassCleanup(shutil.rmtree, cls.built, ignore_errors=True)
        shutil.copytree(SKELETON, cls.built, dirs_exist_ok=True)
        said = run(["make", "-s", "-j2", "SIMD=-O3 -march=native"], cls.built)
        assert said == "", said  # no warning

    def encode(self, video, width, height, *options):
        stream = self.folder / "stream.c63"
        run([self.built / "c63enc", "-w", width, "-h", height, *options, "-o", stream, video])
        return stream

    def decode(self, stream):
        video = self.folder / "decoded.yuv"
        run([self.built / "c63dec", stream, video])
        return video

    def test_vectors_of_generators(self):
        for make, width, height, frames, stream_md5, video_md5 in VECTORS:
            with self.subTest(width=width, height=height, frames=frames, stream=stream_md5):
                video = self.folder / "in.yuv"
                video.write_bytes(make(width, height, frames))
                stream = self.encode(video, width, height)
                self.assertEqual(digest(stream, "md5"), stream_md5)
                self.assertEqual(digest(self.decode(stream), "md5"), video_md5)

    def golden(self, name):
        self.need((SHARED / "golden" / f"{name}.c63").is_file(), f"no golden/{name}.c63 in {SHARED} (set C63_SHARED_DATA)")
        lines = (SHARED / "golden" / "manifest.tsv").read_text().splitlines()[1:]
        return {line.split("\t")[0]: line.split("\t")[2] for line in lines}

    def check_golden(self, name, width, height, *options):
        golden = self.golden(name)
        video = SHARED / "sequences" / f"{name}.yuv"
        if not video.is_file():
            self.need(shutil.which("ffmpeg"), "no ffmpeg on the PATH")
            video = self.folder / "in.yuv"
            run(["ffmpeg", "-nostdin", "-v", "error", "-i", SHARED / "sequences" / f"{name}.264", "-pix_fmt", "yuv420p", video])
            self.assertEqual(digest(video), golden[f"{name}.yuv"])
        self.assertEqual(digest(self.encode(video, width, height)), golden[f"{name}.c63"])
        self.check_decoding(name)

    def check_decoding(self, name):
        golden = self.golden(name)
        self.assertEqual(digest(self.decode(SHARED / "golden" / f"{name}.c63")), golden[f"{name}.dec.yuv"])

    def test_golden_people(self):
        self.check_golden("people_320x192", 320, 192)

    def test_golden_static(self):
        self.check_golden("static_152x100", 152, 100)

    def test_golden_mobile(self):
        self.check_golden("mobile_352x288", 352, 288)

    def test_golden_foreman(self):
        self.check_golden("foreman_352x288", 352, 288)

    def test_quality_and_frames_as_c63enc(self):
        self.need_programs("c63gen", "c63enc", "c63dec")
        video, theirs = self.folder / "in.yuv", self.folder / "theirs"
        run([PROGRAMS / "c63gen", "--quiet", "--pattern", "objects", "-w", 112, "-h", 80, "-f", 7, video])
        for qp in (5, 12, 25):
            stream = self.encode(video, 112, 80, "-q", qp, "-f", 5)
            run([PROGRAMS / "c63enc", "--quiet", "--backend", "cpu", "-w", 112, "-h", 80, "-q", qp, "-f", 5, video, theirs])
            self.assertEqual(stream.read_bytes(), theirs.read_bytes())
            run([PROGRAMS / "c63dec", "--quiet", "--backend", "cpu", stream, theirs])
            self.assertEqual(self.decode(stream).read_bytes(), theirs.read_bytes())

    def test_decodes_what_presets_write(self):
        self.need_programs("c63gen", "c63enc", "c63dec")
        video, stream, theirs = self.folder / "in.yuv", self.folder / "preset.c63", self.folder / "theirs.yuv"
        run([PROGRAMS / "c63gen", "--quiet", "--pattern", "natural", "-w", 176, "-h", 144, "-f", 12, video])
        for preset in ("fast", "good", "best"):
            run([PROGRAMS / "c63enc", "--quiet", "--backend", "cpu", "-w", 176, "-h", 144, "--preset", preset, video, stream])
            run([PROGRAMS / "c63dec", "--quiet", "--backend", "cpu", stream, theirs])
            self.assertEqual(self.decode(stream).read_bytes(), theirs.read_bytes(), preset)

    def test_pipes(self):
        video = self.folder / "in.yuv"
        video.write_bytes(video_b(32, 32, 5))
        expected = self.encode(video, 32, 32).read_bytes()
        piped = subprocess.run(
            [self.built / "c63enc", "-w", "32", "-h", "32", "-o", "-", "-"],
            input=video.read_bytes(),
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        self.assertEqual(piped, expected)

    def test_stages_are_told(self):
        video = self.folder / "in.yuv"
        video.write_bytes(video_b(64, 64, 3))
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
            result = subprocess.run(
                [str(word) for word in [self.built / "c63enc", *words]], cwd=self.folder, stderr=subprocess.PIPE, text=True
            )
            self.assertEqual(result.returncode, code, words)
            self.assertNotEqual(result.stderr, "")

    def test_damaged_streams_are_refused_without_a_fault(self):
        checked = self.folder / "checked"
        shutil.copytree(SKELETON, checked)
        as_two_files(checked)
        run(
            [
                "make",
                "-s",
                "c63dec",
                *TWO_FILES,
                "OPTIMIZE=-O1 -fsanitize=address,undefined -fno-sanitize-recover",
                "LDFLAGS=-fsanitize=address,undefined",
            ],
            checked,
        )
        video = self.folder / "in.yuv"
        video.write_bytes(video_b(32, 32, 3))
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
            result = subprocess.run(
                [checked / "c63dec", file, "/dev/null"],
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
                env=dict(os.environ, UBSAN_OPTIONS="halt_on_error=1"),
            )
            self.assertIn(result.returncode, (0, 4), f"{i}: {result.stderr}")
            self.assertNotIn("Sanitizer", result.stderr)
            self.assertNotIn("runtime error", result.stderr)
            refused += result.returncode == 4
        self.assertGreater(refused, 20)

    def build_without_warning(self, name, *words):
        folder = self.folder / name
        shutil.copytree(SKELETON, folder)
        as_two_files(folder)
        environment = dict(os.environ, PATH=f"{os.environ['PATH']}:{CUDA}")
        output = run(["make", "-s", "-j2", *TWO_FILES, *words], folder, env=environment)
        self.assertEqual(output, "", name)
        video = self.folder / "in.yuv"
        video.write_bytes(VECTORS[10][0](64, 64, 3))
        run([folder / "c63enc", "-w", 64, "-h", 64, "-o", self.folder / "out.c63", video])
        self.assertEqual(digest(self.folder / "out.c63", "md5"), VECTORS[10][4], name)

    def test_builds_without_a_warning_by_gcc_and_clang(self):
        built, real = [], set()
        for compiler in COMPILERS:
            path = shutil.which(compiler)
            if path is None or pathlib.Path(path).resolve() in real:
                continue
            real.add(pathlib.Path(path).resolve())
            self.build_without_warning(compiler, f"CC={compiler}")
            built.append(compiler + " " + run([compiler, "-dumpfullversion" if "gcc" in compiler else "-dumpversion"]).strip())
        print("built by:", ", ".join(built))
        self.assertTrue(built)

    def test_builds_without_a_warning_by_nvcc(self):
        self.need(shutil.which("nvcc", path=f"{os.environ['PATH']}:{CUDA}"), "no nvcc here")
        self.build_without_warning("nvcc", "cuda")

    def test_gprof_names_the_search(self):
        self.need(shutil.which("gprof"), "no gprof here")
        folder = self.folder / "profiled"
        shutil.copytree(SKELETON, folder)
        (folder / "in.yuv").write_bytes(video_b(176, 144, 4))
        said = run(["make", "-s", "gprof", "VIDEO=in.yuv", "WIDTH=176", "HEIGHT=144"], folder)
        self.assertRegex(said, r"sad_8x8")


if __name__ == "__main__":
    main()
