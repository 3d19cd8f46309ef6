// The page: what is open, what is shown of it, and what the user does.

const $ = (id) => document.getElementById(id);
const root = document.documentElement;
const kBlock = 8;
const kAgainst = "left \u2212 right";
const kFramesPerSecond = 25;  // a stream has no frame rate
const kModeColours = ["#ff00c8", "#22c55e", "#3b82f6", "#eab308"];
const kKindColours = ["#8c959f", "#d4a72c", "#22a55e", "#a371f7", "#2f7fe0", "#e8743b"];
const kStops = [[12, 8, 38], [82, 16, 110], [160, 42, 99], [224, 92, 62], [251, 165, 36], [252, 250, 180]];
function heatColour(value) {
  const at = Math.min(1, Math.max(0, value)) * (kStops.length - 1), i = Math.min(Math.floor(at), kStops.length - 2);
  return kStops[i].map((low, k) => Math.round(low + (kStops[i + 1][k] - low) * (at - i)));
}
const element = (tag, text, className) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
};
const option = (value, text) => Object.assign(element("option", text), { value });

let streams = [], views = [], frames = [], images = [];
let count = 0, first = 0, video = null, search = null;
const state = { frame: 0, playing: false, searching: false, zoom: 1, x: 0, y: 0, hover: null, kept: null };
const chosen = () => state.kept || state.hover;
function tell(text, bad) { $("message").textContent = text; $("message").className = bad ? "bad" : ""; }

// ---- What is open

/// Shows streams or films, from frame `begin` on unless the address names another; null: the first inter frame.
function show(list, title, begin = null) {
  play(false);
  streams = list;
  [search, frames] = [null, []];
  $("welcome").hidden = true;
  $("work").hidden = false;
  $("search").hidden = true;
  $("progress").textContent = "";
  $("name").textContent = document.title = title || list.map((s) => s.name).join(" and ");
  count = Math.max(...streams.map((s) => s.count));
  [state.kept, state.hover, state.zoom, state.x, state.y] = [null, null, 1, streams[0].width / 2, streams[0].height / 2];
  $("views").replaceChildren();
  views = streams.map((stream) => {
    const view = element("figure", undefined, "view"), canvas = element("canvas");
    canvas.style.aspectRatio = stream.width + " / " + stream.height;
    // As high as the window allows, so that picture and values are visible together.
    const most = "max(18rem, 100vh - 19rem) * " + stream.width / stream.height;
    view.style.maxWidth = "calc(" + most + ")";
    if (streams.length > 1) view.append(element("figcaption", stream.name));
    view.append(canvas);
    $("views").append(view);
    return { canvas, context: canvas.getContext("2d") };
  });
  views.forEach(listen);
  const film = streams.every((s) => s.film), sheared = streams.find((s) => s.coded && s.coded.width % 16);
  fill("show", [...(film ? ["picture"] : kShows), ...(sheared ? [kStraight] : []), ...(streams.length > 1 ? [kAgainst] : [])]);
  fill("heat", ["none", ...(film ? ["SAD"] : ["SAD", "bits", "levels", "mode"])]);
  $("encoder").hidden = film;
  $("number").min = first;
  tell(streams.filter((s) => s.fault).map((s) => s.name + ": " + s.fault).join("; "), true);
  const [frame, block] = ofAddress();
  const inter = streams[0].entries.findIndex((e) => e.type === "inter");
  state.kept = block;
  go(frame !== null ? frame : begin !== null ? begin : Math.max(0, inter));
  countKinds(streams);
}
function fill(id, names) {
  const old = $(id).value;
  $(id).replaceChildren(...names.map((name) => option(name, name)));
  if (names.includes(old)) $(id).value = old;
}

