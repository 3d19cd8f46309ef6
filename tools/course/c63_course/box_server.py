"""The inside of a box: the process that runs a hand-in in a way that it cannot do harm (see box.py).

With namespaces, this is process 1 of a separate world: no network, no other processes, a file system that is read-only
except for a few megabytes of memory, and the grader's folders covered. Without namespaces, only limits and another user
protect.

A message on standard input or output is a line of JSON, followed by as many bytes as its "bytes" says.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import resource
import select
import shutil
import signal
import stat
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND = 1, 2, 4, 32, 4096
PR_CAPBSET_DROP, PR_SET_SECUREBITS, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 24, 28, 36, 38
SYS_MOUNT_SETATTR, AT_RECURSIVE = 442, 0x8000
SETTINGS_OF_THE_MACHINE = [
    f"/proc/{name}" for name in ("sys", "irq", "bus", "acpi", "scsi", "fs", "sysrq-trigger", "mtrr", "pressure")
]
OUTPUT_KEPT = 1 << 16
TICK = 0.05  # seconds between checks of memory and disk


def mount(source, target, kind=None, flags=0, data=None):
    words = [None if word is None else str(word).encode() for word in (source, target, kind)]
    if LIBC.mount(*words, ctypes.c_ulong(flags), None if data is None else data.encode()) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), str(target))


def set_read_only(path, on, flags=0):
    attributes = (ctypes.c_uint64 * 4)(MS_RDONLY if on else 0, 0 if on else MS_RDONLY, 0, 0)
    if LIBC.syscall(SYS_MOUNT_SETATTR, -100, path, flags, ctypes.byref(attributes), 32) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), path.decode())


def make_read_only():
    """Makes every mount read-only, except what /proc says of a process itself: a thread's name is written there. CUDA names its
    threads, and does not start if it cannot."""
    for name in SETTINGS_OF_THE_MACHINE:
        if os.path.exists(name):
            mount(name, name, None, MS_BIND)
    set_read_only(b"/", True, AT_RECURSIVE)
    set_read_only(b"/proc", False)


class Box:
    def __init__(self, spec):
        self.namespaces = spec["namespaces"]
        if self.namespaces and os.getpid() != 1:  # kill_all would end processes of others
            raise OSError("it has no process namespace")
        self.uid = spec["uid"]  # of the hand-in; None: the grader's
        self.disk = spec["disk"]
        self.root = pathlib.Path("/tmp" if self.namespaces else spec["root"])
        self.run_folder = self.root / "run"
        self.missing = []
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if self.namespaces:
            self.cover(spec)
        for name in ("handin", "tools"):
            self.make_folder(self.root / name)
        self.reset({})

    def cover(self, spec):
        try:
            make_read_only()
        except OSError as error:
            self.missing.append(f"the file system is not read-only ({error.strerror}); its permissions alone protect it")
        for folder in spec["hide"]:
            if os.path.isdir(folder) and not folder.startswith("/tmp/"):  # all of /tmp is covered below
                mount("none", folder, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=755")
        for file in spec["hide_files"]:
            if os.path.exists(file) and not file.startswith("/tmp/"):
                mount("/dev/null", file, None, MS_BIND)
        mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, f"size={self.disk},mode=755")
        os.chdir("/tmp")

    def make_folder(self, path):
        path.mkdir(parents=True, exist_ok=True)
        if self.uid is not None:
            os.chown(path, self.uid, self.uid)

    def reset(self, _):
        """Makes an empty folder for the next run."""
        if self.namespaces:
            for target in ("/var/tmp", "/dev/shm", self.run_folder):
                LIBC.umount2(str(target).encode(), 2)
            if not self.run_folder.exists():
                self.run_folder.mkdir()
            mount("none", self.run_folder, "tmpfs", MS_NOSUID | MS_NODEV, f"size={self.disk},mode=755")
        else:
            shutil.rmtree(self.run_folder, ignore_errors=True)
        self.make_folder(self.run_folder)
        for name in ("tmp", "shm"):
            self.make_folder(self.run_folder / name)
        if self.namespaces:
            for target, name in (("/var/tmp", "tmp"), ("/dev/shm", "shm")):
                if os.path.isdir(target):
                    mount(self.run_folder / name, target, None, MS_BIND)
        return {}

    def seal(self, _):
        """Makes everything read-only except the folder of a run. Without namespaces, only the hand-in's folder becomes
        read-only."""
        if self.namespaces:
            mount("none", "/tmp", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
        else:
            for folder, _, files in os.walk(self.root / "handin"):
                for path in [folder] + [os.path.join(folder, name) for name in files]:
                    if os.path.islink(path):
                        continue
                    if self.uid is not None:
                        os.chown(path, 0, 0)
                    os.chmod(path, os.stat(path).st_mode & ~0o222 | 0o444)
        return {}

    @contextlib.contextmanager
    def as_the_handin(self):
        """Does file operations with the rights of the hand-in, so that links that it has left lead only where it could
        go itself."""
        if self.uid is None:
            yield
            return
        os.setegid(self.uid)
        os.seteuid(self.uid)
        try:
            yield
        finally:
            os.seteuid(0)
            os.setegid(0)

    def put(self, request, payload):
        with self.as_the_handin():
            path = self.root / request["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(payload)
            path.chmod(request["mode"])
        return {}

    def get(self, request):
        with self.as_the_handin():
            try:
                fd = os.open(self.root / request["path"], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError as error:
                return {"why": error.strerror}, b""
            with os.fdopen(fd, "rb") as file:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    return {"why": "is no file"}, b""
                return {}, file.read(request["limit"])

    # ---- processes ----

    def others(self):
        """Returns the process ids of the hand-in's remaining processes."""
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        if self.namespaces:
            return [pid for pid in pids if pid != 1]
        parents = {}
        for pid in pids:
            with contextlib.suppress(OSError, IndexError, ValueError):
                with open(f"/proc/{pid}/stat") as file:
                    parents[pid] = int(file.read().rpartition(")")[2].split()[1])
        found, grew = {os.getpid()}, True
        while grew:
            more = {pid for pid, parent in parents.items() if parent in found} - found
            grew = bool(more)
            found |= more
        return list(found - {os.getpid()})

    def kill_all(self):
        """Ends all processes that the hand-in has started, and returns their number. All are descendants of this
        process. If a parent ends, its children become children of this process.
        """
        ended, deadline = 0, time.monotonic() + 10
        while time.monotonic() < deadline:
            if self.namespaces:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGKILL)
            elif self.uid is not None:
                self.kill_user()
            else:
                for pid in self.others():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            try:
                while True:
                    pid, status = os.waitpid(-1, os.WNOHANG)
                    if pid == 0:
                        break
                    ended += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            except ChildProcessError:
                break
            time.sleep(0.002)
        return ended

    def kill_user(self):
        """Ends all processes of the hand-in's user at once, so that none can start another one meanwhile."""
        pid = os.fork()
        if pid == 0:
            os.setresuid(self.uid, self.uid, self.uid)
            os.kill(-1, signal.SIGKILL)
            os._exit(0)
        os.waitpid(pid, 0)

    def resident(self):
        """Returns how many bytes of memory the hand-in's processes use together."""
        pages = 0
        for pid in self.others():
            with contextlib.suppress(OSError, IndexError, ValueError):
                with open(f"/proc/{pid}/statm") as file:
                    pages += int(file.read().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def written(self):
        total = 0
        for folder, _, files in os.walk(self.root):
            for name in files:
                with contextlib.suppress(OSError):
                    total += os.lstat(os.path.join(folder, name)).st_blocks * 512
        return total

    def become_the_handin(self, request, stdin, stdout, stderr):
        """Runs in the child process: sets the limits, drops all rights and starts the program. Does not return."""
        try:
            os.setsid()
            for target, fd in enumerate((stdin, stdout, stderr)):
                os.dup2(fd, target)
            os.closerange(3, 4096)
            processes = request["processes"] + (0 if self.namespaces or self.uid is not None else len(self.others_of_user()))
            limits = {
                resource.RLIMIT_NPROC: processes,
                resource.RLIMIT_FSIZE: request["file_size"],
                resource.RLIMIT_CORE: 0,
                resource.RLIMIT_CPU: int(request["seconds"] * (os.cpu_count() or 1)) + 1,
                resource.RLIMIT_NOFILE: 1024,
            }
            if request["memory_of_each"]:
                limits[resource.RLIMIT_DATA] = request["memory"]
            for name, value in limits.items():
                hard = resource.getrlimit(name)[1]
                value = value if hard == resource.RLIM_INFINITY else min(value, hard)
                resource.setrlimit(name, (value, value))
            if self.namespaces:
                LIBC.prctl(PR_SET_SECUREBITS, 3, 0, 0, 0)  # user 0 of a user namespace gets no rights from its number
                for capability in range(64):
                    LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
            if self.uid is not None:
                os.setgroups([])
                os.setresgid(self.uid, self.uid, self.uid)
                os.setresuid(self.uid, self.uid, self.uid)
            LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.chdir(self.root / request["folder"])
            argv = [word.replace("{box}", str(self.root)) for word in request["argv"]]
            environment = {name: value.replace("{box}", str(self.root)) for name, value in request["environment"].items()}
            os.execvpe(argv[0], argv, environment)
        except OSError as error:
            os.write(2, f"cannot run {request['argv'][0]}: {error}\n".encode())
        finally:
            os._exit(127)

    @staticmethod
    def others_of_user():
        mine = []
        for name in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                    mine += os.listdir(f"/proc/{name}/task")
        return mine

    def start(self, request, stdin, stdout, stderr):
        pid = os.fork()
        if pid == 0:
            self.become_the_handin(request, stdin, stdout, stderr)
        return pid

    def run(self, request):
        """Runs a program until it ends or exceeds a limit. Then ends all processes that it has left."""
        reader, writer = os.pipe()
        null = os.open("/dev/null", os.O_RDONLY)
        began = time.monotonic()
        pid = self.start(request, null, writer, writer)
        os.close(writer)
        os.close(null)
        output, reply = bytearray(), {"over": None}
        ended = os.pidfd_open(pid)
        next_look = began + TICK
        while True:
            now = time.monotonic()
            ready = select.select(
                [fd for fd in (ended, reader) if fd is not None],
                [],
                [],
                max(0, min(next_look, began + request["seconds"]) - now),
            )[0]
            if ended in ready:
                break
            if reader in ready:
                piece = os.read(reader, 1 << 16)
                output += piece[: max(0, OUTPUT_KEPT - len(output))]
                if not piece:
                    os.close(reader)
                    reader = None
            now = time.monotonic()
            if now >= began + request["seconds"]:
                reply["over"] = "time"
            elif now >= next_look:
                next_look = now + TICK
                if self.resident() > request["memory"]:
                    reply["over"] = "memory"
                elif not self.namespaces and self.written() > self.disk:
                    reply["over"] = "disk"
            if reply["over"]:
                os.kill(pid, signal.SIGKILL)
                break
        # The program may leave other processes running. They are ended as soon as the program has ended.
        _, status, usage = os.wait4(pid, 0)
        reply["seconds"] = time.monotonic() - began
        reply["left_running"] = self.kill_all()
        os.close(ended)
        if reader is not None:
            os.set_blocking(reader, False)
            with contextlib.suppress(BlockingIOError):
                output += os.read(reader, OUTPUT_KEPT)[: max(0, OUTPUT_KEPT - len(output))]
            os.close(reader)
        code = os.waitstatus_to_exitcode(status)
        full = shutil.disk_usage(self.run_folder).free < 4096 if self.namespaces else False
        reply.update(
            exit=code,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            resident=usage.ru_maxrss * 1024,
            output=output.decode(errors="replace"),
        )
        if reply["over"] is None and (full or code == -signal.SIGXFSZ):
            reply["over"] = "disk"
        return reply

    def feed(self, request):
        """Feeds frames through a pipe. At most `ahead` frames go in before a coded frame comes out. Returns how many
        were coded that way."""
        video = (self.root / request["video"]).read_bytes()
        size, ahead = request["frame_bytes"], request["ahead"]
        frames = len(video) // size
        to_child, feeder = os.pipe()
        output, from_child = os.pipe()
        null = os.open("/dev/null", os.O_RDWR)
        pid = self.start(request, to_child, from_child, null)
        for fd in (to_child, from_child, null):
            os.close(fd)
        os.set_blocking(feeder, False)
        given = coded = 0  # bytes given; frames coded
        pending, deadline = bytearray(), time.monotonic() + request["seconds"]
        quiet_until = time.monotonic() + request["patience"]
        while coded < frames and time.monotonic() < min(deadline, quiet_until):
            allowed = min(frames, coded + ahead) * size
            readable, writable, _ = select.select([output], [feeder] if given < allowed else [], [], 0.1)
            try:
                if writable:
                    given += os.write(feeder, video[given : min(allowed, given + 65536)])
                    quiet_until = time.monotonic() + request["patience"]
            except BrokenPipeError:
                break
            if readable:
                piece = os.read(output, 1 << 16)
                if not piece:
                    break
                pending += piece
                found = pending.count(b"\xff\xd9")
                coded += found
                pending = pending[-1:] if found else pending[-65536:]
                if pending == b"\xd9":
                    pending = bytearray()
        os.close(feeder)
        os.close(output)
        os.kill(pid, signal.SIGKILL)
        self.kill_all()
        return {"coded": coded, "frames": frames, "given": given // size}


def main():
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)

    def reply(message, payload=b""):
        message["bytes"] = len(payload)
        replies.write(json.dumps(message).encode() + b"\n" + payload)
        replies.flush()

    try:
        box = Box(json.loads(sys.argv[1]))
    except OSError as error:
        reply({"error": f"cannot make the box: {error}"})
        return
    reply({"missing": box.missing, "pid": os.getpid()})
    for line in requests:
        request = json.loads(line)
        payload = requests.read(request["bytes"])
        try:
            if request["do"] == "put":
                reply(box.put(request, payload))
            elif request["do"] == "get":
                reply(*box.get(request))
            else:
                reply({"run": box.run, "feed": box.feed, "reset": box.reset, "seal": box.seal}[request["do"]](request))
        except OSError as error:
            reply({"error": str(error)})
    box.kill_all()


if __name__ == "__main__":
    main()
