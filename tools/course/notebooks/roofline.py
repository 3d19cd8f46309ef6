# %% [markdown]
# # The roofline of your machine
#
# A loop is bound by memory or by instructions. The roofline shows by which, and how far it is from the bound.
#
# This notebook measures your CPU with `c63bench`. If there is a GPU, it measures that as well.
# %%
import csv, io, json, pathlib, shutil, subprocess, tempfile
import matplotlib.pyplot as plt
import numpy as np

work = pathlib.Path(tempfile.mkdtemp(prefix="c63-notebook-"))

def run(*words):
    """Runs a program; what it prints. Its error ends the cell."""
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout

if shutil.which("c63bench") is None:
    raise SystemExit("c63bench is not on the PATH: build c63 with C63_BENCHMARKS, or install it")
run("c63bench", "cpu", "-w", 352, "-h", 288, "--rounds", 3, "--json", work / "cpu.json")
cpu = json.loads((work / "cpu.json").read_text())
kernels = {(k["kernel"], k["level"]): k["per_clock"]["median"] for k in cpu["results"]}
clock = cpu["clock_ghz"]
print(f"the clock runs at {clock:.2f} GHz; {len(kernels)} kernels measured")
# %% [markdown]
# ## The flat roof: instructions
#
# How many absolute differences of bytes can one core make in a clock, by instruction set?
# %%
roofs = {name: value for (name, level), value in kernels.items() if level == "ceiling" and "sadbw" in name}
for name, value in roofs.items():
    print(f"{name:<24}{value:6.1f} a clock {value * clock:8.1f} G/s")
roof = max(roofs.values()) * clock if roofs else None  # G differences a second
assert roof is None or roof > 0
# %% [markdown]
# ## The slanted roof: memory
#
# How many bytes a second come from main memory, and from the caches? Sums over arrays of growing size show where each cache ends.
# %%
import time

def bandwidth(size, seconds=0.03):
    """GB/s of a sum over an array of 64-bit words."""
    data = np.ones(size // 8, np.int64)
    data.sum()
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        data.sum()
        count += 1
    return count * data.nbytes / (time.perf_counter() - began) / 1e9

sizes = [1 << n for n in range(15, 28, 2)]
rates = [max(bandwidth(size) for _ in range(3)) for size in sizes]
plt.figure(figsize=(7, 4)); plt.semilogx(sizes, rates, "o-", base=2)
plt.xlabel("bytes of the array"); plt.ylabel("GB/s"); plt.ylim(bottom=0); plt.grid(alpha=0.3); plt.show()
memory = rates[-1]
print(f"from main memory: {memory:.1f} GB/s; numpy adds on one core, so this is a lower bound of what the machine can do")
assert memory > 0
# %% [markdown]
# ## Where the search lies
#
# A frame of 352x288 has 101,376 samples of luma. Each is read once from memory at best, and takes part in nearly 1,000 differences. That is far to the right: memory cannot be the bound.
# %%
samples = 352 * 288
differences = cpu["candidates_per_block"]["all"] * samples  # a frame: 64 for each candidate of each block
intensity = differences / (2 * samples)                      # the frame and its reference, each read once
searches = {f"{level}": value * clock for (name, level), value in kernels.items() if name == "search full-brute"}
eliminating = {f"{level}, eliminate": value * clock for (name, level), value in kernels.items() if name == "search full-eliminate"}
x = np.logspace(-2, 4, 200)
plt.figure(figsize=(9, 5.5))
if roof:
    plt.loglog(x, np.minimum(roof, memory * x), "k-", label="roof: one core, main memory")
for marker, group in (("o", searches), ("^", eliminating)):
    for name, value in group.items():
        plt.loglog(intensity, value, marker, label=f"{name}: {value:.2f} G/s")
plt.xlabel("differences a byte from memory"); plt.ylabel("G differences a second"); plt.legend(fontsize=8, loc="lower right"); plt.grid(alpha=0.3, which="both"); plt.show()
print(f"{intensity:.0f} differences a byte; the roof bends at {roof / memory:.1f}" if roof else "no ceiling of differences was measured here")
assert intensity > 100 and max(searches.values()) > min(searches.values())
# %% [markdown]
# ## A GPU as well
#
# The same figure for the motion kernels of `guides/course.md`. Without a GPU, the next cell says so.
# %%
def gpu_figures():
    """What c63bench says of the first GPU's kernels, or why it does not."""
    file = work / "gpu.json"
    tried = subprocess.run(["c63bench", "me", "--sizes", "1920x1080", "--json", str(file)], capture_output=True, text=True)
    return (json.loads(file.read_text()), None) if tried.returncode == 0 else (None, tried.stderr.strip().splitlines()[-1:])

gpu, reason = gpu_figures()
if gpu is None:
    print("no GPU is measured here:", *reason)
else:
    ceiling = 4 * gpu["absdiff4_ceiling_per_s"] / 1e9
    found = {row["kernel"]: row["absdiff_per_s"] / 1e9 for row in gpu["results"] if row["size"] == "1920x1080" and row["content"] == "natural"}
    plt.figure(figsize=(9, 4)); plt.barh(list(found), list(found.values())); plt.axvline(ceiling, color="k"); plt.xscale("log")
    plt.xlabel("G differences a second"); plt.title(f"{gpu['device']}; the line is the ceiling"); plt.show()
    assert max(found.values()) > 0
# %% [markdown]
# ## Questions
#
# 1. At which size does the bandwidth fall, and which cache is full then (`lscpu -C`)?
# 2. Which share of the roof does each search reach? Why may elimination lie above the roof?
# 3. Where does the transform lie? Estimate its operations a byte first, then measure: kernel `transform_quantize`.
# %%
shutil.rmtree(work)
