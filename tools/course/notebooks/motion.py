# %% [markdown]
# # Motion by eye
#
# An encoder asks for each block of 8x8 samples: where was this in the previous picture? Here you see the answers, and how they are found.
#
# Run the cells from the top. All of it runs on the CPU; a GPU finds the same vectors.
# %%
import csv, io, json, pathlib, shutil, subprocess, tempfile
import matplotlib.pyplot as plt
import numpy as np

work = pathlib.Path(tempfile.mkdtemp(prefix="c63-notebook-"))

def run(*words):
    """Runs a program; what it prints. Its error ends the cell."""
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout

WIDTH, HEIGHT, FRAMES = 176, 144, 4

def planes(path, frame):
    """The Y plane of a frame of a raw video."""
    size = WIDTH * HEIGHT * 3 // 2
    samples = np.fromfile(path, np.uint8, WIDTH * HEIGHT, offset=frame * size)
    return samples.reshape(HEIGHT, WIDTH).astype(int)
# %% [markdown]
# ## A video with known motion
#
# `c63gen` makes it, and writes down where everything moved. Change the pattern: `pan`, `zoom`, `rotate`, `objects`, `natural`.
# %%
video, truth = work / "video.yuv", work / "truth.csv"
run("c63gen", "--quiet", "--pattern", "objects", "-w", WIDTH, "-h", HEIGHT, "-f", FRAMES, "--truth", truth, video)
stream = work / "video.c63"
run("c63enc", "--quiet", "--backend", "cpu", "-w", WIDTH, "-h", HEIGHT, video, stream)
rows = list(csv.DictReader(io.StringIO(run("c63mv", "--quiet", stream, "--source", video, "--format", "csv", "-o", "-"))))
luma = [row for row in rows if row["plane"] == "Y"]
print(len(luma), "blocks of luma in", FRAMES, "frames")
luma[-1]
# %% [markdown]
# ## The vectors over the picture
#
# An arrow begins where a block is, and ends where it was. Where do arrows make no sense? Look at flat areas: there many places fit equally well.
# %%
FRAME = 2
blocks = [row for row in luma if int(row["frame"]) == FRAME]
x, y, dx, dy = (np.array([int(row[key]) for row in blocks]) for key in ("x", "y", "mv_x", "mv_y"))
plt.figure(figsize=(9, 7.4))
plt.imshow(planes(video, FRAME), cmap="gray")
plt.quiver(x + 4, y + 4, dx, dy, np.hypot(dx, dy), angles="xy", scale_units="xy", scale=1, width=0.003, cmap="plasma")
plt.title(f"frame {FRAME}: where each block was")
plt.axis("off"); plt.show()
# %% [markdown]
# ## One block: the landscape of its sums
#
# The sum of absolute differences (SAD) for every position that the encoder tries. The search is the walk to the lowest point. The encoder does not walk: it looks everywhere.
#
# The reference is what the decoder has, not the original picture.
# %%
decoded = work / "decoded.yuv"
run("c63dec", "--quiet", "--backend", "cpu", stream, decoded)

def landscape(frame, x, y, reach=16):
    """SAD by vector; positions that the encoder does not try are not a number. The bounds at the right and below are exclusive."""
    source, reference = planes(video, frame), planes(decoded, frame - 1)
    block = source[y:y + 8, x:x + 8]
    sums = np.full((2 * reach, 2 * reach), np.nan)
    for py in range(max(0, y - reach), min(HEIGHT - 8, y + reach)):
        for px in range(max(0, x - reach), min(WIDTH - 8, x + reach)):
            sums[py - y + reach, px - x + reach] = np.abs(reference[py:py + 8, px:px + 8] - block).sum()
    return sums

textured = max(blocks, key=lambda row: planes(video, FRAME)[int(row["y"]):int(row["y"]) + 8, int(row["x"]):int(row["x"]) + 8].std())
bx, by = int(textured["x"]), int(textured["y"])
sums = landscape(FRAME, bx, by)
plt.figure(figsize=(7, 5.6))
plt.imshow(sums, extent=(-16.5, 15.5, 15.5, -16.5), cmap="viridis")
plt.colorbar(label="SAD")
plt.plot(int(textured["mv_x"]), int(textured["mv_y"]), "r+", markersize=14)
plt.title(f"block at ({bx}, {by}): the encoder chose ({textured['mv_x']}, {textured['mv_y']}), SAD {textured['sad']}")
plt.xlabel("vector, x"); plt.ylabel("vector, y"); plt.show()
# %% [markdown]
# The lowest point is the encoder's vector, for every block. If two are equally low, the first in raster order wins: `nanargmin` takes that one, too.
# %%
for row in blocks[::7]:
    sums = landscape(FRAME, int(row["x"]), int(row["y"]))
    lowest = np.unravel_index(np.nanargmin(sums), sums.shape)
    assert (lowest[1] - 16, lowest[0] - 16) == (int(row["mv_x"]), int(row["mv_y"])), row
print("all of", len(blocks[::7]), "blocks agree")
# %% [markdown]
# `c63cmp motion` does the same for all blocks of a stream, of any encoder. Use it on your own.
# %%
print(run("c63cmp", "motion", stream, video))
# %% [markdown]
# ## Right vectors and true motion
#
# The smallest sum is not always the true motion. How often does it agree with what `c63gen` wrote down?
# %%
print(run("c63mv", "--quiet", stream, "--truth", truth))
# %% [markdown]
# ## A search that walks
#
# A diamond search follows the slope. It takes few steps, and stops in the first hollow. Find a block where that goes wrong, and look at its landscape.
# %%
def diamond(sums):
    """Walks downhill from the zero vector. Returns the vector and how many sums it looked at."""
    here, seen = (16, 16), {(16, 16)}
    value = lambda p: np.inf if not (0 <= p[0] < 32 and 0 <= p[1] < 32) or np.isnan(sums[p]) else sums[p]
    while True:
        around = [(here[0] + a, here[1] + b) for a, b in ((0, 0), (-1, 0), (0, -1), (0, 1), (1, 0))]
        seen.update(around)
        best = min(around, key=value)
        if best == here:
            return (here[1] - 16, here[0] - 16), len(seen)
        here = best

found, looked, missed = 0, 0, None
sample = blocks[::5]
for row in sample:
    sums = landscape(FRAME, int(row["x"]), int(row["y"]))
    vector, seen = diamond(sums)
    looked += seen
    lowest = np.nanmin(sums)
    if np.nan_to_num(sums[vector[1] + 16, vector[0] + 16], nan=np.inf) == lowest:
        found += 1
    elif missed is None:
        missed = (row, vector)
print(f"{found} of {len(sample)} blocks found, with {looked / len(sample):.0f} sums a block instead of {np.isfinite(sums).sum()} at most")
print("one that was missed:", missed and (missed[0]["x"], missed[0]["y"], missed[1], (missed[0]["mv_x"], missed[0]["mv_y"])))
# %% [markdown]
# ## Questions
#
# 1. On which pattern does the diamond search miss most? Why?
# 2. Give it more starts: the vectors of neighbours. How many blocks does it find now?
# 3. Draw the landscape of a flat block and of a striped one. What do they tell about vectors there?
# %%
shutil.rmtree(work)
