#!/usr/bin/env python3
"""Attacks on the box in which hand-ins run. Each must fail, for root and for an ordinary user."""

import ctypes
import os
import pathlib
import pty
import shutil
import socket
import subprocess
import tempfile
from unittest import mock

from course_support import COURSE, ORDINARY_USER, CourseTest, main, no_box

from c63_course import box
from c63_course.handin import files_of
from c63_course.programs import CourseError

LIMITS = {"seconds": 20, "memory": 64 << 20, "disk": 16 << 20, "processes": 24}
PYTHON = "/usr/bin/python3"
MISSING = no_box()


class Attacks(CourseTest):
    def setUp(self):
        super().setUp()
        self.need(MISSING is None, MISSING)
        self.folder.chmod(0o755)
        self.box = box.Box()

    def shell(self, script, take=(), **limits):
        return self.box.run({"handin/main.sh": (script.encode(), 0o644)}, ["sh", "main.sh"], LIMITS | limits, take)

    def python(self, script, take=(), **limits):
        files = {"handin/main.py": (f"import ctypes, os, socket, time\nlibc = ctypes.CDLL(None, use_errno=True)\n{script}".encode(), 0o644)}
        return self.box.run(files, [PYTHON, "main.py"], LIMITS | limits, take)

    def assertPrints(self, ended, text):
        self.assertEqual(ended["output"].strip(), text)

    def test_nothing_stays_for_the_next_run(self):
        keep = "for f in /tmp /dev/shm /tmp/run /var/tmp /usr/tmp / /dev /proc/sys/kernel/domainname; do echo kept >$f/kept; done"
        self.shell(keep + "; echo kept >kept")
        ended = self.shell("find / -name kept 2>/dev/null; cat /proc/sysvipc/shm /proc/sysvipc/msg | grep -v key; ls ..")
        self.assertPrints(ended, "handin\nrun\nshm\ntools")

    def test_memory_of_the_kernel_and_keyrings_are_refused(self):
        ended = self.python(
            "for call in (29, 64, 68, 248, 249, 250, 321, 323, 425, 0x40000000 + 29):\n"
            "  print(libc.syscall(call, 0, 0, 0, 0, 0), ctypes.get_errno(), end='; ')\n"
        )
        self.need(os.uname().machine == "x86_64", "numbers of system calls are those of x86-64")
        self.assertPrints(ended, "-1 1; " * 9 + "-1 1;")
        key = ctypes.CDLL(None).syscall(248, b"user", b"c63-secret", b"x", ctypes.c_size_t(1), -4)  # add_key to this user's keyring
        self.assertPrints(self.shell("cat /proc/keys 2>/dev/null"), "")
        ctypes.CDLL(None).syscall(250, 9, key, -4)  # keyctl: unlink

    def test_no_file_of_the_teacher_can_be_read(self):
        places = {self.folder, pathlib.Path(tempfile.mkdtemp(dir="/var/tmp")), pathlib.Path.cwd(), pathlib.Path.home(), COURSE}
        for place in places:
            with tempfile.NamedTemporaryFile(dir=place) if os.access(place, os.W_OK) else open(__file__) as file:
                os.fchmod(file.fileno(), 0o644) if os.access(place, os.W_OK) else None
                ended = self.shell(f"cat '{file.name}'")
                self.assertNotEqual(ended["exit"], 0)
        self.assertPrints(self.shell("ls /; ls -A /etc | grep -vE '^(ld.so|alternatives)'"), self.top_folders())
        self.assertPrints(self.shell("ls /home /root /var /srv /run 2>/dev/null"), "")
        devices = [*box.DEVICES, *box.glob.glob("/dev/nvidia*"), "/dev/shm"]
        self.assertPrints(self.shell("ls -d /dev/*"), "\n".join(sorted(devices)))

    def top_folders(self):
        names = ["bin", "dev", "etc", "lib", "lib32", "lib64", "proc", "sbin", "tmp", "usr"] + ["sys"] * bool(box.glob.glob("/dev/nvidia*"))
        return "\n".join(sorted(name for name in names if os.path.exists(f"/{name}")))

    def test_nobody_can_be_called(self):
        with socket.socket(socket.AF_UNIX) as named, socket.socket(socket.AF_UNIX) as hidden, socket.socket() as tcp:
            named.bind(str(self.folder / "tmux"))
            hidden.bind(f"\0c63-{os.getpid()}")
            tcp.bind(("127.0.0.1", 0))
            for one in (named, hidden, tcp):
                one.listen()
            (self.folder / "tmux").chmod(0o777)
            ended = self.python(
                f"for kind, name in ((1, {str(self.folder / 'tmux')!r}), (1, '\\0c63-{os.getpid()}'), (2, ('127.0.0.1', {tcp.getsockname()[1]})),"
                " (2, ('192.0.2.1', 80))):\n"
                "  try: socket.socket(kind).connect(name); print('called')\n"
                "  except OSError: print('no')\n"
            )
        self.assertPrints(ended, "no\nno\nno\nno")

    def test_no_terminal_and_no_descriptor(self):
        pid, terminal = pty.fork()
        if pid == 0:  # here, as in a shell, there is a terminal
            os.open("/dev/null", os.O_RDONLY)
            os.set_inheritable(os.open(__file__, os.O_RDONLY), True)
            script = (
                "import fcntl\nprint(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:-1])\n"
                "for name in ('/dev/tty', '/dev/pts/0', '/dev/console'):\n"
                "  try: os.open(name, os.O_RDWR); print('open')\n  except OSError: print('no')\n"
                "for fd in range(3):\n  print(os.isatty(fd), end=' ')\n"
                "print(open('/proc/self/stat').read().split()[6], os.getsid(0) != 0)\n"
            )
            said = self.python(script)["output"]
            self.box.trust = True
            said += self.python("print(open('/proc/self/stat').read().split()[6])")["output"]
            os.write(1, said.encode())
            os._exit(0)
        said = b""
        try:
            while piece := os.read(terminal, 4096):
                said += piece
        except OSError:
            pass  # a terminal ends so
        os.waitpid(pid, 0)
        os.close(terminal)
        self.assertEqual(said.decode().split("\r\n"), ["[0, 1, 2]", "no", "no", "no", "False False False 0 True", "0", ""])

    def test_other_processes_cannot_be_seen_or_ended(self):
        ended = self.python(
            f"print(os.path.exists('/proc/{os.getpid()}/environ') and b'c63' in open('/proc/{os.getpid()}/cmdline', 'rb').read())\n"
            "print(len([name for name in os.listdir('/proc') if name.isdigit()]) < 6)\n"
            f"for pid in (-1, {os.getpid()}):\n  try: os.kill(pid, 9)\n  except OSError: pass\n"
        )
        self.assertEqual((ended["output"][:11].split(), ended["exit"]), (["False", "True"], 0), ended)

    def test_no_rights(self):
        ended = self.shell(
            "grep -E 'Cap(Eff|Prm|Bnd)|NoNewPrivs|Seccomp:' /proc/self/status | cut -f2; unshare -U true 2>/dev/null || echo no; "
            "umount /tmp 2>/dev/null || echo no; find / -writable ! -type l ! -path '/proc/*' ! -path '/tmp*' ! -path '/dev/*' 2>/dev/null; "
            "touch /x /dev/x 2>/dev/null && echo made; printf named >/proc/$$/task/$$/comm; cat /proc/$$/comm"  # CUDA does not start if it cannot name threads
        )
        self.assertPrints(ended, "\n".join(["0000000000000000"] * 3 + ["1", "2", "no", "no", "named"]))

    def test_programs_can_be_covered(self):
        self.box = box.Box(programs=["/usr/bin/env"])
        self.assertNotEqual(self.shell("env true")["exit"], 0)

    def test_bubblewrap_may_be_anywhere_in_the_path(self):
        (self.folder / "bwrap").write_text(f'#!/bin/sh\n: >"${{0%/*}}/used"\nexec {shutil.which("bwrap")} "$@"\n')
        (self.folder / "bwrap").chmod(0o755)
        self.folder.chmod(0o777)
        with mock.patch.dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}"):
            self.assertPrints(self.shell("echo made"), "made")
        self.assertTrue((self.folder / "used").exists())

    def test_memory_files_and_shared_memory_count_together(self):
        parts = (
            "x = bytearray(30 << 20)\n"
            "open('../run/file', 'wb').write(bytes(12 << 20))\n",
            "open('/dev/shm/file', 'wb').write(bytes(12 << 20))\n",
            "import mmap\nmap = mmap.mmap(-1, 22 << 20)\nmap.write(bytes(22 << 20))\n",
        )
        for used in (parts[:2] + parts[2:], (parts[0], parts[2], parts[1])):
            ended = self.python("".join(used) + "time.sleep(1)\nprint('still there')", disk=40 << 20)
            self.assertEqual((ended["over"], ended["output"]), ("memory", ""))
        ended = self.python(parts[0] + "print('enough')", disk=40 << 20)
        self.assertEqual((ended["over"], ended["output"]), (None, "enough\n"))

    def test_limits(self):
        fill = "i=0; while cat /dev/zero >../run/$i 2>/dev/null || [ -s ../run/$i ]; do i=$((i+1)); done"
        for script, over in ((fill, "disk"), ("sleep 100", "time"), (f"{PYTHON} -c 'bytearray(1 << 30)'", None)):
            ended = self.shell(script, seconds=1)
            self.assertEqual(ended["over"], over, script)
            self.assertLess(ended["seconds"], 3)
        bomb = "for i in range(100000):\n  try:\n    if os.fork() == 0: time.sleep(100)\n  except OSError: break\nprint(i < 5000)"
        self.assertPrints(self.python(bomb), "True")
        self.assertEqual(self.shell("kill -SEGV $$")["exit"], 139)

    def test_what_is_written_after_the_end_does_not_count(self):
        for trust in (False, True):
            self.box = box.Box(trust)
            (before, ended) = set(box.tree(os.getpid())), self.shell("(sleep 0.2; echo late >../run/out) & exit 0", ["run/out"])
            self.assertEqual((ended["exit"], ended["files"]), (0, {}))
            self.assertEqual(set(box.tree(os.getpid())), before)

    def test_only_files_are_taken_out(self):
        for script in ("mkdir ../run/a", "ln -s /etc/passwd ../run/a", "mkfifo ../run/a", "rmdir ../run; ln -s /etc ../run", ":"):
            for trust in (False, True):
                self.box = box.Box(trust)
                ended = self.shell(script, ["run/a", "run/passwd"])
                self.assertEqual(ended["files"], {}, script)
        for script, modes in (
            ("mkdir x; echo 1 >x/y; chmod 711 x/y; ln -s /etc etc; ln -s y x/z", {"main.sh": 0o644, "x/y": 0o755}),
            (f"cd ..; rm -r handin; ln -s {COURSE} handin", {}),
        ):
            ended = self.shell(script, ["handin"])
            self.assertEqual({name[7:]: mode for name, (_, mode) in ended["files"].items()}, modes)

    def test_links_in_a_handin_are_not_followed(self):
        secret = self.folder / "secret"
        secret.mkdir()
        (secret / "seed").write_text("secret")
        handin = self.folder / "handin"
        handin.mkdir()
        (handin / "main.c").write_text("int main;")
        os.symlink(secret, bytes(handin) + b"/folder\xff")
        (handin / "file").symlink_to(secret / "seed")
        (handin / "null").symlink_to("/dev/null")
        os.mkfifo(handin / "pipe")
        kept, left_out = files_of(handin)
        self.assertEqual(kept, {"main.c": (b"int main;", 0o644)})
        self.assertEqual([name for name, _ in left_out], ["file", "folder\udcff", "null", "pipe"])
        real = os.open

        def swap(path, flags, *more, **where):  # the file becomes a link after its folder was listed
            if path == "main.c":
                (handin / "main.c").unlink()
                (handin / "main.c").symlink_to(secret / "seed")
            return real(path, flags, *more, **where)

        with mock.patch("os.open", swap):
            self.assertEqual(files_of(handin)[0], {})

    def test_memory_is_measured_without_a_cgroup(self):
        with mock.patch.object(box, "make_group", lambda _: None):
            self.box = box.Box()
            self.assertIn("20 times a second", self.box.notes[0])
            self.test_memory_files_and_shared_memory_count_together()


