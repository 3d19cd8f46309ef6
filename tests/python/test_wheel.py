"""A wheel has all that the package needs."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import c63

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def sources(tmp_path):
    """The files that setuptools reads, with the package, but nothing to compile."""
    pytest.importorskip("setuptools")
    for name in ("setup.py", "pyproject.toml", "MANIFEST.in", "CMakeLists.txt", "LICENSE", "docs/python.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "python", tmp_path / "python", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    return tmp_path


def run_setup(sources, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "setup.py", *arguments], cwd=sources, env={**os.environ, **environment}, text=True, capture_output=True
    )


#: Stands in front of CMake: its build is the one that is tested.
CMAKE = """#!/bin/sh
[ "$1" = -S ] && mkdir -p "$4/python" && cp -r "{package}" "$4/python/c63"
exit 0
"""


@pytest.fixture
def wheel(sources):
    """A wheel of the package that was built, unpacked."""
    pytest.importorskip("wheel")
    (sources / "bin").mkdir()
    (sources / "bin" / "cmake").write_text(CMAKE.format(package=pathlib.Path(c63.__file__).parent))
    (sources / "bin" / "cmake").chmod(0o755)
    done = run_setup(sources, "--quiet", "bdist_wheel", PATH=f"{sources / 'bin'}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    shutil.unpack_archive(next((sources / "dist").glob("*.whl")), sources / "unpacked", "zip")
    return sources / "unpacked"


def test_the_sources_are_whole(sources):
    assert run_setup(sources, "--quiet", "egg_info", "--egg-base", ".").returncode == 0
    listed = (sources / "c63.egg-info" / "SOURCES.txt").read_text().split()
    assert {"CMakeLists.txt", "setup.py", "python/CMakeLists.txt", "python/src/module.cpp"} <= set(listed)
    text = (ROOT / "python" / "CMakeLists.txt").read_text()
    for name in re.findall(r"\$\{race\}/(\w+)\.cpp", text):
        assert f"tools/race/{name}.*" in (ROOT / "MANIFEST.in").read_text()


def test_a_wheel_works_by_itself(wheel):
    (metadata,) = wheel.glob("*.dist-info/METADATA")
    assert f"\nVersion: {c63.__version__}\n" in metadata.read_text()
    for path in (ROOT / "python" / "c63").iterdir():
        assert path.suffix not in (".py", ".pyi", ".typed") or (wheel / "c63" / path.name).is_file(), path.name
    program = "import c63, numpy; c63.encode(numpy.zeros((2, 48, 32), 'u1')); print(c63.__file__)"
    said = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": str(wheel)}, text=True, capture_output=True, check=True).stdout
    assert said.startswith(str(wheel))


def test_a_wheel_that_needs_another_library_is_refused(sources, tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("no cc here")
    package = tmp_path / "package"
    package.mkdir()
    (package / "_options.py").touch()
    subprocess.run(["cc", "-shared", "-o", package / "_c63.so", "-x", "c", "/dev/null", "-Wl,--no-as-needed", "-lz"], check=True)
    (sources / "bin").mkdir()
    (sources / "bin" / "cmake").write_text(CMAKE.format(package=package))
    (sources / "bin" / "cmake").chmod(0o755)
    done = run_setup(sources, "--quiet", "build_ext", PATH=f"{sources / 'bin'}:{os.environ['PATH']}")
    assert done.returncode != 0 and "libz" in done.stderr
