# %% [markdown]
# # Rate and distortion
#
# Fewer bits or a better picture: every decision of an encoder trades one for the other. Here you measure the trade.
# %%
import csv, io, json, pathlib, shutil, subprocess, tempfile
import matplotlib.pyplot as plt
import numpy as np

work = pathlib.Path(tempfile.mkdtemp(prefix="c63-notebook-"))

def run(*words):
    """Runs a program; what it prints. Its error ends the cell."""
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout

WIDTH, HEIGHT, FRAMES = 176, 144, 12
video = work / "video.yuv"
run("c63gen", "--quiet", "--pattern", "natural", "-w", WIDTH, "-h", HEIGHT, "-f", FRAMES, video)

def encode(*options):
    """Encodes; the stream, bits a sample, and PSNR of luma."""
    stream = work / ("_".join(str(word).strip("-") for word in options) + ".c63")
    run("c63enc", "--quiet", "--backend", "cpu", "-w", WIDTH, "-h", HEIGHT, *options, video, stream)
    figures = json.loads(run("c63cmp", "--quiet", "--no-ssim", "--json", "-", "-w", WIDTH, "-h", HEIGHT, video, stream))
    return stream, 8 * stream.stat().st_size / (WIDTH * HEIGHT * FRAMES), figures["videos"][0]["psnr_y_db"]
# %% [markdown]
# ## The curve
#
# In this codec a larger qp is finer: quantizers are divided by qp / 10. So a smaller qp leaves fewer bits. Each preset is a curve of its own: a curve further up and to the left is better.
# %%
QPS = (25, 18, 13, 9, 6)  # finer to coarser
curves = {}
for preset in ("reference", "fast", "good"):
    curves[preset] = [encode("--preset", preset, "-q", qp) for qp in QPS]
plt.figure(figsize=(8, 5))
for preset, points in curves.items():
    plt.plot([rate for _, rate, _ in points], [quality for _, _, quality in points], "o-", label=preset)
plt.xlabel("bits a sample of luma"); plt.ylabel("PSNR of luma, dB"); plt.legend(); plt.grid(alpha=0.3); plt.show()
for points in curves.values():
    assert all(a[1] > b[1] and a[2] > b[2] for a, b in zip(points, points[1:])), "a smaller qp takes fewer bits and is worse"
# %% [markdown]
# ## How far apart are two curves?
#
# The Bjøntegaard delta: the mean distance of the curves in log rate, over the range of PSNR that they share.
# %%
def bd_rate(base, other):
    """Percent of bits that the other needs more at equal PSNR, by straight lines between the points."""
    (r0, q0), (r1, q1) = ([np.array(v) for v in zip(*sorted((q, np.log(r)) for _, r, q in points))][::-1] for points in (base, other))
    shared = np.linspace(max(q0.min(), q1.min()), min(q0.max(), q1.max()), 200)
    return 100 * (np.exp((np.interp(shared, q1, r1) - np.interp(shared, q0, r0)).mean()) - 1)

for preset in ("fast", "good"):
    delta = bd_rate(curves["reference"], curves[preset])
    print(f"{preset}: {delta:+.1f} % of bits at equal PSNR")
    assert delta < 0
# %% [markdown]
# ## Where bits go
#
# Vectors, levels, and the rest: headers, padding. Which part grows when the picture gets better?
# %%
shares = []
for stream, _, _ in curves["reference"]:
    rows = list(csv.DictReader(io.StringIO(run("c63mv", "--quiet", stream, "--format", "csv", "-o", "-"))))
    vectors, levels = (sum(int(row[key]) for row in rows) for key in ("vector_bits", "coefficient_bits"))
    total = 8 * stream.stat().st_size
    shares.append((vectors / total, levels / total, 1 - (vectors + levels) / total))
shares = np.array(shares) * 100
assert (shares > 0).all()
bottom = np.zeros(len(QPS))
plt.figure(figsize=(8, 4))
for part, name in zip(shares.T, ("vectors", "levels", "headers and padding")):
    plt.bar([str(qp) for qp in QPS], part, bottom=bottom, label=name)
    bottom += part
plt.xlabel("qp"); plt.ylabel("% of all bits"); plt.legend(loc="lower right"); plt.show()
# %% [markdown]
# ## λ: the exchange rate
#
# If an encoder could choose anything, it would choose what has the smallest D + λ R. So λ is the slope of its curve: how much squared error one more bit removes.
# %%
points = curves["reference"]
rate = np.array([r for _, r, _ in points]); error = np.array([255 ** 2 / 10 ** (q / 10) for _, _, q in points])
slope = -(error[:-1] - error[1:]) / (rate[:-1] - rate[1:])
for a, b, one in zip(QPS, QPS[1:], slope):
    print(f"between qp {a} and {b}: λ = {one:.1f} squared levels for a bit")
steps = [160 / np.sqrt(a * b) for a, b in zip(QPS, QPS[1:])]  # the quantizer of DC in luma: 16 / (qp / 10)
plt.figure(figsize=(7, 4)); plt.loglog(steps, slope, "o-")
plt.xlabel("quantizer of DC"); plt.ylabel("λ"); plt.grid(alpha=0.3, which="both"); plt.show()
assert (slope > 0).all()
# %% [markdown]
# ## One block
#
# Take a block's levels nearer to zero, one after another from the end. Each step saves bits and adds error. With λ from above, where do you stop?
# %%
def cosines():
    r, i = np.mgrid[:8, :8]
    return np.cos((2 * r + 1) * i * np.pi / 16) * np.where(i == 0, np.sqrt(1 / 8), 1 / 2)

ZIGZAG = sorted(range(64), key=lambda p: (p // 8 + p % 8, (p // 8) if (p // 8 + p % 8) % 2 else -(p // 8)))
T = cosines()
frame = np.fromfile(video, np.uint8, WIDTH * HEIGHT).reshape(HEIGHT, WIDTH).astype(float)
block = frame[48:56, 64:72] - 128
step = 18.0
levels = np.round((T.T @ block @ T) / step).ravel()[ZIGZAG]

def cost(values):
    """Squared error, and about how many bits: for each level its size twice, and for each zero before it a little."""
    full = np.zeros(64); full[ZIGZAG] = values * step
    error = ((T @ full.reshape(8, 8) @ T.T - block) ** 2).sum()
    last = np.flatnonzero(values).max(initial=-1) + 1
    return error, sum(2 * np.ceil(np.log2(abs(v) + 1)) + 1 if v else 0.7 for v in values[:last])

steps, values = [cost(levels)], levels.copy()
for k in range(63, -1, -1):
    if values[k]:
        values[k] = 0
        steps.append(cost(values))
error, bits = np.array(steps).T
assert (np.diff(error) >= -1e-6).all() and (np.diff(bits) < 0).all()
lam = step ** 2 / 6
best = np.argmin(error + lam * bits)
plt.figure(figsize=(7, 4)); plt.semilogy(bits, error, "o-"); plt.plot(bits[best], error[best], "r*", markersize=15)
plt.xlabel("bits, about"); plt.ylabel("squared error"); plt.title(f"dropping levels from the end; best at λ = {lam:.0f}: {best} dropped"); plt.show()
# %% [markdown]
# ## Questions
#
# 1. Why is the share of headers so large at qp 6? Which of them are needed?
# 2. Is λ proportional to the quantizer or to its square? What would theory say?
# 3. `c63enc --help` lists the decisions of the presets. Switch them on one by one. Which is worth most on this video?
# %%
shutil.rmtree(work)