/// Counts the bits of all frames by kind, a few frames at a time, in instances of their own.
async function countKinds(of) {
  for (const stream of of.filter((s) => !s.film)) {
    const counter = await Stream.open(stream.bytes, stream.name);
    for (let n = 0; n < counter.count && streams === of; ++n) {
      try {
        await counter.decode(n);
      } catch (error) {
        Object.assign(stream, { fault: counter.fault, count: counter.count });
        stream.entries.length = counter.count;
        tell(stream.name + ": " + stream.fault, true);
        break;
      }
      stream.kinds[n] = counter.countKinds();
      if (n % 8 === 7) { await pause(); if (n % 64 === 63) drawTimeline(); }
    }
    drawTimeline();
  }
}

const isStream = async (file) => { const [a, b] = new Uint8Array(await file.slice(0, 2).arrayBuffer()); return a === 0xff && b === 0xd8 && !/\.jpe?g$/i.test(file.name); };

/// Opens what was dropped: streams, or videos. A video of a stream's size becomes its original.
async function openFiles(files) {
  const found = [];
  let original = null;
  for (const file of files) {
    try {
      if (await isStream(file) || /\.c63$/i.test(file.name)) found.push(await Stream.open(new Uint8Array(await file.arrayBuffer()), file.name));
      else original = /\.(y4m|yuv|raw|i420)$/i.test(file.name) ? await Original.open(file, (found[0] || streams.find((s) => !s.film) || {}).coded)
                    : await readVideo(file, 300, (n) => tell(file.name + ": frame " + n));
    } catch (error) {
      return tell(file.name + ": " + reason(error).replace(file.name + ": ", ""), true);
    }
  }
  const shown = found.length ? found.slice(0, 2) : streams;
  const coded = shown.filter((s) => !s.film);
  const fits = original && coded.length && original.width === coded[0].coded.width && original.height === coded[0].coded.height;
  if (shown.length === 2 && (shown[0].width !== shown[1].width || shown[0].height !== shown[1].height)) return tell("the two streams differ in size", true);
  if (original) video = original;
  if (fits) coded.forEach((stream) => stream.setOriginal(original));
  if (found.length) {
    if (!original) video = null;
    first = 0;
    show(shown);
  } else if (fits) {
    tell("original: " + original.name);
    go(state.frame);
  } else if (original) {
    await encode(false);
  }
}

async function encode(beside) {
  const coded = streams.find((s) => !s.film), source = video || (coded ? await decodedVideo(coded) : null);
  if (!source) return;
  const qp = Number($("qp").value);
  try {
    const bytes = await encodeVideo(source, { qp }, (n, speed) => { tell("encoding: frame " + n + " of " + source.count + ", " + speed.toFixed(0) + " frames/s"); });
    const stream = await Stream.open(bytes, source.name + ", qp " + qp);
    stream.setOriginal(source);
    first = 0;
    const frame = state.frame;
    show(beside && streams.length ? [streams[0], stream] : [stream]);
    if (beside) go(frame);
    $("progress").textContent = bytes.length.toLocaleString("en") + " bytes";
  } catch (error) {
    tell(source.name + ": " + reason(error), true);
  }
}
/// The decoded pictures of a stream, to be encoded again.
async function decodedVideo(stream) {
  const copy = await Stream.open(stream.bytes, stream.name);
  return { name: stream.name, ...copy.coded, count: copy.count, samples: async (n) => { await copy.decode(n); return copy.samples(); } };
}

// ---- Drawing

/// Returns how samples are mapped to pixels of a view's canvas.
function placing(s) {
  const canvas = views[s].canvas, scale = state.zoom * canvas.width / streams[s].width;
  return { scale, left: canvas.width / 2 - state.x * scale, top: canvas.height / 2 - state.y * scale };
}
const heats = { SAD: (b) => b.mode ? b.sad : null, bits: (b) => b.motionBits + b.bits, levels: (b) => b.levels, mode: (b) => b.mode };
const arrowColour = (warm) => "rgb(" + Math.round(255 * warm) + ",255," + Math.round(80 * (1 - warm)) + ")";