class Groups(CourseTest):
    def test_a_group_that_was_delegated(self):
        """The files of a cgroup of version 2, as far as c63grade uses them; this machine may have version 1."""
        scope = self.folder / "scope"
        scope.mkdir()
        (scope / "cgroup.subtree_control").write_text("")
        (self.folder / "own").write_text("0::/scope\n")
        first = box.make_group(1234, self.folder / "own", self.folder)
        self.assertEqual((first / "memory.max").read_text(), "1234")
        self.assertEqual((scope / "c63grade" / "cgroup.procs").read_text(), str(os.getpid()))
        self.assertEqual((scope / "cgroup.subtree_control").read_text(), "+memory")
        (self.folder / "own").write_text("0::/scope/c63grade\n")
        second = box.make_group(99, self.folder / "own", self.folder)
        self.assertEqual((second.parent, (second / "memory.max").read_text()), (scope, "99"))
        (self.folder / "own").write_text("3:cpu:/\n0::/absent\n")
        self.assertIsNone(box.make_group(99, self.folder / "own", self.folder))


class WithoutABox(CourseTest):
    def test_is_refused_unless_trusted(self):
        with mock.patch.dict(os.environ, PATH=str(self.folder)):
            with self.assertRaises(CourseError) as caught:
                box.Box()
            self.assertEqual(caught.exception.code, 1)
        trusted = box.Box(trust=True)
        self.assertIn("--trust", trusted.notes[-1])
        ended = trusted.run({"handin/a": (b"cat $TMPDIR/in; exit 3", 0o644), "run/in": (b"in", 0o644)}, ["sh", "a"], LIMITS)
        self.assertEqual((ended["exit"], ended["output"]), (3, "in"))


class AsAnOrdinaryUser(CourseTest):
    def test_all_of_this(self):
        self.need(os.geteuid() == 0, "needs root to become another user")
        words = [*ORDINARY_USER, "HOME=/tmp", f"TMPDIR={self.folder}", PYTHON, "-B"]
        self.folder.chmod(0o777)
        reached = subprocess.run([*words, "-c", f"open({__file__!r}); open({box.__file__!r})"], cwd="/", stderr=subprocess.DEVNULL)
        self.need(reached.returncode == 0, "another user cannot read the tests here")
        ended = subprocess.run([*words, __file__, "Attacks", "WithoutABox"], cwd="/", text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.need("skipped=" not in ended.stdout, "as another user: " + ended.stdout)


if __name__ == "__main__":
    main()
