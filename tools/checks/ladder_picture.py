"""Draws the ladder of motion search as an SVG, from scalar code on a CPU to elimination on a GPU, for light and dark
pages."""

import math

STEPS = (
    ("textbook", "textbook kernel", "one thread per candidate, byte by byte"),
    ("packed", "packed", "four differences per instruction"),
    ("tile", "tile", "32 candidates per thread, in registers"),
    ("fast", "fast", "warps stay, windows are fetched ahead"),
    ("eliminate", "elimination", "sums rule out most candidates"),
)
SIZE, CONTENT, JOBS = "352x288", "natural", 8

WIDTH, LEFT, RIGHT, TOP, ROW = 880, 320, 180, 74, 46
LOW, HIGH = 0, 5  # exponents of ten of the axis, in microseconds

STYLE = """
  svg { font: 14px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4; --cpu: #c2410c; --gpu: #0b63c5; }
  @media (prefers-color-scheme: dark) { svg { --ink: #e6e9ee; --soft: #9aa4b2; --line: #333b46; --cpu: #fb923c; --gpu: #6aa9f4; } }
  text { fill: var(--ink); } .soft { fill: var(--soft); font-size: 12px; } .title { font-size: 16px; font-weight: 600; } .value { font-weight: 600; }
  line { stroke: var(--line); } .cpu { stroke: var(--cpu); fill: var(--cpu); } .gpu { stroke: var(--gpu); fill: var(--gpu); }
"""


def steps(gpu, cpu):
    """Returns (label, description, microseconds, kind) of each step."""
    kernels = {(k["kernel"], k["level"]): k["microseconds"]["median"] for k in cpu["kernels"]["kernels"]}
    found = {entry["kernel"]: entry["us_per_frame"]["median"] for entry in gpu["bench_me"]["results"]
             if (entry["size"], entry["content"], entry["jobs"]) == (SIZE, CONTENT, JOBS)}
    rows = [("CPU, scalar", "like the course's code, one thread", kernels["search full-brute", "scalar"], "cpu"),
            ("CPU, AVX-512", "one thread", kernels["search full-brute", "avx512"], "cpu")]
    return rows + [(label, what, found[name], "gpu") for name, label, what in STEPS]


def number(value):
    """Returns the value with three significant digits and commas between thousands."""
    digits = max(0, 2 - math.floor(math.log10(value)))
    return f"{round(value, digits):,.{digits}f}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"


def picture(gpu, cpu):
    rows = steps(gpu, cpu)
    first = rows[0][2]
    height = TOP + ROW * len(rows) + 30
    scale = (WIDTH - LEFT - RIGHT) / (HIGH - LOW)

    def at(microseconds):
        return LEFT + (math.log10(microseconds) - LOW) * scale

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
           f'aria-label="Microseconds of motion estimation, from {number(first)} on a CPU to {number(rows[-1][2])} on a GPU">',
           f"<style>{STYLE}</style>",
           f'<text class="title" x="8" y="24">Motion estimation of a {SIZE} frame: full search, ±16, made {number(first / rows[-1][2])} times as fast</text>',
           f'<text class="soft" x="8" y="44">{gpu["gpu"]}, {JOBS} frames of made content a launch; {cpu["machine"]["cpu"]}, foreman. All find the same '
           "first minimum. Each line is ten times the one before.</text>"]
    for power in range(LOW, HIGH + 1):
        x = at(10 ** power)
        out += [f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{height - 24}"/>',
                f'<text class="soft" x="{x:.1f}" y="{height - 8}" text-anchor="middle">{10 ** power:,} µs</text>']
    for i, (label, what, microseconds, kind) in enumerate(rows):
        y, x = TOP + ROW * i + 14, at(microseconds)
        out += [f'<text x="8" y="{y}">{label}</text>', f'<text class="soft" x="8" y="{y + 17}">{what}</text>',
                f'<line class="{kind}" stroke-width="8" stroke-linecap="round" x1="{LEFT}" y1="{y}" x2="{x:.1f}" y2="{y}"/>',
                f'<text class="value" x="{x + 12:.1f}" y="{y + 5}">{number(microseconds)} µs</text>',
                f'<text class="soft" x="{x + 12:.1f}" y="{y + 21}">{number(1e6 / microseconds)} frames/s, {number(first / microseconds)}×</text>']
    return "\n".join(out) + "\n</svg>\n"
