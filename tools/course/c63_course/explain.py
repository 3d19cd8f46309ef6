"""Explains why a stream is wrong: the first frame and block that differ, and the usual cause of such a difference."""

import contextlib
import csv
import io
import json
import pathlib

from .programs import CourseError, call

HINTS = {
    "tie": "Both have the same sum. The first in raster order wins: compare with <, row by row from the top, left to right.",
    "missed": "The search missed a smaller sum: is the whole range covered, and are the bounds right at the edges?",
    "outside": "Its sum is smaller than any that the search may find: it lies outside the window, or the reference is "
    "another picture.",
    "levels": "The vectors agree up to here, so transform or quantization differ. A fused multiply-add rounds differently: "
    "build with "
    "-ffp-contract=off, and with -fmad=false for nvcc. So do a reciprocal instead of a division, and another order of sums.",
    "codes": "Vectors and levels agree, so the codes or the headers differ.",
}


def blocks_of(stream, source, frames):
    """Returns a row for each block of the first `frames` frames: what c63mv prints. SADs compare with the source's samples."""
    text = call("c63mv", "--quiet", "-f", frames, stream, "--source", source, "--format", "csv", "-o", "-")
    return list(csv.DictReader(io.StringIO(text.decode())))


def share_of(stream, sequence, vector):
    """Returns the share of the luma blocks with a vector that have this one."""
    rows = blocks_of(stream, sequence.source, sequence.frames)
    inside = [(int(row["mv_x"]), int(row["mv_y"])) for row in rows if row["plane"] == "Y" and row["inter"] == "1"]
    return inside.count(vector) / max(1, len(inside))


def planes_of(video, width, height, frame):
    luma, chroma = width * height, width * height // 4
    start = frame * (luma + 2 * chroma)
    ends = [start, start + luma, start + luma + chroma, start + luma + 2 * chroma]
    return [video[first:end] for first, end in zip(ends, ends[1:])]


def difference(a, b):
    """Returns the mean absolute difference of two planes."""
    return sum(abs(x - y) for x, y in zip(a, b)) / max(1, min(len(a), len(b)))


def look_of(decoded, expected, width, height):
    """Describes mistakes that a viewer would see at once. Returns None if the picture looks right."""
    frames = min(len(decoded), len(expected)) // (width * height * 3 // 2)
    if frames == 0:
        return None
    mine, theirs = planes_of(decoded, width, height, frames - 1), planes_of(expected, width, height, frames - 1)
    luma, chroma = difference(mine[0], theirs[0]), max(difference(mine[p], theirs[p]) for p in (1, 2))
    if luma < 3 and chroma > 4:
        swapped = max(difference(mine[1], theirs[2]), difference(mine[2], theirs[1])) < chroma / 2
        return "The luma is right and the colours are not: " + (
            "U and V are swapped." if swapped else "people look pink or green."
        )
    if luma < 3:
        return None
    shifts = {}
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            rows = range(max(0, dy), min(height, height + dy), 3)
            columns = slice(max(0, dx), min(width, width + dx))
            back = slice(max(0, -dx), min(width, width - dx))
            shifts[dy, dx] = sum(
                difference(
                    mine[0][y * width : (y + 1) * width][columns], theirs[0][(y - dy) * width : (y - dy + 1) * width][back]
                )
                for y in rows
            ) / len(rows)
    (dy, dx), least = min(shifts.items(), key=lambda item: item[1])
    if (dy, dx) != (0, 0) and least < luma / 3:
        way = [
            f"{abs(n)} {one}{'s' if abs(n) > 1 else ''} {before if n < 0 else after}"
            for n, one, before, after in ((dy, "row", "up", "down"), (dx, "column", "left", "right"))
            if n
        ]
        return f"The picture is right but moved: {' and '.join(way)}."
    return f"The picture is wrong: its luma is off by {luma:.1f} levels on average."


def first_difference(stream, expected, source, frames):
    """Returns a text about the first block in which two streams of `frames` frames differ, and the key of its hint in HINTS.
    Returns None if no block differs."""
    for mine, theirs in zip(blocks_of(stream, source, frames), blocks_of(expected, source, frames)):
        where = f"frame {mine['frame']}, plane {mine['plane']}, block at ({mine['x']}, {mine['y']})"
        if mine["inter"] != theirs["inter"]:
            return f"{where}: has {'a' if mine['inter'] == '1' else 'no'} vector, unlike the course encoder's.", "codes"
        vectors = [f"({row['mv_x']}, {row['mv_y']}) with SAD {row['sad'] or '?'}" for row in (mine, theirs)]
        if (mine["mv_x"], mine["mv_y"]) != (theirs["mv_x"], theirs["mv_y"]):
            a, b = (int(row["sad"] or -1) for row in (mine, theirs))
            kind = "missed" if min(a, b) < 0 or a > b else "tie" if a == b else "outside"
            return f"{where}: vector {vectors[0]} instead of {vectors[1]}.", kind
        if mine["coefficient_bits"] != theirs["coefficient_bits"] or mine["sad"] != theirs["sad"]:
            return f"{where}: levels take {mine['coefficient_bits']} bits instead of {theirs['coefficient_bits']}.", "levels"
        if mine["vector_bits"] != theirs["vector_bits"]:
            return f"{where}: the vector takes {mine['vector_bits']} bits instead of {theirs['vector_bits']}.", "codes"
    return None


def motion_audit(stream, source):
    """Returns the JSON of `c63cmp motion` about all vectors: first difference, suspicions, totals. None if it fails."""
    with contextlib.suppress(CourseError, ValueError):  # it prints nothing about another number of frames
        return json.loads(call("c63cmp", "motion", stream, source, "--quiet", "--json", "-", good=(0, 3)))
    return None


def why_different(stream, expected, sequence, decoded, pictures):
    """Returns lines that say how a decodable stream differs from the expected one."""
    lines = []
    a, b = pathlib.Path(stream).read_bytes(), pathlib.Path(expected).read_bytes()
    size = sequence.frame_bytes
    if len(decoded) != len(pictures):
        lines.append(f"It has {len(decoded) // size} frames instead of {len(pictures) // size}.")
    look = look_of(decoded, pictures, sequence.width, sequence.height)
    if look:
        lines.append(look)
    found = first_difference(stream, expected, sequence.source, min(len(decoded), len(pictures)) // size)
    if found:
        lines += ["First difference: " + found[0], HINTS[found[1]]]
    else:
        at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
        lines.append(f"First difference: byte {at} of {len(b)}.")
        if len(decoded) == len(pictures):
            lines.append(HINTS["levels"] if decoded != pictures else HINTS["codes"])
    audit = motion_audit(stream, sequence.source)
    return lines + [f"The audit of all vectors suspects: {one['text']}" for one in (audit or {}).get("suspicions", [])]