function drawCells(g, stream, colourOf) {
  const pixels = new Uint8ClampedArray(4 * stream.columns * stream.rows);
  for (let i = 0; i < stream.columns * stream.rows; ++i) { const colour = colourOf(i); if (colour) pixels.set(colour, 4 * i); }
  g.imageSmoothingEnabled = false;
  g.drawImage(canvasOf(pixels, stream.columns, stream.rows), 0, 0, stream.columns * kBlock, stream.rows * kBlock);
}
/// Arrows are at least 12 pixels apart, so that they can be distinguished. Returns how many blocks share one arrow, in
/// each direction.
const strideAt = (scale) => Math.max(1, Math.ceil(12 / (kBlock * scale)));
function drawArrows(g, stream, frame, scale) {
  const stride = strideAt(scale), kShades = 8;
  if (stride > 1) drawCells(g, stream, (i) => stream.block(frame, i).mode === 0 && [255, 0, 200, 120]);
  const paths = Array.from({ length: kShades + 1 }, () => new Path2D()), dots = new Path2D(), boxes = new Path2D();
  const dot = Math.max(1.2, 1.5 / scale);
  for (let row = stride >> 1; row < stream.rows; row += stride) for (let column = stride >> 1; column < stream.columns; column += stride) {
    const { x: vx, y: vy, mode } = stream.block(frame, row * stream.columns + column);
    const x = (column + 0.5) * kBlock, y = (row + 0.5) * kBlock, length = Math.hypot(vx, vy);
    if (mode === 0) { if (stride === 1) boxes.rect(x - 3.5, y - 3.5, kBlock - 1, kBlock - 1); continue; }
    if (length === 0) { dots.rect(x - dot / 2, y - dot / 2, dot, dot); continue; }
    const path = paths[Math.round(kShades * Math.min(1, length / 16))];
    const head = Math.min(3, 0.4 * length + 1), ux = vx / length, uy = vy / length;
    path.moveTo(x, y);
    path.lineTo(x + vx, y + vy);
    path.moveTo(x + vx - head * (ux - uy / 2), y + vy - head * (uy + ux / 2));
    path.lineTo(x + vx, y + vy);
    path.lineTo(x + vx - head * (ux + uy / 2), y + vy - head * (uy - ux / 2));
  }
  g.lineWidth = Math.max(0.5, 1.2 / scale);
  paths.forEach((path, shade) => { g.strokeStyle = arrowColour(shade / kShades); g.stroke(path); });
  g.fillStyle = "#bebebe";
  g.fill(dots);
  g.strokeStyle = kModeColours[0];
  g.stroke(boxes);
}
/// Returns the 99th percentile of the shown values, because a few blocks may be far above all others.
function peakOf(heat) {
  const values = [];
  frames.forEach((frame, s) => {
    for (let i = 0; frame.blocks && i < streams[s].columns * streams[s].rows; ++i) values.push(heats[heat](streams[s].block(frame, i)) || 0);
  });
  return Math.max(1, values.sort((a, b) => a - b)[Math.floor(0.99 * (values.length - 1))] || 0);
}

function draw() {
  const heat = $("heat").value, peak = heats[heat] && frames.length ? peakOf(heat) : 1;
  views.forEach(({ canvas, context: g }, s) => {
    const stream = streams[s], frame = frames[s];
    fitToScreen(canvas);
    if (!frame) return;
    const { scale, left, top } = placing(s);
    g.setTransform(scale, 0, 0, scale, left, top);
    g.imageSmoothingEnabled = scale < 2;
    g.globalAlpha = Number($("light").value) / 100;
    g.drawImage(images[s], 0, 0);
    g.globalAlpha = 0.6;
    const hasBlocks = frame.blocks && images[s].width === stream.width;  // not on the straight picture of a sheared stream
    if (hasBlocks && heats[heat] && !(heat === "mode" && frame.entry.type === "key")) {
      drawCells(g, stream, (i) => {
        const value = heats[heat](stream.block(frame, i));
        if (value === null) return null;
        return [...(heat === "mode" ? kModeColours[value].match(/\w\w/g).map((h) => parseInt(h, 16)) : heatColour(Math.sqrt(value / peak))), 255];
      });
    }
    g.globalAlpha = 1;
    if (hasBlocks && $("arrows").checked && frame.entry.type === "inter") drawArrows(g, stream, frame, scale / devicePixelRatio);
    const box = (x, y, w, h, colour) => { g.strokeStyle = colour; g.lineWidth = 2 * devicePixelRatio / scale; g.strokeRect(x, y, w, h); };
    if (chosen()) box(chosen().column * kBlock, chosen().row * kBlock, kBlock, kBlock, "#ffffff");
    if (search && s === 0) box(search.left, search.top, search.columns + 7, search.rows + 7, "#22c55e");
  });
  tellLegend(heat, peak);
  drawTimeline();
}

