"""A box in which a hand-in is built and run.

It protects the grader by these means, the strongest first: kernel namespaces (no network, no other processes, a
read-only file system except for a limited amount of memory, the grader's folders covered); a user without rights;
kernel limits for each process; and a check of memory and disk 20 times a second. `missing` says in words what this
machine cannot provide.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from .programs import CourseError

SERVER = pathlib.Path(__file__).with_name("box_server.py")
NAMESPACES = ["--net", "--pid", "--mount", "--ipc", "--uts", "--fork", "--kill-child", "--mount-proc"]
# The environment variables of a hand-in. It gets none of the grader's own, except those in PASSED_ON.
FOLDERS = list(
    dict.fromkeys(
        [
            os.path.dirname(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"),
            "/usr/local/cuda/bin",
            "/usr/local/bin",
            "/usr/bin",
            "/bin",
        ]
    )
)
ENVIRONMENT = {
    "PATH": ":".join(["{box}/tools", *FOLDERS]),
    "HOME": "{box}/run",
    "TMPDIR": "{box}/run/tmp",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
}
PASSED_ON = ("CUDA_VISIBLE_DEVICES", "CUDA_HOME", "LD_LIBRARY_PATH")


def namespace_command():
    """Returns the command that starts a process in new namespaces, and None; or None and the reason why it cannot."""
    if not shutil.which("unshare"):
        return None, "there is no unshare (util-linux)"
    command = ["unshare"] + ([] if os.geteuid() == 0 else ["--user", "--map-root-user"]) + NAMESPACES
    tried = subprocess.run(command + ["true"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return (command, None) if tried.returncode == 0 else (None, tried.stderr.strip() or "the kernel refuses")


class Box:
    """A box, to be used in a with block. `isolation` is auto, full (an error if namespaces are missing) or none."""

    def __init__(self, isolation="auto", disk=256 << 20, hide=(), hide_files=()):
        self.missing = []
        command, reason = (None, "switched off") if isolation == "none" else namespace_command()
        if command is None:
            if isolation == "full":
                raise CourseError(f"this system allows no namespaces, which --isolation full needs: {reason}", 1)
            self.missing = [
                f"no namespaces ({reason}): the network is open, other files can be read, and disk and memory are checked "
                "only 20 times a second"
            ]
        self.uid = random.SystemRandom().randrange(1 << 28, 1 << 29) if os.geteuid() == 0 else None
        self.folder = tempfile.mkdtemp(prefix="c63box-")
        os.chmod(self.folder, 0o755)
        self.root = self.folder if command is None else "/tmp"  # path of the folder as the hand-in sees it
        spec = {
            "namespaces": command is not None,
            "uid": self.uid,
            "disk": disk,
            "root": self.folder,
            "hide": [str(path) for path in hide],
            "hide_files": [str(path) for path in hide_files],
        }
        # The server, too, gets a clean environment. It is the parent process of the hand-in. If there are no kernel
        # namespaces, the hand-in may be able to read the environment of its parent.
        self.process = subprocess.Popen(
            (command or []) + [sys.executable, "-I", "-S", "-B", str(SERVER), json.dumps(spec)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"},
            start_new_session=True,
        )
        self.missing += self._reply()[0]["missing"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _reply(self):
        line = self.process.stdout.readline()
        if not line:
            raise CourseError("the process that isolates the hand-in ended unexpectedly", 1)
        reply = json.loads(line)
        payload = self.process.stdout.read(reply["bytes"])
        if "error" in reply:
            raise CourseError(reply["error"], 1)
        return reply, payload

    def _ask(self, message, payload=b""):
        message["bytes"] = len(payload)
        self.process.stdin.write(json.dumps(message).encode() + b"\n" + payload)
        self.process.stdin.flush()
        return self._reply()

    def put(self, path, content, mode=0o644):
        self._ask({"do": "put", "path": path, "mode": mode}, content)

    def get(self, path, limit=1 << 30):
        """Returns the bytes of a file, or None if it cannot be read."""
        reply, payload = self._ask({"do": "get", "path": path, "limit": limit})
        return None if "why" in reply else payload

    def reset(self):
        self._ask({"do": "reset"})

    def seal(self):
        self._ask({"do": "seal"})

    def _request(self, do, argv, limits, environment, **more):
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return {
            "do": do,
            "argv": argv,
            "folder": "handin",
            "environment": ENVIRONMENT | passed | (environment or {}),
            "seconds": limits["seconds"],
            "memory": limits["memory"],
            "processes": limits["processes"],
            "file_size": limits["disk"],
            "memory_of_each": limits.get("memory_of_each", True),
        } | more

    def run(self, argv, limits, environment=None):
        return self._ask(self._request("run", argv, limits, environment))[0]

    def feed(self, argv, limits, video, frame_bytes, ahead, patience):
        return self._ask(
            self._request("feed", argv, limits, None, video=video, frame_bytes=frame_bytes, ahead=ahead, patience=patience)
        )[0]
