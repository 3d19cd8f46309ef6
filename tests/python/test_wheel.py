"""A wheel has the package's files and its version."""

import os
import pathlib
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


def test_the_metadata_is_whole(sources):
    assert run_setup(sources, "--quiet", "egg_info", "--egg-base", ".").returncode == 0
    text = (sources / "c63.egg-info" / "PKG-INFO").read_text()
    assert f"\nVersion: {c63.__version__}\n" in text and "\nName: c63\n" in text
    listed = (sources / "c63.egg-info" / "SOURCES.txt").read_text().split()
    for path in (ROOT / "python" / "c63").iterdir():
        if path.suffix in (".py", ".pyi", ".typed"):
            assert f"python/c63/{path.name}" in listed
    assert {"CMakeLists.txt", "setup.py", "python/CMakeLists.txt", "python/src/module.cpp"} <= set(listed)
