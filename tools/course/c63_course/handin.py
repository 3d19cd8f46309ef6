"""What goes from a hand-in into a box, and what comes out of its encoder while it is fed."""

import bisect
import errno
import os
import pathlib
import re
import shlex
import stat

from .programs import CourseError

LARGEST_SOURCE = 1 << 20  # bytes of a file in a hand-in
LARGEST_HANDIN = 32 << 20  # bytes of all its files
BUILT = (b"\x7fELF", b"!<arch>\n", b"\xca\xfe\xba\xbe")


def files_of(folder):
    """Returns the files of a hand-in to build from, and for each other file why it is left out. Each file is opened
    without following links, and what was opened is checked."""
    kept, left_out, total = {}, [], 0
    for where, folders, names, fd in os.fwalk(folder):
        relative = pathlib.PurePath(where).relative_to(folder)
        links = [name for name in folders if stat.S_ISLNK(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)]
        folders[:] = sorted(set(folders) - set(links) - ({".git", "build", "videos"} if where == str(folder) else set()))
        for name in sorted(names + links):
            path = str(relative / name)
            try:
                opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=fd)
            except OSError as error:
                left_out.append((path, "is a link or no file" if error.errno in (errno.ELOOP, errno.ENXIO) else "cannot be read"))
                continue
            with os.fdopen(opened, "rb", buffering=0) as file:
                about = os.fstat(opened)
                if not stat.S_ISREG(about.st_mode):
                    left_out.append((path, "is a link or no file"))
                    continue
                content = file.read(LARGEST_SOURCE + 1)
            total += len(content)
            if total > LARGEST_HANDIN:
                raise CourseError("it has more than 32 MiB of files", 4)
            if len(content) > LARGEST_SOURCE:
                left_out.append((path, "is larger than 1 MiB"))
            elif content.startswith(BUILT):
                left_out.append((path, "is compiled already"))
            else:
                kept[path] = content, 0o755 if about.st_mode & 0o100 else 0o644
    return kept, left_out


def names_of(handins):
    """Returns a name for each hand-in: that of its folder or program, and more of the path if two have the same name."""
    paths = []
    for handin in handins:
        try:
            path = pathlib.Path(handin).resolve() if os.path.isdir(handin) else pathlib.PurePath(shlex.split(handin)[0])
        except (ValueError, IndexError) as error:
            raise CourseError(f"'{handin}' is neither a folder nor a command: {error}", 2) from None
        paths.append([part for part in path.parts if part != "/"] if os.path.isdir(handin) else [handin, path.name])
    names = ["/".join(parts[-1:]) for parts in paths]
    for depth in range(2, max(map(len, paths)) + 1):
        names = ["/".join(parts[-depth:]) if names.count(name) > 1 else name for name, parts in zip(names, paths)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise CourseError(f"{twice} is given twice", 2)
    return names


class Feeder:
    """Gives frames to a program, no more than `ahead` before the first of them comes out coded, and compares what comes out
    with a stream."""

    def __init__(self, video, frame_bytes, ahead, stream, patience):
        self.video, self.frame_bytes, self.ahead, self.stream, self.patience = video, frame_bytes, ahead, stream, patience
        self.ends = [match.end() for match in re.finditer(b"\xff\xd9", stream)]
        self.given, self.came, self.differs = 0, 0, False

    def coded(self):
        return bisect.bisect_right(self.ends, self.came)

    def next_piece(self):
        return self.video[self.given : min((self.coded() + self.ahead) * self.frame_bytes, self.given + 65536)]

    def received(self, piece):
        """Takes output of the program. Returns whether there is more to come."""
        self.differs |= self.stream[self.came : self.came + len(piece)] != piece
        self.came += len(piece)
        return piece != b"" and not self.differs and self.came < len(self.stream)
