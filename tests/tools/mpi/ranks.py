#!/usr/bin/env python3
"""Checks c63mpi on this machine: any number of ranks gives the bytes of one process, also with a target; after an error or a
killed rank the next run codes only what is missing.

Usage: ranks.py [--build DIR] [--all] [--kills N] [--seed N]
  --all      every preset and kind of target, and 1 to 16 ranks; otherwise a sample, for CTest
  --kills N  how many times a rank is killed (2)

Exit status: 0 nothing found, 1 findings, 77 no c63mpi or no mpirun here.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

INTERVAL = 5  # frames of a GOP


class Check:
    def __init__(self, options, folder):
        self.programs, self.all, self.kills = pathlib.Path(options.build).resolve() / "bin", options.all, options.kills
        self.random, self.folder, self.findings = random.Random(options.seed), folder, []
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                OMPI_MCA_btl_base_warn_component_unused="0", TMPDIR=str(folder))

    def expect(self, holds, what):
        if not holds:
            self.findings.append(what)
            print("FINDING: " + what, flush=True)

    def mpirun(self, ranks, *options):
        return list(map(str, ["mpirun", "--quiet", "--oversubscribe", "--bind-to", "none", "-n", ranks, self.programs / "c63mpi", "--threads", 1, *options]))

    def run(self, ranks, *options):
        return subprocess.run(self.mpirun(ranks, *options), env=self.environment, capture_output=True, text=True, timeout=300, check=False)

    def one_process(self, *options):
        command = [self.programs / "c63enc", "--quiet", "--threads", 1, *options, "-o", "-", "--json", self.folder / "one.json"]
        return subprocess.run(list(map(str, command)), capture_output=True, timeout=300, check=True).stdout

    def video(self, name, size, patterns):
        """Makes a Y4M file of several patterns one after another, so that it has scene cuts."""
        data = b""
        for pattern, frames in patterns:
            part = self.folder / f"{pattern}.y4m"
            width, height = size.split("x")
            subprocess.run([self.programs / "c63gen", "--quiet", "--pattern", pattern, "-w", width, "-h", height, "-f", str(frames), "-o", part], check=True)
            data += part.read_bytes() if not data else part.read_bytes().split(b"\n", 1)[1]
        (self.folder / name).write_bytes(data)
        return self.folder / name

    def compare(self, ranks, options, expected):
        output, report = self.folder / "out.c63", self.folder / "out.json"
        output.unlink(missing_ok=True)
        what = f"{ranks} ranks, {' '.join(map(str, options))}"
        result = self.run(ranks, *options, "-o", output, "--json", report)
        if result.returncode != 0:
            return self.expect(False, f"{what}: exit status {result.returncode}: {result.stderr}")
        told = json.loads(report.read_text())
        self.expect(output.read_bytes() == expected, f"{what}: other bytes than one process")
        one = json.loads((self.folder / "one.json").read_text())
        self.expect(told["quality"] == one["quality"], f"{what}: another PSNR than one process")
        self.expect(told["settings"]["qp"] == one["settings"]["qp"], f"{what}: the report has another qp than one process")
        self.expect(not pathlib.Path(f"{output}.segments").exists(), f"{what}: segments are left over")
        self.expect(len(told["ranks"]) == ranks and told["result"]["bytes"] == len(expected), f"{what}: the JSON differs")

    def check_bytes(self, source):
        runs = [((1, 5), []), ((3,), ["--preset", "good", "--size", 30000]), ((2,), ["--scenecut", "--seek", 3, "-f", 31])]
        if self.all:
            runs = [(range(1, 17), []), ((1, 2, 5, 16), ["--scenecut"]), ((1, 3, 7), ["--seek", 3, "-f", 31])]
            for preset in ("reference", "fast", "good", "best"):
                runs += [((1, 2, 3, 4), ["--preset", preset, *target]) for target in ([], ["--size", 30000], ["--bitrate", "120k"], ["--target-psnr", 38])]
        odd = self.folder / "odd.y4m"
        odd.write_bytes(b"YUV4MPEG2 W31 H17 F25:1 C420jpeg\n" + 12 * (b"FRAME\n" + self.random.randbytes(31 * 17 + 2 * 16 * 9)))
        for numbers, options in [*runs, ((3,), [odd])]:
            options = [*([] if odd in options else [source]), "--keyint", INTERVAL, *options]
            expected = self.one_process(*options)
            for ranks in numbers:
                self.compare(ranks, options, expected)

    def check_errors(self, source):
        """An error is reported once, by its id. Segments before it are kept."""
        output, damaged = self.folder / "refused.c63", self.folder / "damaged.y4m"
        damaged.write_bytes(source.read_bytes()[:-1000])
        for options, status, identifier in (([source, "--no-such"], 2, "C63-USAGE"), ([self.folder / "none_64x48.yuv"], 4, "C63-INPUT-OPEN"),
                                            ([source, "--target-ssim", "0.9"], 2, "C63-MPI-TARGET"), ([source, "--size", 1], 5, "C63-TARGET-LIMIT"),
                                            ([damaged], 4, "C63-Y4M-TRUNCATED")):
            result = self.run(3, "--log-level", "error", "--keyint", INTERVAL, *options, "-o", output)
            lines = [line for line in result.stderr.splitlines() if line.startswith("c63mpi: ")]
            self.expect(result.returncode == status and len(lines) == 1 and f"[{identifier}]" in lines[0],
                        f"{identifier}: exit status {result.returncode}: {result.stderr}")
            self.expect(not output.exists(), f"{identifier}: there is an output")
        self.expect(any(pathlib.Path(f"{output}.segments").glob("*.json")), "damaged input: no finished segment stays")

    def check_full_disk(self, source):
        """Puts segments, output or both on a file system that is too small. With more room, the next run continues."""
        small, large = self.folder / "small", self.folder / "large"
        small.mkdir(), large.mkdir()
        expected = self.one_process(source, "--keyint", INTERVAL)
        size = len(expected) * 2 // 3
        if not self.all or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", small], capture_output=True, check=False).returncode:
            return  # only root may mount a file system
        try:
            for output, segments in ((small, small), (small, large), (large, small)):
                options = [source, "--keyint", INTERVAL, "-o", output / "out.c63", "--segment-dir", segments]
                result = self.run(3, "--log-level", "error", *options)
                self.expect(result.returncode == 6 and result.stderr.count("[C63-WRITE-FAILED]") == 1 and not (output / "out.c63").exists(),
                            f"full disk: exit status {result.returncode}: {result.stderr}")
                subprocess.run(["mount", "-o", f"remount,size={size * 10}", small], check=True)
                self.expect(self.run(3, *options).returncode == 0 and (output / "out.c63").read_bytes() == expected, "full disk: with room, no right output")
                (output / "out.c63").unlink()
                subprocess.run(["mount", "-o", f"remount,size={size}", small], check=True)
        finally:
            subprocess.run(["umount", small], check=False)

    def ranks_of(self, mpirun):
        """Returns the process ids of the running ranks."""
        listed = subprocess.run(["ps", "--no-headers", "-o", "pid,stat,comm", "--ppid", str(mpirun)], capture_output=True, text=True, check=False).stdout
        return sorted(int(pid) for pid, stat, name in map(str.split, listed.splitlines()) if name == "c63mpi" and not stat.startswith("Z"))

    def check_kills(self, _):
        ranks, segments, in_time = 4, 9, 0
        # The video is so large that encoding it takes longer than starting the ranks.
        source = self.video("killed.y4m", "352x288", [("objects", segments * INTERVAL)])
        output, report = self.folder / "killed.c63", self.folder / "killed.json"
        folder = pathlib.Path(f"{output}.segments")
        options = [source, "--preset", "good", "--keyint", INTERVAL]
        expected = self.one_process(*options)
        options += ["--segments", segments, "-o", output, "--json", report]
        self.expect(self.run(ranks, *options).returncode == 0, "the run that is to be killed fails by itself")
        coding = json.loads(report.read_text())["result"]["elapsed_s"]
        for number in range(self.kills):
            output.unlink(missing_ok=True)
            started = subprocess.Popen(self.mpirun(ranks, *options), env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not folder.exists() and started.poll() is None:
                time.sleep(0.002)
            time.sleep(self.random.uniform(0, coding))
            alive = self.ranks_of(started.pid)
            if len(alive) == ranks:
                os.kill(alive[number % ranks], signal.SIGKILL)
            try:
                status = started.wait(timeout=60)
            except subprocess.TimeoutExpired:  # Debian's Open MPI 4.1.4 may hang after all ranks are dead (PMIx_server_finalize)
                self.expect(not self.ranks_of(started.pid), f"kill {number}: ranks are alive after a minute")
                started.kill()
                status = started.wait()
            in_time += len(alive) == ranks and status != 0
            done = output.exists()
            self.expect(not done or output.read_bytes() == expected, f"kill {number}: a wrong file under the output's name")
            # A segment that got its final name before its record did is coded again.
            whole = len(list(folder.glob("segment-*.c63.json")))
            self.expect(self.run(ranks, *options).returncode == 0 and output.read_bytes() == expected, f"kill {number}: the next run gives other bytes")
            told = json.loads(report.read_text())
            coded = sum(rank["segments"] for rank in told["ranks"])
            self.expect(done or (told["segments_found"] == whole and coded == segments - whole),
                        f"kill {number}: {whole} segments were there, {told['segments_found']} were found, {coded} coded")
            shutil.rmtree(folder, ignore_errors=True)
        # The ranks are found as children of mpirun. If none was found, nothing was tested.
        self.expect(in_time > 0, "no rank was killed before the job's end")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=pathlib.Path(__file__).resolve().parents[3] / "build/ci")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not (pathlib.Path(options.build) / "bin/c63mpi").exists() or not shutil.which("mpirun"):
        print("skipped: mpi/ranks: no c63mpi in the build, or no mpirun here")
        return 77
    with tempfile.TemporaryDirectory(prefix="c63-mpi-") as folder:
        check = Check(options, pathlib.Path(folder))
        source = check.video("in.y4m", "64x48", [("natural", 17), ("noise", 6), ("stars", 21)])
        for part in (check.check_bytes, check.check_errors, check.check_full_disk, check.check_kills):
            part(source)
            print(f"{part.__name__}: {len(check.findings)} findings", flush=True)
    return 1 if check.findings else 0


sys.exit(main())
