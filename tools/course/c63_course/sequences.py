"""The videos that hand-ins encode, and what the course encoder makes of them."""

import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import tempfile

from .programs import CourseError, call


class Sequence:
    """A video to encode, and per quantizer the course encoder's stream and its decoded pictures."""

    def __init__(self, entry, folder, seed):
        self.name, self.hidden = entry["name"], entry["hidden"]
        self.width, self.height, self.frames = entry["width"], entry["height"], entry["frames"]
        self.frame_bytes = self.width * self.height * 3 // 2
        self.size = ("-w", self.width, "-h", self.height)
        self.folder = folder
        self.expected = {}  # by quantizer: the stream, and its decoded pictures
        if "file" in entry:
            self.source = pathlib.Path(entry["file"])
            return
        self.source = folder / f"{self.name}_{self.width}x{self.height}.yuv"
        motion = ["--mv", entry["mv"]] if entry["mv"] else []
        kind = ["--pattern", entry["pattern"], "--seed", seed, *motion]
        call("c63gen", "--quiet", *kind, *self.size, "-f", self.frames, self.source)

    def expect(self, quantizer=25):
        if quantizer not in self.expected:
            stream = self.folder / f"{self.name}.{quantizer}.c63"
            call("c63enc", "--quiet", "--backend", "cpu", *self.size, "-q", quantizer, self.source, stream)
            self.expected[quantizer] = (stream, self.decode(stream))
        return self.expected[quantizer]

    def decode(self, stream):
        """Returns the decoded video. Raises CourseError with c63dec's error line. Limits the output to the size of the
        sequence."""
        video = stream.with_suffix(".yuv")
        limits = ["--max-pixels", (self.width + 15) * (self.height + 15), "-f", self.frames + 1]
        call("c63dec", "--quiet", "--backend", "cpu", *limits, stream, video)
        return video.read_bytes()

    def psnr(self, stream):
        """Returns the PSNR of all planes together, in dB."""
        said = call("c63cmp", "--quiet", "--no-ssim", "--json", "-", *self.size, self.source, stream)
        return json.loads(said)["videos"][0]["psnr_all_db"] or math.inf


class Sequences:
    """The videos of a run: each is made once, for all hand-ins. Use as a context."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="c63videos-"))  # the grader's alone: 0700
        self.made = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def get(self, entry, task, secret):
        """Returns the sequence of an entry in a rule file. A hidden one cannot be guessed without the secret."""
        seed = entry.get("seed")
        if entry["hidden"]:
            seed = int.from_bytes(hashlib.sha256(f"{secret}:{task}:{entry['name']}".encode()).digest()[:4], "big")
        key = json.dumps([entry, seed], sort_keys=True)
        if key not in self.made:
            folder = self.folder / str(len(self.made))
            folder.mkdir()
            self.made[key] = Sequence(entry, folder, seed)
        return self.made[key]


def entry_of(file):
    """Returns the entry of a raw video whose name has its size."""
    match = re.search(r"(\d+)x(\d+)", pathlib.Path(file).name)
    if match is None or not pathlib.Path(file).is_file():
        raise CourseError(f"{file} is not a file with a size in its name, such as FOREMAN_352x288.yuv", 4)
    width, height = int(match[1]), int(match[2])
    frames = os.path.getsize(file) // max(1, width * height * 3 // 2)
    if frames == 0:
        raise CourseError(f"{file} has no whole frame of {width}x{height}", 4)
    name = pathlib.Path(file).name  # unlike the names in rule files, it has an ending
    return {"name": name, "hidden": False, "width": width, "height": height, "frames": frames, "file": file}
