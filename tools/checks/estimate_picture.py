"""Draws motion estimators by speed and by what they find, as an SVG for light and dark pages."""

import math

WIDTH, LEFT, RIGHT, TOP, ROW = 880, 310, 220, 92, 30

STYLE = """
  svg { font: 14px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4; --own: #0b63c5; --other: #8c959f; }
  @media (prefers-color-scheme: dark) { svg { --ink: #e6e9ee; --soft: #9aa4b2; --line: #333b46; --own: #6aa9f4; --other: #6b7684; } }
  text { fill: var(--ink); } .soft { fill: var(--soft); font-size: 12px; } .title { font-size: 16px; font-weight: 600; } .value { font-weight: 600; }
  line { stroke: var(--line); } .own { stroke: var(--own); } .other { stroke: var(--other); }
"""


def by_estimator(result):
    """Returns the rows of each estimator, by clip, in the order of the file."""
    found = {}
    for row in result["results"]:
        found.setdefault(row["estimator"], {})[row["clip"]] = row
    return found


def of_clips(rows, key, form):
    """Returns a figure of each clip, such as 1.00 / 1.08 / 1.02."""
    return " / ".join(form.format(row[key]) for row in rows.values())


def speed(rows):
    """Returns the mean time of a frame over the clips, as frames a second."""
    return len(rows) / sum(1 / row["frames_per_s"] for row in rows.values())


def machine(result):
    return f"{result['cpu']}, {result['logical_cpus']} CPUs" if "logical_cpus" in result else result["cpu"]


def by_cpu(result):
    """Returns true if CPU time was measured for all. Speeds are then frames per second of CPU time, which other programs
    disturb less."""
    return all(row.get("cpu_seconds_per_frame") for row in result["results"])


def cpu_speed(rows):
    """Returns the same as speed() for CPU time."""
    return len(rows) / sum(row["cpu_seconds_per_frame"] for row in rows.values())


def number(value):
    digits = max(0, 1 - math.floor(math.log10(value)))
    return f"{value:,.{digits}f}" if value < 100 else f"{float(f'{value:.3g}'):,.0f}"


def picture(result):
    rate = cpu_speed if by_cpu(result) else speed
    rows = sorted(by_estimator(result).items(), key=lambda entry: -rate(entry[1]))
    low = math.floor(math.log10(min(rate(each) for _, each in rows)))
    high = math.ceil(math.log10(max(rate(each) for _, each in rows)))
    scale = (WIDTH - LEFT - RIGHT) / (high - low)
    height = TOP + ROW * len(rows) + 26

    def at(value):
        return LEFT + (math.log10(value) - low) * scale

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
           'aria-label="Frames a second of motion estimators">',
           f"<style>{STYLE}</style>",
           f'<text class="title" x="8" y="24">Motion of {result["size"]} video: frames a second{" of CPU time" if by_cpu(result) else ""}</text>',
           f'<text class="soft" x="8" y="44">{machine(result)}. SAD: sum of absolute differences; that of c63 is 1.</text>',
           '<text class="soft" x="8" y="60">Near: vectors less than half a sample from the truth. Both are means of three videos.</text>']
    for power in range(low, high + 1):
        x = at(10 ** power)
        out += [f'<line x1="{x:.1f}" y1="{TOP - 12}" x2="{x:.1f}" y2="{height - 22}"/>',
                f'<text class="soft" x="{x:.1f}" y="{height - 8}" text-anchor="middle">{10.0 ** power:,g}</text>']
    for i, (name, clips) in enumerate(rows):
        y, value = TOP + ROW * i + 8, rate(clips)

        def mean(key):
            return sum(row[key] for row in clips.values()) / len(clips)

        kind = "own" if name.startswith("c63") else "other"
        out += [f'<text x="8" y="{y + 5}">{name.removesuffix(", frames on the device")}</text>',
                f'<line class="{kind}" stroke-width="8" stroke-linecap="round" x1="{LEFT}" y1="{y}" x2="{at(value):.1f}" y2="{y}"/>',
                f'<text x="{at(value) + 12:.1f}" y="{y + 5}"><tspan class="value">{number(value)}</tspan>'
                f'<tspan class="soft" dx="8">SAD {mean("sad_of_exact"):.2f}, near {100 * mean("share_within_half_a_sample"):.0f} %</tspan></text>']
    return "\n".join(out) + "\n</svg>\n"