const legendItem = (background, text, className) => {
  const span = element("span"), mark = element("i", undefined, className);
  mark.style.background = background;
  span.append(mark, text);
  return span;
};
function tellLegend(heat, peak) {
  const items = [], stride = strideAt(placing(0).scale / devicePixelRatio);
  if ($("arrows").checked) {
    items.push(legendItem("linear-gradient(90deg," + arrowColour(0) + "," + arrowColour(1) + ")", "arrow to where a block is predicted from, 1 to 16 samples and more", "scale"),
               legendItem("#bebebe", "zero vector"), legendItem(kModeColours[0], "no vector"));
    if (stride > 1) items.push(element("span", "an arrow every " + stride + " blocks each way; zoom in for all"));
  }
  if (heat === "mode") items.push(...kModes.map((name, mode) => legendItem(kModeColours[mode], name)));
  else if (heats[heat]) items.push(legendItem("linear-gradient(90deg," + kStops.map((c) => "rgb(" + c + ")") + ")", heat + ": 0 to " + peak + ", the root is shown; the end of the scale is the 99th percentile of the frame", "scale"));
  $("legend").replaceChildren(...items);
}

const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();
/// A bar for each frame: its bits by kind, or a film's SAD. With more frames than pixels, a pixel shows the largest of its frames.
function drawTimeline() {
  const canvas = $("timeline"), g = canvas.getContext("2d");
  fitToScreen(canvas);
  const sizeOf = (e) => e.sad === undefined ? 8 * e.bytes : e.sad;
  const band = canvas.height / streams.length, step = canvas.width / count, group = Math.max(1, Math.ceil(1 / step));
  const peak = streams.reduce((most, s) => s.entries.reduce((m, e) => Math.max(m, sizeOf(e)), most), 1);
  streams.forEach((stream, s) => {
    for (let n = 0; n < stream.count; n += group) {
      let largest = n;
      for (let i = n; i < Math.min(stream.count, n + group); ++i) if (sizeOf(stream.entries[i]) > sizeOf(stream.entries[largest])) largest = i;
      let y = (s + 1) * band;
      (stream.kinds[largest] || [sizeOf(stream.entries[largest])]).forEach((bits, k, all) => {
        const tall = (band - 2) * bits / peak;
        g.fillStyle = all.length === 1 ? style("--accent") : kKindColours[k];
        g.fillRect(n * step, y - tall, Math.max(1, group * step - (step > 3 ? 1 : 0)), tall);
        y -= tall;
      });
    }
  });
  g.fillStyle = style("--ink");
  g.fillRect((state.frame + 0.5) * step - 1, 0, 2, canvas.height);
}

// ---- The inspector

