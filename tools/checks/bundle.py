"""Puts programs and the libraries they need into one file, for a machine that has neither."""

import re
import shutil
import subprocess

# The machine has these, in the version that fits its kernel and loader.
OWN = re.compile(r"/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so")


def modules(build):
    """What programs of a build load by name: libc63_ffmpeg.so, if it was built."""
    return sorted(build.glob("lib*/**/c63/libc63_*.so"))


def add_programs(folder, programs, under="."):
    """Copies programs to folder/under, with modules beside them, and what both are linked with to folder/lib (for
    LD_LIBRARY_PATH)."""
    (folder / "lib").mkdir(exist_ok=True)
    (folder / under).mkdir(parents=True, exist_ok=True)
    programs = list(programs)
    for program in dict.fromkeys(programs + [m for p in programs if p.parent.name == "bin" for m in modules(p.parent.parent)]):
        # Line numbers can be had where it was built; without them it is a quarter of its size.
        subprocess.run(["strip", "--strip-debug", "-o", folder / under / program.name, program], check=True)
        needed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        for library in re.findall(r"=> (/\S+)", needed):
            if not OWN.search(library) and not (folder / "lib" / library.rsplit("/")[-1]).exists():
                shutil.copy2(library, folder / "lib")
                # Loaded by name. Without it oneTBB allocates by malloc, and then does not survive one that fails.
                if "/libtbb.so" in library:
                    shutil.copy2(library.replace("libtbb.so.12", "libtbbmalloc.so.2"), folder / "lib")


def pack(folder, file):
    subprocess.run(["tar", "-C", folder, "-cf", file, "--use-compress-program=xz -T0 -6", "."], check=True)
