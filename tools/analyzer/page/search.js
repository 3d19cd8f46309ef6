// The search of one block, step by step. A step is what one instruction, or one look at the sums, decides.

const kOrders = {
  textbook: "one candidate after another, row by row: every SAD is computed",
  packed: "16 neighbouring candidates at once: every SAD is computed, in a sixteenth of the steps",
  elimination: "first likely candidates; then a bound from the sums of the four quarters rules others out before their SAD is computed",
};

/// Computes the search of a block of 8x8 samples at (column, row). `starts` are the vectors that elimination tries first.
function searchOf({ current, reference, width, height }, column, row, range, order, starts = []) {
  const own = { x: 8 * column, y: 8 * row };
  const left = Math.max(0, own.x - range), top = Math.max(0, own.y - range);
  const right = Math.min(own.x + range, width - 8), bottom = Math.min(own.y + range, height - 8);  // not themselves candidates
  const columns = Math.max(0, right - left), rows = Math.max(0, bottom - top);
  const sums = (plane, x, y) => [0, 4, 4 * width, 4 * width + 4].map((quarter) => {
    let sum = 0;
    for (let i = 0; i < 16; ++i) sum += plane[y * width + x + quarter + (i >> 2) * width + (i & 3)];
    return sum;
  });
  const ownSums = sums(current, own.x, own.y);
  const sads = new Uint16Array(columns * rows), bounds = new Uint16Array(columns * rows);
  for (let i = 0; i < sads.length; ++i) {
    const x = left + i % columns, y = top + Math.floor(i / columns);
    for (let k = 0; k < 64; ++k) {
      const at = (k >> 3) * width + (k & 7);
      sads[i] += Math.abs(current[own.y * width + own.x + at] - reference[y * width + x + at]);
    }
    bounds[i] = sums(reference, x, y).reduce((sum, s, q) => sum + Math.abs(s - ownSums[q]), 0);
  }
  const vectorOf = (i) => ({ x: left + i % columns - own.x, y: top + Math.floor(i / columns) - own.y });

  const steps = [], done = new Uint8Array(sads.length);
  let best = -1;
  const attempt = (tried, why) => {
    for (const i of tried) if (best < 0 || sads[i] < sads[best] || sads[i] === sads[best] && i < best) best = i;
    tried.forEach((i) => { done[i] = 1; });
    steps.push({ tried, ruledOut: [], best, why });
  };
  const name = (i) => "(" + vectorOf(i).x + ", " + vectorOf(i).y + ")";
  if (order === "elimination") {
    for (const start of starts) {
      const x = own.x + start.x - left, y = own.y + start.y - top, i = y * columns + x;
      if (x >= 0 && y >= 0 && x < columns && y < rows && !done[i]) attempt([i], "likely candidate " + name(i) + ": SAD " + sads[i]);
    }
  }
  const group = order === "textbook" ? 1 : 16;
  for (let y = 0; y < rows; ++y) for (let x = 0; x < columns; x += group) {
    const all = Array.from({ length: Math.min(group, columns - x) }, (_, i) => y * columns + x + i).filter((i) => !done[i]);
    if (order !== "elimination") {
      attempt(all, all.length === 1 ? "candidate " + name(all[0]) + ": SAD " + sads[all[0]] : "candidates " + name(all[0]) + " to " + name(all[all.length - 1]));
      continue;
    }
    const limit = best < 0 ? Infinity : sads[best], ruledOut = all.filter((i) => bounds[i] > limit);
    if (ruledOut.length) {
      const least = ruledOut.reduce((a, i) => bounds[i] < bounds[a] ? i : a);
      steps.push({ tried: [], ruledOut, best, why: ruledOut.length + " of " + all.length + " ruled out: the SAD of " + name(least) + " is at least " + bounds[least] + ", the best is " + limit });
    }
    for (const i of all) if (bounds[i] <= limit) attempt([i], "candidate " + name(i) + ": its bound " + bounds[i] + " is not above " + limit + ", so its SAD is computed: " + sads[i]);
  }
  return { columns, rows, sads, bounds, steps, best, vectorOf, own, left, top, vector: best < 0 ? { x: 0, y: 0 } : vectorOf(best) };
}

/// Draws the SADs that are known after a number of steps, `cell` pixels for each candidate.
function drawSearch(canvas, search, count, all) {
  const cell = Math.max(4, Math.floor(320 / Math.max(search.columns, search.rows, 1)));
  canvas.width = cell * search.columns;
  canvas.height = cell * search.rows;
  const g = canvas.getContext("2d");
  const peak = search.sads.reduce((a, b) => Math.max(a, b), 1);
  const at = (i) => [cell * (i % search.columns), cell * Math.floor(i / search.columns)];
  g.fillStyle = "#808890";
  g.fillRect(0, 0, canvas.width, canvas.height);
  const fill = (i, colour) => { g.fillStyle = colour; g.fillRect(...at(i), cell, cell); };
  const shade = (i) => fill(i, "rgb(" + heatColour(Math.sqrt(search.sads[i] / peak)) + ")");
  if (all) search.sads.forEach((_, i) => shade(i));
  let computed = 0, ruledOut = 0;
  for (const step of search.steps.slice(0, count)) {
    step.tried.forEach(shade);
    if (!all) step.ruledOut.forEach((i) => fill(i, "#c9d1d9"));
    computed += step.tried.length;
    ruledOut += step.ruledOut.length;
  }
  const outline = (i, colour, wide) => { g.strokeStyle = colour; g.lineWidth = wide; g.strokeRect(at(i)[0] + wide / 2, at(i)[1] + wide / 2, cell - wide, cell - wide); };
  const step = search.steps[count - 1];
  if (step) {
    for (const i of [...step.tried, ...step.ruledOut]) outline(i, "#ffffff", 1);
    if (step.best >= 0) outline(step.best, "#22c55e", 3);
  }
  return { computed, ruledOut };
}