const rows = (pairs) => {
  const list = element("dl");
  for (const [name, value] of pairs) list.append(element("dt", name), element("dd", String(value)));
  return list;
};
let told = 0;
async function tellValues() {
  const turn = ++told, block = chosen(), parts = [];
  for (const [s, stream] of streams.entries()) {
    const frame = frames[s];
    if (!frame) continue;
    if (streams.length > 1) parts.push(element("h3", stream.name));
    if (frame.kinds) {
      parts.push(rows([["frame", frame.entry.type + (frame.entry.stays && frame.entry.type === "inter" ? ", same reference" : "")], ["bytes", frame.entry.bytes.toLocaleString("en")]]));
    }
    if (!block) { parts.push(element("p", "Point at a block, or tap it.")); continue; }
    if (!frame.blocks) {
      parts.push(element("p", stream.film ? "This picture has no blocks." : "A repeat: nothing is coded, the picture before it is shown again."));
      continue;
    }
    const at = block.row * stream.columns + block.column, b = stream.block(frame, at);
    const values = [["block at", block.column * kBlock + "," + block.row * kBlock], ["mode", kModes[b.mode]], ["vector", b.mode ? b.x + "," + b.y : "none"], ["SAD", b.mode ? b.sad : "none"]];
    if (!stream.film) values.push(["bits", b.motionBits + " + " + b.bits], ["levels", b.levels + " of 64"]);
    parts.push(rows(values));
    if (stream.film || state.playing) continue;
    const { levels, steps } = await stream.levels(state.frame, at);
    if (turn !== told) return;
    const table = element("table", undefined, "levels");
    table.title = "Levels of the block; pointing at one tells its step";
    for (let y = 0; y < 8; ++y) {
      const row = table.insertRow();
      for (let x = 0; x < 8; ++x) {
        const cell = row.insertCell();
        cell.textContent = levels[8 * y + x];
        cell.title = "step " + steps[8 * y + x];
        if (levels[8 * y + x] !== 0) cell.className = "on";
      }
    }
    parts.push(table);
  }
  $("values").replaceChildren(...parts);
  const counted = frames.filter((frame) => frame.kinds), bits = (k) => counted.map((frame) => frame.kinds[k].toLocaleString("en")).join(" and ");
  $("kinds").replaceChildren(...(counted.length ? kKinds.map((kind, k) => legendItem(kKindColours[k], kind + " " + bits(k))) : []));
  $("watch").disabled = !state.kept || streams[0].film || !frames[0] || frames[0].entry.type !== "inter";
}

// ---- The search of a block

async function watch() {
  const block = state.kept, stream = streams[0];
  if ($("watch").disabled || !block) return;
  const planes = await stream.planes(state.frame);
  if (!planes) return;
  const vectorAt = (column, row) => { const b = column >= 0 && row >= 0 ? stream.block(frames[0], row * stream.columns + column) : null; return b && b.mode ? [{ x: b.x, y: b.y }] : []; };
  const starts = [{ x: 0, y: 0 }, ...vectorAt(block.column - 1, block.row), ...vectorAt(block.column, block.row - 1)];
  search = searchOf(planes, block.column, block.row, Number($("range").value), $("order").value, starts);
  $("search").hidden = false;
  $("search-block").textContent = block.column * kBlock + "," + block.row * kBlock + " of frame " + (first + state.frame);
  $("order-text").textContent = $("order").value + ": " + kOrders[$("order").value] + ".";
  const own = stream.block(frames[0], block.row * stream.columns + block.column);
  const { x, y } = search.vector, sad = search.best < 0 ? "none: no candidate" : search.sads[search.best];
  $("winner").textContent = "Winner: vector " + x + "," + y + ", SAD " + sad + ". The stream has " + (own.mode ? own.x + "," + own.y : "no vector") + "." +
    (stream.original ? "" : " Drop the original on the page: without it, the decoded picture is searched.");
  $("step").max = search.steps.length;
  $("step").value = search.steps.length;
  tellStep();
  draw();
}
function tellStep() {
  const n = Number($("step").value), { computed, ruledOut } = drawSearch($("surface"), search, n, $("all").checked);
  $("step-text").textContent = "Step " + n + " of " + search.steps.length + ": " + computed + " SADs computed, " + ruledOut + " candidates ruled out, of " + search.sads.length;
  $("step-why").textContent = n ? search.steps[n - 1].why : "";
}
function playSearch(on) {
  state.searching = on;
  $("search-play").textContent = on ? "Pause" : "Play";
  if (!on) return;
  if (Number($("step").value) >= search.steps.length) $("step").value = 0;
  const tick = () => {
    if (!state.searching || !search) return;
    $("step").value = Number($("step").value) + Math.max(1, Math.round(search.steps.length / 400));
    tellStep();
    if (Number($("step").value) >= search.steps.length) return playSearch(false);
    requestAnimationFrame(tick);
  };
  tick();
}

