"""A box in which a hand-in is built and run: bubblewrap, which shows it a list of places and nothing else, and limits.

Each run gets a new box, with new namespaces and a new folder in memory. The grader puts the hand-in's files into this
folder, and takes those files out of it that a rule names. Nothing else leaves the box, except the exit code and a text
to show. With `trust`, there is no box: a folder, and limits.
"""

import contextlib
import ctypes
import glob
import itertools
import json
import os
import pathlib
import platform
import random
import resource
import select
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import time

from .programs import CourseError

CUDA = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
FOLDERS = list(dict.fromkeys([os.path.dirname(CUDA), "/usr/local/cuda/bin", "/usr/local/bin", "/usr/bin", "/bin"]))
# The environment variables of a hand-in. It gets none of the grader's own, except those in PASSED_ON.
ENVIRONMENT = {
    "PATH": ":".join(["{box}/tools", *FOLDERS]),
    "HOME": "{box}/run",
    "TMPDIR": "{box}/run",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
}
PASSED_ON = ("CUDA_VISIBLE_DEVICES", "CUDA_HOME", "LD_LIBRARY_PATH")
DEVICES = [f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom")]
# A shell starts the program when the grader says so, because the files must be there first. A program that is fed gets
# pipes. The output of any other program is only shown.
FED = 'echo; read go; cd handin; exec "$@"'
SHOWN = FED + " </dev/null >&2"
OUTPUT_KEPT = 1 << 16
COUNT = itertools.count()
TICK = 0.05  # seconds between checks of memory
# System calls that keep something for later runs, count no memory, or open much of the kernel, by number.
FORBIDDEN = {  # add_key, request_key, keyctl, shmget, semget, msgget, perf_event_open, bpf, userfaultfd, io_uring_setup
    "x86_64": (0xC000003E, (248, 249, 250, 29, 64, 68, 298, 321, 323, 425)),
    "aarch64": (0xC00000B7, (217, 218, 219, 194, 190, 186, 241, 280, 282, 425)),
}


def system_call_filter():
    """Returns the program that the kernel runs before each system call, or None if this CPU's numbers are not known."""
    if platform.machine() not in FORBIDDEN:
        return None
    architecture, numbers = FORBIDDEN[platform.machine()]
    load, equal, at_least, back = 0x20, 0x15, 0x35, 0x06
    kill, refuse, allow = 0x80000000, 0x00050001, 0x7FFF0000  # refuse: EPERM
    steps = [(load, 0, 0, 4), (equal, 1, 0, architecture), (back, 0, 0, kill), (load, 0, 0, 0)]
    steps.append((at_least, len(numbers) + 1, 0, 0x40000000))  # the numbers of x32, a second way to the same calls
    steps += [(equal, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    steps += [(back, 0, 0, allow), (back, 0, 0, refuse)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def open_places():
    """Returns the arguments of bubblewrap that say what a hand-in sees: programs and libraries, CUDA, a few devices."""
    words = ["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--perms", "0755", "--size", "65536", "--tmpfs", "/dev"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        if os.path.islink(name):
            words += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            words += ["--ro-bind", name, name]
    cuda = {os.environ.get("CUDA_HOME", ""), str(pathlib.Path(CUDA).parents[1]), str(pathlib.Path(CUDA).resolve().parents[1])}
    places = ["/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", *sorted(cuda)]
    gpus = glob.glob("/dev/nvidia*")
    places += ["/sys/devices", "/sys/bus/pci"] + glob.glob("/sys/module/nvidia*") if gpus else []
    for place in places:
        if os.path.exists(place) and place not in ("/", "/usr") and not place.startswith("/usr/"):
            words += ["--ro-bind", place, place]
    for device in DEVICES + gpus:
        words += ["--dev-bind", device, device]
    return words + ["--symlink", "/tmp/shm", "/dev/shm", "--remount-ro", "/dev"] + ["--ro-bind", "/dev/null", "/proc/keys"] * os.path.exists("/proc/keys")


def covers(programs):
    """Returns the arguments that cover an installed c63, with its libraries: a hand-in must not call it."""
    found = set()
    for program in map(pathlib.Path, programs):
        top = program.resolve().parents[1]
        files = [program.resolve(), *top.glob("lib*/libc63*"), *top.glob("lib*/*/libc63*")]
        found |= {str(file.resolve()) for file in files + list(top.glob("lib*/python3*/*-packages/c63/*.so"))}
    return [word for file in sorted(found) if file.startswith("/usr/") for word in ("--ro-bind", "/dev/null", file)]


def tree(pid):
    """Returns a process and all that it has started, and these have started."""
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{one}/task"):
                found += map(int, pathlib.Path(f"/proc/{one}/task/{task}/children").read_text().split())
    return found


def memory_of(pids):
    """Returns how much memory processes use, in bytes. Memory that they share counts once."""
    own, shared = 0, 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):
            lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
            fields = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Rss")}
            own += int(fields.get("RssAnon", 0)) << 10
            shared = max(shared, int(fields.get("RssShmem", 0)) << 10)
    return own + shared


def make_group(memory, of="/proc/self/cgroup", root="/sys/fs/cgroup"):
    """Makes a cgroup, which limits memory, files in memory and shared memory together. Returns its folder, or None if
    this user may make none."""
    for line in pathlib.Path(of).read_text().splitlines():
        _, kinds, path = line.split(":", 2)
        if kinds and "memory" not in kinds.split(","):
            continue
        base = pathlib.Path(f"{root}{'/memory' if kinds else ''}{path}")
        base = base.parent if base.name == "c63grade" else base  # an earlier call has moved this process
        group = base / f"c63box-{os.getpid()}-{next(COUNT)}"
        with contextlib.suppress(OSError):
            if not kinds and "memory" not in (base / "cgroup.subtree_control").read_text():
                delegate(base)
            group.mkdir()
            try:
                (group / ("memory.limit_in_bytes" if kinds else "memory.max")).write_text(str(memory))
                return group
            except OSError:
                group.rmdir()
    return None


def delegate(base):
    """Lets groups in a group have limits of memory. It may have no processes itself then, so this one moves into a part."""
    own = base / "c63grade"
    own.mkdir(exist_ok=True)
    (own / "cgroup.procs").write_text(str(os.getpid()))
    try:
        (base / "cgroup.subtree_control").write_text("+memory")
    except OSError:
        (base / "cgroup.procs").write_text(str(os.getpid()))
        own.rmdir()
        raise


def remove_group(group):
    with contextlib.suppress(OSError):
        group.rmdir()


def was_over(group):
    """Returns whether the kernel ended a process of a cgroup because of its limit."""
    for name in ("memory.events", "memory.oom_control"):
        with contextlib.suppress(OSError):
            return any(word[0] == "oom_kill" and word[1] != "0" for word in map(str.split, (group / name).open()))
    return False


@contextlib.contextmanager
def as_user(uid):
    """Works on files as the user of a hand-in."""
    if uid is None:
        yield
        return
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def open_below(folder, name):
    """Returns a descriptor of a file or a folder below an open folder. Raises OSError for links: none is followed."""
    found = os.dup(folder)
    for part in pathlib.PurePath(name).parts:
        try:
            inner = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=found)
        finally:
            os.close(found)
        found = inner
    return found


def take_out(folder, name, limit):
    """Returns a file below an open folder, or all files of a folder there: bytes and mode by name. Leaves out links,
    and what exceeds a limit in bytes."""
    try:
        fd = open_below(folder, name)
    except OSError:
        return {}
    found, about = {}, os.fstat(fd)
    try:
        if stat.S_ISREG(about.st_mode) and about.st_size <= limit:
            with open(fd, "rb", closefd=False) as file:
                found[name] = file.read(limit + 1), 0o755 if about.st_mode & 0o100 else 0o644
        for inner in os.listdir(fd) if stat.S_ISDIR(about.st_mode) else ():
            for path, (content, mode) in take_out(fd, inner, limit).items():
                found[f"{name}/{path}"] = content, mode
                limit -= len(content)
    finally:
        os.close(fd)
    return found


def write_files(folder, files):
    """Writes files below an open folder of a box in which nothing runs yet."""
    for name in ("handin", "tools", "run", "shm"):
        os.mkdir(name, dir_fd=folder)
    made = set()
    for name, (content, mode) in files.items():
        for parent in reversed(pathlib.PurePath(name).parents[:-2]):
            if parent not in made:
                os.mkdir(parent, dir_fd=folder)
                made.add(parent)
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=folder)
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            os.fchmod(fd, mode)


def tasks_of_user():
    """Returns how many threads this user has: the kernel counts them all against the limit of a hand-in. 0 for root, whose
    hand-ins have a user of their own."""
    mine = (folder for folder in pathlib.Path("/proc").iterdir() if folder.name.isdigit())
    total = 0
    for folder in mine if os.geteuid() else ():
        with contextlib.suppress(OSError):
            total += len(os.listdir(folder / "task")) if folder.stat().st_uid == os.geteuid() else 0
    return total


def set_limits(limits, file_size):
    """Sets the limits of this process, and of all that it starts."""
    values = {
        resource.RLIMIT_NPROC: limits["processes"] + tasks_of_user(),
        resource.RLIMIT_FSIZE: file_size,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(limits["seconds"] * (os.cpu_count() or 1)) + 1,
        resource.RLIMIT_NOFILE: 1024,
    }
    if limits.get("memory_of_each", True):
        values[resource.RLIMIT_DATA] = limits["memory"]
    for name, value in values.items():
        hard = resource.getrlimit(name)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(name, (value, value))


def end_all(process, before):
    """Ends all processes of a run: those that were not there before. Returns the status of the first, and the CPU time of all."""
    status, cpu, deadline = 0, 0.0, time.monotonic() + 10
    while (left := set(tree(os.getpid())) - before) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                found, how, usage = os.wait4(pid, os.WNOHANG)
                if found:
                    cpu += usage.ru_utime + usage.ru_stime
                if found == process.pid:
                    status = process.returncode = how
        time.sleep(0.001)
    return status, cpu


class Box:
    """Runs programs. `programs` are those that a hand-in must not call."""

    def __init__(self, trust=False, programs=()):
        self.trust, self.covers = trust, covers(programs)
        self.notes = []  # what protects less than it should, in words
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: what a hand-in leaves becomes our child
        group = make_group(1 << 30)
        if group:
            group.rmdir()
        else:
            self.notes.append("No cgroup can be made here: memory is measured 20 times a second, without files that have no name.")
        if trust:
            self.notes.append("There is no box, because of --trust: the network is open, other files can be read, the disk be filled.")
            return
        if system_call_filter() is None:
            self.notes.append("System calls are not filtered on this CPU: keyrings of the kernel are open.")
        try:
            if shutil.which("bwrap") is None:
                raise CourseError("there is no bwrap", 1)
            self.run({}, ["true"], {"seconds": 20, "memory": 1 << 30, "disk": 1 << 20, "processes": 64})
        except CourseError as error:
            advice = "install bubblewrap, and allow user namespaces; with --trust, hand-ins run without a box"
            raise CourseError(f"no box can be made: {error} ({advice})", 1) from None

    def command(self, inside, info, filter_fd, size):
        """Returns the command that runs the words `inside` in a new box."""
        words = [shutil.which("bwrap"), "--unshare-all", "--unshare-user", "--disable-userns", "--new-session", "--die-with-parent"]
        words += open_places() + self.covers + ["--perms", "0755", "--size", str(size), "--tmpfs", "/tmp"]
        words += ["--remount-ro", "/", "--chdir", "/tmp", "--info-fd", str(info)]
        return words + (["--seccomp", str(filter_fd)] if filter_fd is not None else []) + ["--", *inside]

    def run(self, files, argv, limits, take=(), environment=None, feeder=None):
        """Runs a program until it ends or exceeds a limit, and ends all that it has started. `files` has the files to
        put into the box. `take` names files and folders to take out, if they are there. Returns a dictionary of what
        happened."""
        uid = random.SystemRandom().randrange(1 << 28, 1 << 29) if os.geteuid() == 0 else None
        before = set(tree(os.getpid()))
        size = limits["disk"] + sum(-(-len(content) // 4096) * 4096 for content, _ in files.values())
        environment = ENVIRONMENT | {name: os.environ[name] for name in PASSED_ON if name in os.environ} | (environment or {})
        with contextlib.ExitStack() as stack:
            root = "/tmp"
            if self.trust:
                root = stack.enter_context(tempfile.TemporaryDirectory(prefix="c63box-"))
                if uid is not None:
                    os.chown(root, uid, uid)
            words = ["sh", "-c", FED if feeder else SHOWN, "sh", *(word.replace("{box}", root) for word in argv)]
            passed = []
            if not self.trust:
                info, end = os.pipe()
                stack.callback(os.close, info)
                passed, program = [end], system_call_filter()
                if program is not None:
                    passed.append(os.memfd_create("filter"))
                    os.write(passed[1], program)
                    os.lseek(passed[1], 0, os.SEEK_SET)
                words = self.command(words, end, passed[1] if program else None, size)
            group = make_group(limits["memory"])
            if group:
                stack.callback(remove_group, group)
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if feeder else subprocess.PIPE,
                cwd=root if self.trust else "/",
                env={name: value.replace("{box}", root) for name, value in environment.items()},
                pass_fds=passed,
                start_new_session=True,
                preexec_fn=lambda: set_limits(limits, size),
                user=uid,
                group=uid,
                extra_groups=None if uid is None else [],
            )
            for fd in passed:
                os.close(fd)
            for pipe in filter(None, (process.stdin, process.stdout, process.stderr)):
                stack.callback(pipe.close)
            stack.callback(end_all, process, before)
            if not process.stdout.readline():
                said = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
                raise CourseError(said or "bwrap ends at once", 1)
            first = process.pid if self.trust else json.loads(os.read(info, 4096))["child-pid"]
            # The folder can be read through this descriptor even when the box is gone.
            folder = os.open(root if self.trust else f"/proc/{first}/root/tmp", os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, folder)
            with as_user(uid):
                write_files(folder, files)
            if group:
                for pid in tree(first):
                    (group / "cgroup.procs").write_text(str(pid))
            result = self.watch(process, first, folder, limits, group, feeder, before)
            with as_user(uid):
                for name in take:
                    result["files"] |= take_out(folder, name, limits["disk"])
            return result

    def watch(self, process, first, folder, limits, group, feeder, before):
        """Lets a program go on, until it ends or exceeds a limit. Returns what happened."""

        def used():
            about = os.statvfs(folder)
            return 0 if self.trust else (about.f_blocks - about.f_bfree) * about.f_frsize

        output, over, at_start = bytearray(), None, used()
        reader, ended = (process.stdout if feeder else process.stderr).fileno(), os.pidfd_open(process.pid)
        os.write(process.stdin.fileno(), b"go\n")
        os.set_blocking(process.stdin.fileno(), False)
        began = now = time.monotonic()
        next_look, quiet_until = began + TICK, began + (feeder.patience if feeder else limits["seconds"])
        readable = [reader] if feeder else [ended, reader]
        while over is None:
            until = min(next_look, began + limits["seconds"], quiet_until)
            writable = [process.stdin.fileno()] if feeder and feeder.next_piece() else []
            ready, free, _ = select.select(readable, writable, [], max(0, until - now))
            now = time.monotonic()
            if ended in ready:
                break
            if free:
                try:
                    feeder.given += os.write(free[0], feeder.next_piece())
                except BrokenPipeError:
                    break
            if reader in ready:
                piece = os.read(reader, 1 << 16)
                if feeder and not feeder.received(piece):
                    break
                output += piece[: max(0, OUTPUT_KEPT - len(output))]
                if not piece:
                    readable.remove(reader)
            if feeder and (free or reader in ready):
                quiet_until = now + feeder.patience
            if now >= min(began + limits["seconds"], quiet_until):
                over = "time"
            elif now >= next_look:
                next_look = now + TICK
                full = was_over(group) if group else memory_of(tree(first)) + used() - at_start > limits["memory"]
                over = "memory" if full else None
        os.close(ended)
        seconds = time.monotonic() - began
        status, cpu = end_all(process, before)
        if reader in readable and not feeder:
            os.set_blocking(reader, False)
            with contextlib.suppress(BlockingIOError):
                output += os.read(reader, OUTPUT_KEPT)[: max(0, OUTPUT_KEPT - len(output))]
        code = os.waitstatus_to_exitcode(status)
        code = 128 - code if code < 0 else code  # as a shell says it, and bubblewrap
        if over is None and group and was_over(group):
            over = "memory"
        elif over is None and (code == 128 + signal.SIGXFSZ or not self.trust and os.statvfs(folder).f_bavail == 0):
            over = "disk"
        text = output.decode(errors="replace")
        return {"exit": code, "over": over, "seconds": seconds, "cpu_seconds": cpu, "output": text, "files": {}}
