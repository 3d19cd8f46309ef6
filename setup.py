"""Builds the native part of the Python package with CMake; pyproject.toml has the rest."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).parent


class CMakeBuild(build_ext):
    """Configures and builds the target c63_python for the Python that runs this, and copies the modules."""

    def build_extension(self, extension):
        if shutil.which("cmake") is None:
            sys.exit("c63: there is no cmake (Debian: cmake)")
        folder = pathlib.Path(self.build_temp).resolve()
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DC63_PYTHON=ON", "-DC63_TOOLS=OFF", "-DC63_TESTS=OFF", "-DC63_INSTALL=OFF"]
        options.append("-DCMAKE_UNITY_BUILD=ON")  # takes half the time
        options.append(f"-DC63_PYTHON_FOR={sys.executable}")
        if importlib.util.find_spec("pybind11"):
            import pybind11

            options.append(f"-Dpybind11_DIR={pybind11.get_cmake_dir()}")
        if shutil.which("ninja"):
            options.append("-GNinja")
        options += os.environ.get("CMAKE_ARGS", "").split()
        self.run_cmake("-S", str(ROOT), "-B", str(folder), *options)
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
        self.run_cmake("--build", str(folder), "--target", "c63_python_package", "--parallel", jobs)
        to = pathlib.Path(self.get_ext_fullpath(extension.name)).parent
        to.mkdir(parents=True, exist_ok=True)
        package = folder / "python" / "c63"
        # _c63, libc63_ffmpeg if FFmpeg is there, and what the build makes of the table of options
        libraries = list(package.glob("*.so*"))
        self.check_links(libraries)
        for file in [*libraries, package / "_options.py"]:
            shutil.copy2(file, to)

    @staticmethod
    def check_links(libraries):
        """Every library that the package needs is in it, or part of each Debian, or FFmpeg's, which only films need."""
        own = {library.name for library in libraries}
        for library in libraries:
            said = subprocess.run(["readelf", "-d", library], text=True, capture_output=True, check=True).stdout
            for needed in set(re.findall(r"\(NEEDED\).*\[(.*)\]", said)) - own:
                ffmpeg = library.name.startswith("libc63_ffmpeg") and re.match(r"lib(av|sw)\w+\.so", needed)
                if not ffmpeg and not re.match(r"(lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)|ld-linux[\w-]*)\.so\.", needed):
                    sys.exit(f"c63: {library.name} needs {needed}, which is not in the wheel")

    @staticmethod
    def run_cmake(*arguments):
        if subprocess.run(["cmake", *arguments]).returncode != 0:
            sys.exit("c63: CMake failed; what is missing is named above")


has_wheel = any(importlib.util.find_spec(name) for name in ("wheel", "setuptools.command.bdist_wheel"))
if not has_wheel and {"bdist_wheel", "dist_info"} & set(sys.argv):
    sys.exit(f"c63: {sys.executable} has no package wheel (on Debian, python3-wheel is for /usr/bin/python3)")
version = re.search(r"project\(c63 VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
setup(version=version, ext_modules=[Extension("c63._c63", sources=[])], cmdclass={"build_ext": CMakeBuild})