// ---- Going through the frames

function tellFrame() {
  const index = first + state.frame;
  const of = (s) => { const e = s.entries[Math.min(state.frame, s.count - 1)]; return e.type === "picture" ? "a picture" : s.film ? e.sad.toLocaleString("en") + " SAD" : (8 * e.bytes).toLocaleString("en") + " bits"; };
  const { type } = streams[0].entries[Math.min(state.frame, streams[0].count - 1)];
  if (document.activeElement !== $("number")) $("number").value = index;
  $("number").max = first + count - 1;
  $("label").textContent = "frame " + index + " of " + (first + count) + (type === "inter" ? "" : " (" + (streams[0].film && type === "key" ? "no reference" : type) + ")") + ", " + streams.map(of).join(" and ");
}
/// Puts frame and block into the address, so that it can be copied. Not while frames play, because browsers limit how
/// often an address changes, nor inside a report, which has an address of its own.
function tellAddress() {
  if (!state.playing && location.protocol !== "about:") history.replaceState(null, "", "#frame=" + (first + state.frame) + (state.kept ? "&block=" + state.kept.column + "," + state.kept.row : ""));
}
function ofAddress() {
  const frame = /frame=(\d+)/.exec(location.hash), block = /block=(\d+),(\d+)/.exec(location.hash);
  const inside = block && Number(block[1]) < streams[0].columns && Number(block[2]) < streams[0].rows;
  return [frame ? Number(frame[1]) - first : null, inside ? { column: Number(block[1]), row: Number(block[2]) } : null];
}

let working = null;
/// Fetches and draws the frame that is to be shown. If it changes in the meantime, the newer one comes next.
async function update() {
  if (working) { working.again = true; return working.done; }
  working = { again: true };
  working.done = (async () => {
    while (working.again) {
      working.again = false;
      const of = streams, number = state.frame, isAgainst = $("show").value === kAgainst;
      const what = !isAgainst ? $("show").value : [...$("show").options].some((o) => o.value === kStraight) ? kStraight : "picture";
      try {
        const got = await Promise.all(of.map((s) => s.frame(Math.min(number, s.count - 1), what)));
        if (of !== streams) continue;
        frames = got;
        images = got.map((frame) => frame.images[what] || frame.images.picture);
        if (isAgainst) images.fill(differenceOf(images, images[0].width, images[0].height));
      } catch (error) {
        tell(reason(error), true);
        count = Math.max(1, ...streams.map((s) => s.count));
        state.playing = false;
        if (streams.some((s) => s.count === 0)) break;
        state.frame = Math.min(state.frame, count - 1);
        working.again = true;
        continue;
      }
      draw();
      tellFrame();
      await tellValues();
    }
    working = null;
  })();
  return working.done;
}
let due = false;
function redraw() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => { due = false; if (frames.length) { draw(); tellValues(); } });
}
function go(number) {
  if (!streams.length) return;
  state.frame = Math.min(count - 1, Math.max(0, number));
  tellFrame();
  tellAddress();
  if (search && !state.playing) { search = null; $("search").hidden = true; playSearch(false); }
  return update();
}
async function play(on) {
  if (on === state.playing) return;
  state.playing = on;
  $("play").textContent = on ? "Pause" : "Play";
  if (!on) { if (streams.length) { tellAddress(); redraw(); } return; }
  let next = performance.now();
  while (state.playing) {
    await go((state.frame + 1) % count);
    next = Math.max(performance.now(), next + 1000 / (kFramesPerSecond * Number($("speed").value)));
    await new Promise((done) => setTimeout(done, next - performance.now()));
  }
}
function choose(block) {
  state.kept = block;
  tellAddress();
  if (search && block) watch(); else redraw();
}

function zoomTo(zoom, x, y) {
  const next = Math.min(32, Math.max(1, zoom));
  if (x !== undefined) {  // the point under the pointer stays in place
    state.x = x + (state.x - x) * state.zoom / next;
    state.y = y + (state.y - y) * state.zoom / next;
  }
  state.zoom = next;
  hold();
  $("zoom").value = (next < 10 ? Math.round(10 * next) / 10 : Math.round(next)) + "\u00d7";
  redraw();
}
/// Moves the picture so that it fills the view.
function hold() {
  const w = streams[0].width / state.zoom / 2, h = streams[0].height / state.zoom / 2;
  state.x = Math.min(streams[0].width - w, Math.max(w, state.x));
  state.y = Math.min(streams[0].height - h, Math.max(h, state.y));
}

// ---- What the user does

function listen({ canvas }, s) {
  const at = (event) => {
    const box = canvas.getBoundingClientRect(), { scale, left, top } = placing(s);
    return [((event.clientX - box.left) * canvas.width / box.width - left) / scale, ((event.clientY - box.top) * canvas.height / box.height - top) / scale];
  };
  const blockAt = ([x, y]) => {
    const column = Math.floor(x / kBlock), row = Math.floor(y / kBlock);
    return column >= 0 && row >= 0 && column < streams[s].columns && row < streams[s].rows ? { column, row } : null;
  };
  let drag = null, pressed = null;
  canvas.addEventListener("pointerdown", (event) => { drag = at(event); pressed = [event.clientX, event.clientY]; });
  canvas.addEventListener("pointerup", (event) => {
    drag = null;
    if (!pressed || Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 4) return;  // it was a drag
    const block = blockAt(at(event)), old = state.kept;
    choose(block && old && old.column === block.column && old.row === block.row ? null : block);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (drag) { state.x += drag[0] - x; state.y += drag[1] - y; hold(); }
    state.hover = blockAt([x, y]);
    redraw();
  });
  canvas.addEventListener("pointerleave", () => { drag = state.hover = null; redraw(); });
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoomTo(state.zoom * 1.2 ** -Math.sign(event.deltaY), ...at(event)); }, { passive: false });
}
const scrub = (event) => { if (event.buttons) { const box = $("timeline").getBoundingClientRect(); go(Math.floor((event.clientX - box.left) / box.width * count)); } };
$("timeline").addEventListener("pointerdown", scrub);
$("timeline").addEventListener("pointermove", scrub);
$("number").addEventListener("input", () => { if ($("number").value !== "") { play(false); go(Number($("number").value) - first); } });
addEventListener("hashchange", () => { if (!streams.length) return; const [frame, block] = ofAddress(); play(false); state.kept = block; if (frame !== null) go(frame); });
$("play").addEventListener("click", () => play(!state.playing));
for (const id of ["arrows", "heat", "light"]) $(id).addEventListener("input", redraw);
$("show").addEventListener("input", update);
$("in").addEventListener("click", () => zoomTo(state.zoom * 1.5));
$("out").addEventListener("click", () => zoomTo(state.zoom / 1.5));
$("fit").addEventListener("click", () => zoomTo(1));
$("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  if (streams.length) redraw();
});
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
$("watch").addEventListener("click", watch);
$("order").append(...Object.keys(kOrders).map((name) => option(name, name)));
for (const id of ["order", "range"]) $(id).addEventListener("input", watch);
for (const id of ["step", "all"]) $(id).addEventListener("input", tellStep);
$("search-play").addEventListener("click", () => playSearch(!state.searching));
$("encode").addEventListener("click", () => encode(false));
$("encode-beside").addEventListener("click", () => encode(true));
$("save").addEventListener("click", () => {
  const { bytes, name } = streams.findLast((s) => !s.film);
  const link = Object.assign(element("a"), { href: URL.createObjectURL(new Blob([bytes])), download: name.replace(/\.c63$|$/, ".c63").replace(/[^\w.-]+/g, "_") });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
});
$("open").addEventListener("click", () => $("files").click());
$("files").addEventListener("change", () => {
  const files = [...$("files").files];
  $("files").value = "";  // so that the same file can be opened again
  openFiles(files);
});
addEventListener("dragover", (event) => { event.preventDefault(); $("drop").hidden = false; });
addEventListener("dragleave", () => { $("drop").hidden = true; });
addEventListener("drop", (event) => { event.preventDefault(); $("drop").hidden = true; openFiles([...event.dataTransfer.files]); });
addEventListener("keydown", (event) => {
  const own = event.target instanceof Element && (event.target.matches("input[type=number]") || event.target.matches("select, input[type=range]") && event.key.startsWith("Arrow"));
  if (!streams.length || event.ctrlKey || event.altKey || event.metaKey || own) return;
  const far = event.shiftKey ? 10 : 1;
  const cycle = (id) => { const list = $(id); list.selectedIndex = (list.selectedIndex + 1) % list.options.length; list.dispatchEvent(new Event("input")); };
  const keys = {
    " ": () => play(!state.playing), ArrowRight: () => { play(false); go(state.frame + far); }, ArrowLeft: () => { play(false); go(state.frame - far); },
    Home: () => go(0), End: () => go(count - 1), PageDown: () => go(state.frame + 10), PageUp: () => go(state.frame - 10),
    1: () => { $("arrows").checked = !$("arrows").checked; redraw(); }, 2: () => cycle("heat"), 3: () => cycle("show"), w: watch,
    "+": () => zoomTo(state.zoom * 1.5), "-": () => zoomTo(state.zoom / 1.5), 0: () => zoomTo(1),
  };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});

// ---- What a page contains

/// Opens the streams or films of a page of c63mv, or what a report of c63cmp gives.
async function openInside(facts) {
  if (!facts.length) return;
  const list = [];
  for (const [s, f] of facts.entries()) {
    if (f.film) { list.push(new Film(f, [...document.querySelectorAll("script[data-film='" + s + "']")])); continue; }
    if (f.picture) { list.push(await Still.open(f)); continue; }
    // A stream is one script, or one for each frame if a script with the frame's SADs follows each.
    const texts = (kind) => Array.from(document.querySelectorAll(`script[data-${kind}='${s}']`), (script) => script.textContent);
    const stream = await Stream.open(f.stream ? fromBase64(f.stream) : fromText(texts("c63").join("")), f.name, f.full_range);
    stream.first = f.first || 0;
    stream.sads = await Promise.all(texts("sads").map(async (text) => new Uint16Array((await unpacked(fromBase64(text), "deflate")).buffer)));
    list.push(stream);
  }
  for (const stream of list) stream.pictures = list[0];  // those of a film's codec are the film's
  const [f] = facts, isAgain = streams.length > 0;
  first = f.first || 0;
  if (!isAgain) $("arrows").checked = f.types.includes("mv");
  show(list, f.title, isAgain ? state.frame : f.frame === undefined ? null : f.frame - first);
  if (isAgain) return;
  $("heat").value = f.types.includes("mv") || !f.types.length ? "none" : f.types[0] === "sad" ? "SAD" : "bits";
  if (f.light) $("light").value = f.light;
  if (f.show) $("show").value = f.show;
  for (const f of facts) {
    if (!f.summary) continue;
    const part = element("div"), all = f.histogram.reduce((sum, [, n]) => sum + n, 0);
    part.append(element("h2", facts.length > 1 ? "Summary of " + f.name : "Summary"), element("pre", f.summary), element("h2", "Longer component of the vectors, in samples"));
    for (const [label, n] of f.histogram) {
      const share = all ? 100 * n / all : 0, row = element("div", undefined, "bar"), bar = element("i");
      bar.style.width = share.toFixed(2) + "%";
      row.append(element("span", label), element("span", share.toFixed(1) + " %"), bar);
      part.append(row);
    }
    $("summaries").append(part);
  }
  await update();
}
openInside([...document.querySelectorAll("script.stream")].map((s) => JSON.parse(s.textContent))).catch((error) => tell(reason(error), true));
