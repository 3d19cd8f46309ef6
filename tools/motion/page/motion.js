"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const streams = [...document.querySelectorAll("script.stream")].map((s) => JSON.parse(s.textContent));
  const count = Math.max(...streams.map((s) => s.count));
  // Equal frames in a row are one run: { start, length, type, bits of each frame, number of the shown frame }.
  for (const stream of streams) stream.runs = [];
  for (const script of document.querySelectorAll("script[data-frame]")) {
    const [s, type, bits, length] = script.dataset.frame.split(" ");
    const runs = streams[s].runs, last = runs[runs.length - 1];
    const start = last ? last.start + last.length : 0;
    runs.push({ start, length: Number(length), type: type === "alone" ? "repeat" : type, bits: Number(bits), shown: type === "repeat" ? last.shown : start });
  }
  /// Returns the run of a frame; for numbers after the end, the last run.
  const entryOf = (stream, number) => {
    let low = 0, high = stream.runs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (stream.runs[middle].start <= number) low = middle; else high = middle - 1;
    }
    return stream.runs[low];
  };
  const kBlock = 8;
  const kFramesPerSecond = 25;  // a stream has no frame rate
  const kModes = [["copied from the left block", "#3b82f6"], ["own vector", "#22c55e"], ["inherited vector", "#eab308"],
                  ["no prediction", "#ff00c8"]];
  const kStops = [[12, 8, 38], [82, 16, 110], [160, 42, 99], [224, 92, 62], [251, 165, 36], [252, 250, 180]];
  const heatColour = (value) => {
    const at = Math.min(1, Math.max(0, value)) * (kStops.length - 1), i = Math.min(Math.floor(at), kStops.length - 2);
    return kStops[i].map((low, k) => low + (kStops[i + 1][k] - low) * (at - i));
  };
  const element = (tag, text, className) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (className) node.className = className;
    return node;
  };

  // What is shown. x and y are the point of the picture in the middle of each view.
  const types = streams[0].types;
  const film = streams[0].film;  // a film is searched, not coded: its blocks have no bits
  const first = streams[0].first_index;
  const state = { frame: 0, playing: false, zoom: 1, x: streams[0].width / 2, y: streams[0].height / 2, hover: null, kept: null };
  const chosen = () => state.kept || state.hover;

  // ---- Frames: a JPEG of the picture, and a PNG whose samples are the values of the blocks -------------------------------

  const kept = streams.map(() => new Map());
  const mostKept = Math.max(8, Math.floor((256 << 20) / (4 * streams[0].width * streams[0].height * streams.length)));

  async function decodeImage(type, text) {
    const image = new Image();
    image.src = "data:image/" + type + ";base64," + text;
    await image.decode();
    return image;
  }

  async function decodeFrame(s, number) {
    const [own, png] = $("s" + s + "f" + number).textContent.split(" ");
    const jpeg = own === "=" ? $("s0f" + number).textContent.split(" ")[0] : own;  // codec vectors of a film
    const [picture, values] = await Promise.all([decodeImage("jpeg", jpeg), decodeImage("png", png)]);
    const canvas = new OffscreenCanvas(values.width, values.height);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(values, 0, 0);
    return { picture, samples: context.getImageData(0, 0, values.width, values.height).data };
  }

  function fetchFrame(s, number) {
    const at = entryOf(streams[s], number).shown;  // the frame, or the one that it repeats
    const frames = kept[s];
    if (!frames.has(at)) {
      const entry = { ready: null };
      entry.promise = decodeFrame(s, at).then((frame) => { entry.ready = frame; return frame; });
      frames.set(at, entry);
    }
    const entry = frames.get(at);
    frames.delete(at);
    frames.set(at, entry);
    while (frames.size > mostKept) frames.delete(frames.keys().next().value);
    return entry;
  }

  /// Returns the values of a block. They are in three parts of the PNG's samples.
  function valuesOf(s, frame, block) {
    const stream = streams[s], plane = stream.columns * stream.rows, p = frame.samples;
    const a = 4 * block, b = a + 4 * plane, c = b + 4 * plane;
    if (stream.film) {  // vectors are in quarters of a sample
      const inter = p[a + 2] !== 0, whole = (at) => ((p[at] << 8 | p[at + 1]) - 32768) / 4;
      return { x: whole(a), y: whole(c), inter, mode: inter ? 1 : 3, sad: p[b] << 8 | p[b + 1], levels: 0, vectorBits: 0, coefficientBits: 0 };
    }
    const inter = p[a + 2] !== 0, vectorBits = p[c + 2];
    const mode = !inter ? 3 : vectorBits === 2 ? 0 : vectorBits < 2 ? 2 : 1;
    return { x: p[a] - 128, y: p[a + 1] - 128, inter, mode, sad: p[b] << 8 | p[b + 1], levels: p[b + 2],
             vectorBits, coefficientBits: p[c] << 8 | p[c + 1] };
  }
  const heats = { none: ["none", null], sad: ["SAD", (v) => v.inter ? v.sad : null], bits: ["bits", (v) => v.vectorBits + v.coefficientBits],
                  levels: ["levels that are not zero", (v) => v.levels], mode: ["mode", (v) => v.mode] };

  // ---- Drawing -----------------------------------------------------------------------------------------------------------

  const views = streams.map((stream) => {
    const view = element("figure", undefined, "view");
    const canvas = element("canvas");
    canvas.style.aspectRatio = stream.width + " / " + stream.height;
    // As high as the window allows, so that picture and values are visible together.
    const most = "max(18rem, 100vh - 14rem) * " + stream.width / stream.height;
    view.style.maxWidth = "calc(" + most + ")";
    $("views").style.maxWidth = "calc(" + streams.length + " * (" + most + " + 0.8rem))";
    const values = element("p", undefined, "values");
    if (streams.length > 1) {
      view.append(element("figcaption", stream.name));
      $("inspector").append(element("h3", stream.name));
    }
    view.append(canvas);
    $("inspector").append(values);
    $("views").append(view);
    return { canvas, values, context: canvas.getContext("2d") };
  });

  /// Returns how samples are mapped to pixels of a view's canvas.
  function placing(s) {
    const canvas = views[s].canvas;
    const scale = state.zoom * canvas.width / streams[s].width;
    return { scale, left: canvas.width / 2 - state.x * scale, top: canvas.height / 2 - state.y * scale };
  }

  function drawHeat(g, s, frame, heat, peak) {
    const stream = streams[s], value = heats[heat][1];
    const image = new ImageData(stream.columns, stream.rows);
    for (let block = 0; block < stream.columns * stream.rows; ++block) {
      const v = value(valuesOf(s, frame, block));
      if (v === null) continue;
      const colour = heat === "mode" ? kModes[v][1].match(/\w\w/g).map((h) => parseInt(h, 16)) : heatColour(Math.sqrt(v / peak));
      image.data.set([...colour, 255], 4 * block);
    }
    const canvas = new OffscreenCanvas(stream.columns, stream.rows);
    canvas.getContext("2d").putImageData(image, 0, 0);
    g.globalAlpha = 0.6;
    g.imageSmoothingEnabled = false;
    g.drawImage(canvas, 0, 0, stream.columns * kBlock, stream.rows * kBlock);
    g.globalAlpha = 1;
  }

  /// Arrows are at least 12 pixels apart, so that they can be distinguished. Returns how many blocks share one arrow,
  /// in each direction.
  const strideAt = (scale) => Math.max(1, Math.ceil(12 / (kBlock * scale)));

  /// Marks blocks without a vector if they are too small for a border.
  function drawUnpredicted(g, s, frame) {
    const stream = streams[s], image = new ImageData(stream.columns, stream.rows);
    for (let block = 0; block < stream.columns * stream.rows; ++block) {
      if (frame.samples[4 * block + 2] === 0) image.data.set([255, 0, 200, 120], 4 * block);
    }
    const canvas = new OffscreenCanvas(stream.columns, stream.rows);
    canvas.getContext("2d").putImageData(image, 0, 0);
    g.imageSmoothingEnabled = false;
    g.drawImage(canvas, 0, 0, stream.columns * kBlock, stream.rows * kBlock);
  }

  function drawArrows(g, s, frame, scale) {
    const stream = streams[s], stride = strideAt(scale);
    if (stride > 1) drawUnpredicted(g, s, frame);
    const kShades = 8;
    const paths = Array.from({ length: kShades + 1 }, () => new Path2D());
    const dots = new Path2D(), boxes = new Path2D();
    const dot = Math.max(1.2, 1.5 / scale);
    for (let row = stride >> 1; row < stream.rows; row += stride) for (let column = stride >> 1; column < stream.columns; column += stride) {
      const a = 4 * (row * stream.columns + column), left = column * kBlock, top = row * kBlock;
      if (frame.samples[a + 2] === 0) {
        if (stride === 1) boxes.rect(left + 0.5, top + 0.5, kBlock - 1, kBlock - 1);
        continue;
      }
      const { x: vx, y: vy } = valuesOf(s, frame, a / 4), x = left + kBlock / 2, y = top + kBlock / 2;
      const length = Math.hypot(vx, vy);
      if (length === 0) { dots.rect(x - dot / 2, y - dot / 2, dot, dot); continue; }
      const path = paths[Math.round(kShades * Math.min(1, length / 16))];
      path.moveTo(x, y);
      path.lineTo(x + vx, y + vy);
      const head = Math.min(3, 0.4 * length + 1), ux = vx / length, uy = vy / length;
      path.moveTo(x + vx - head * (ux - uy / 2), y + vy - head * (uy + ux / 2));
      path.lineTo(x + vx, y + vy);
      path.lineTo(x + vx - head * (ux + uy / 2), y + vy - head * (uy - ux / 2));
    }
    g.lineWidth = Math.max(0.5, 1.2 / scale);
    paths.forEach((path, shade) => { g.strokeStyle = arrowColour(shade / kShades); g.stroke(path); });
    g.fillStyle = "#bebebe";
    g.fill(dots);
    g.strokeStyle = kModes[3][1];
    g.stroke(boxes);
  }
  const arrowColour = (warm) => "rgb(" + Math.round(255 * warm) + ",255," + Math.round(80 * (1 - warm)) + ")";

  /// Returns the 99th percentile of the shown values, because a few blocks may be far above all others.
  function peakOf(heat, frames) {
    const values = [];
    frames.forEach((frame, s) => {
      // a repeat whose original is not on the page has no values
      if (frame.samples.length < 12 * streams[s].columns * streams[s].rows) return;
      for (let block = 0; block < streams[s].columns * streams[s].rows; ++block) {
        const v = heats[heat][1](valuesOf(s, frame, block));
        if (v !== null) values.push(v);
      }
    });
    values.sort((a, b) => a - b);
    return Math.max(1, values[Math.floor(0.99 * (values.length - 1))] || 1);
  }

  function draw() {
    const frames = streams.map((_, s) => fetchFrame(s, state.frame).ready);
    if (frames.some((f) => f === null)) return false;
    const heat = $("heat").value;
    const peak = heats[heat][1] && heat !== "mode" ? peakOf(heat, frames) : 1;
    views.forEach(({ canvas, context: g }, s) => {
      const type = entryOf(streams[s], state.frame).type;
      const width = Math.max(1, Math.round(canvas.clientWidth * devicePixelRatio));
      const height = Math.max(1, Math.round(width * streams[s].height / streams[s].width));
      if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
      const { scale, left, top } = placing(s);
      g.setTransform(1, 0, 0, 1, 0, 0);
      g.clearRect(0, 0, width, height);
      g.setTransform(scale, 0, 0, scale, left, top);
      g.imageSmoothingEnabled = scale < 2;
      g.globalAlpha = Number($("light").value) / 100;
      g.drawImage(frames[s].picture, 0, 0, streams[s].width, streams[s].height);
      g.globalAlpha = 1;
      if (type !== "repeat") {
        if (heats[heat][1] && !(heat === "mode" && type === "key")) drawHeat(g, s, frames[s], heat, peak);
        if ($("arrows").checked && type === "inter") drawArrows(g, s, frames[s], scale / devicePixelRatio);
      }
      if (chosen()) {
        g.strokeStyle = "#fff";
        g.lineWidth = 2 * devicePixelRatio / scale;
        g.strokeRect(chosen().column * kBlock, chosen().row * kBlock, kBlock, kBlock);
      }
    });
    tellValues(frames);
    tellLegend(heat, peak, strideAt(placing(0).scale / devicePixelRatio));
    drawTimeline();
    return true;
  }

  function tellValues(frames) {
    views.forEach(({ values }, s) => {
      const entry = entryOf(streams[s], state.frame);
      if (!chosen()) { values.textContent = "Point at a block, or tap it."; return; }
      if (entry.type === "repeat") { values.textContent = "nothing is coded: the picture before it again"; return; }
      const { column, row } = chosen();
      const v = valuesOf(s, frames[s], row * streams[s].columns + column);
      const parts = [["block at", column * kBlock + "," + row * kBlock]];
      if (entry.type === "inter") {
        if (!film) parts.push(["mode", kModes[v.mode][0]]);
        if (v.inter) parts.push(["vector", v.x + "," + v.y]);
      }
      parts.push(["SAD", v.inter ? v.sad : film ? "none: no vector" : "none: not predicted"]);
      if (!film) parts.push(["bits", entry.type === "inter" ? v.vectorBits + " + " + v.coefficientBits : v.coefficientBits], ["levels", v.levels + " of 64"]);
      values.replaceChildren(...parts.flatMap(([name, value]) => [document.createTextNode(name + " "), element("b", String(value)), document.createTextNode(" \n")]));
    });
  }

  let toldLegend = "";
  function tellLegend(heat, peak, stride) {
    const key = [$("arrows").checked, heat, peak, stride].join();
    if (key === toldLegend) return;
    toldLegend = key;
    const item = (background, text, className) => {
      const span = element("span");
      const mark = element("i", undefined, className);
      mark.style.background = background;
      span.append(mark, text);
      return span;
    };
    const items = [];
    if ($("arrows").checked) {
      items.push(item("linear-gradient(90deg," + arrowColour(0) + "," + arrowColour(1) + ")", "arrow to where a block is predicted from, 1 to 16 samples and more", "scale"),
                 item("#bebebe", "zero vector"), item(kModes[3][1], film ? "no vector" : "no prediction"));
      if (stride > 1) items.push(element("span", "an arrow every " + stride + " blocks each way; zoom in for all"));
    }
    if (heat === "mode") items.push(...kModes.map(([name, colour]) => item(colour, name)));
    else if (heats[heat][1]) items.push(item("linear-gradient(90deg," + kStops.map((c) => "rgb(" + c + ")") + ")", heats[heat][0] + ": 0 to " + peak + ", the root is shown; the end of the scale is the 99th percentile of the frame", "scale"));
    $("legend").replaceChildren(...items);
  }

  const style = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  function drawTimeline() {
    const canvas = $("timeline"), g = canvas.getContext("2d");
    canvas.width = Math.round(canvas.clientWidth * devicePixelRatio);
    canvas.height = Math.round(canvas.clientHeight * devicePixelRatio);
    const peak = streams.reduce((most, s) => s.runs.reduce((m, run) => Math.max(m, run.bits), most), 1);
    const band = canvas.height / streams.length, step = canvas.width / count;
    const colours = { key: style("--key"), inter: style("--bar"), repeat: style("--bar") };
    streams.forEach((stream, s) => stream.runs.forEach((run) => {
      g.fillStyle = colours[run.type];
      const tall = Math.max(1, (band - 2) * run.bits / peak);
      const at = run.start * step, wide = run.length * step;
      if (step <= 3) { g.fillRect(at, (s + 1) * band - tall, Math.max(1, wide), tall); return; }
      for (let i = 0; i < run.length; ++i) g.fillRect(at + i * step, (s + 1) * band - tall, step - 1, tall);
    }));
    g.fillStyle = style("--ink");
    g.fillRect((state.frame + 0.5) * step - 1, 0, 2, canvas.height);
  }

  // ---- Going through the frames ------------------------------------------------------------------------------------------

  function tellFrame() {
    const entry = entryOf(streams[0], state.frame), index = first + state.frame;
    $("frame").value = state.frame;
    if (document.activeElement !== $("number")) $("number").value = index;
    $("label").textContent = "frame " + index + (entry.type === "inter" ? "" : film ? " (no reference)" : " (" + entry.type + ")") + ", " + streams.map((s) => entryOf(s, state.frame).bits.toLocaleString("en")).join(" and ") + (film ? " SAD" : " bits");
  }
  /// Puts the frame's number into the address, so that it can be copied. Not while frames play, because browsers limit
  /// how often an address changes.
  function tellAddress() {
    if (!state.playing) history.replaceState(null, "", "#frame=" + (first + state.frame));
  }
  const frameOfAddress = () => {
    const found = /^#frame=(\d+)$/.exec(location.hash);
    return found ? Number(found[1]) - first : null;
  };

  let due = false;
  function redraw() {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      if (!draw()) Promise.all(streams.map((_, s) => fetchFrame(s, state.frame).promise)).then(redraw);
    });
  }

  function go(number) {
    state.frame = Math.min(count - 1, Math.max(0, number));
    tellFrame();
    tellAddress();
    redraw();
    for (let ahead = 1; ahead <= Math.min(6, mostKept - 2) && state.frame + ahead < count; ++ahead) streams.forEach((_, s) => fetchFrame(s, state.frame + ahead));
  }

  let last = 0;
  function tick() {
    if (!state.playing) return;
    const now = performance.now();
    const step = 1000 / (kFramesPerSecond * Number($("speed").value));
    if (now - last >= step) {
      const next = (state.frame + 1) % count;
      // If the next frame is not decoded yet, the page waits for it and does not skip it.
      if (streams.every((_, s) => fetchFrame(s, next).ready !== null)) { last = now - last > 2 * step ? now : last + step; go(next); }
    }
    requestAnimationFrame(tick);
  }
  function play(on) {
    state.playing = on;
    $("play").textContent = on ? "Pause" : "Play";
    last = performance.now();
    if (!on) tellAddress();
    if (on) requestAnimationFrame(tick);
  }

  function zoomTo(zoom, s, x, y) {
    const next = Math.min(32, Math.max(1, zoom));
    if (s !== undefined) {  // the point under the pointer stays in place
      state.x = x + (state.x - x) * state.zoom / next;
      state.y = y + (state.y - y) * state.zoom / next;
    }
    state.zoom = next;
    hold();
    $("zoom").value = (next < 10 ? Math.round(10 * next) / 10 : Math.round(next)) + "×";
    redraw();
  }
  /// Moves the picture so that it fills the view.
  function hold() {
    const w = streams[0].width / state.zoom / 2, h = streams[0].height / state.zoom / 2;
    state.x = Math.min(streams[0].width - w, Math.max(w, state.x));
    state.y = Math.min(streams[0].height - h, Math.max(h, state.y));
  }

  views.forEach(({ canvas }, s) => {
    const at = (event) => {
      const box = canvas.getBoundingClientRect(), { scale, left, top } = placing(s);
      return [((event.clientX - box.left) * canvas.width / box.width - left) / scale, ((event.clientY - box.top) * canvas.height / box.height - top) / scale];
    };
    const blockAt = ([x, y]) => {
      const column = Math.floor(x / kBlock), row = Math.floor(y / kBlock);
      return column >= 0 && row >= 0 && column < streams[s].columns && row < streams[s].rows ? { column, row } : null;
    };
    let drag = null, pressed = null;
    canvas.addEventListener("pointerdown", (event) => {
      drag = at(event);
      pressed = [event.clientX, event.clientY];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", (event) => {
      drag = null;
      if (!pressed || Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 4) return;  // it was a drag
      const block = blockAt(at(event)), old = state.kept;
      state.kept = block && old && old.column === block.column && old.row === block.row ? null : block;
      redraw();
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (drag) { state.x += drag[0] - x; state.y += drag[1] - y; hold(); }
      state.hover = blockAt([x, y]);
      redraw();
    });
    canvas.addEventListener("pointerleave", () => { state.hover = null; redraw(); });
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); const [x, y] = at(event); zoomTo(state.zoom * 1.2 ** -Math.sign(event.deltaY), s, x, y); }, { passive: false });
  });

  const scrub = (event) => { if (event.buttons) { const box = $("timeline").getBoundingClientRect(); go(Math.floor((event.clientX - box.left) / box.width * count)); } };
  $("timeline").addEventListener("pointerdown", scrub);
  $("timeline").addEventListener("pointermove", scrub);
  $("frame").addEventListener("input", () => go(Number($("frame").value)));
  $("number").addEventListener("input", () => { if ($("number").value !== "") { play(false); go(Number($("number").value) - first); } });
  $("number").addEventListener("change", tellFrame);
  addEventListener("hashchange", () => { const number = frameOfAddress(); if (number !== null) { play(false); go(number); } });
  $("play").addEventListener("click", () => play(!state.playing));
  for (const id of ["arrows", "heat", "light"]) $(id).addEventListener("input", redraw);
  $("in").addEventListener("click", () => zoomTo(state.zoom * 1.5));
  $("out").addEventListener("click", () => zoomTo(state.zoom / 1.5));
  $("fit").addEventListener("click", () => zoomTo(1));
  $("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    redraw();
  });
  addEventListener("resize", redraw);
  addEventListener("keydown", (event) => {
    const own = event.target instanceof Element && (event.target.matches("input[type=number]") || event.target.matches("select, input[type=range]") && event.key.startsWith("Arrow"));
    if (event.ctrlKey || event.altKey || event.metaKey || own) return;
    const far = event.shiftKey ? 10 : 1;
    const keys = {
      " ": () => play(!state.playing), ArrowRight: () => { play(false); go(state.frame + far); }, ArrowLeft: () => { play(false); go(state.frame - far); },
      Home: () => go(0), End: () => go(count - 1), PageDown: () => go(state.frame + 10), PageUp: () => go(state.frame - 10),
      1: () => { $("arrows").checked = !$("arrows").checked; redraw(); },
      2: () => { const list = $("heat"); list.selectedIndex = (list.selectedIndex + 1) % list.options.length; redraw(); },
      "+": () => zoomTo(state.zoom * 1.5), "-": () => zoomTo(state.zoom / 1.5), 0: () => zoomTo(1),
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });

  // ---- Contents ----------------------------------------------------------------------------------------------------------

  const offered = ["none", ...(types.includes("sad") ? ["sad"] : []), ...(types.includes("bits") ? ["bits", "levels"] : []), ...(types.includes("mv") && !film ? ["mode"] : [])];
  $("heat").append(...offered.map((name) => { const option = element("option", heats[name][0]); option.value = name; return option; }));
  $("arrows").checked = types.includes("mv");
  $("arrows").disabled = !types.includes("mv");
  $("heat").value = types.includes("mv") ? "none" : offered[1];
  if (film) $("timeline").setAttribute("aria-label", "SAD of each frame; click to go there");
  for (const stream of streams) {
    if (!stream.summary) continue;
    const part = element("div");
    part.append(element("h2", streams.length > 1 ? "Summary of " + stream.name : "Summary"), element("pre", stream.summary),
                element("h2", "Longer component of the vectors, in samples"));
    const all = stream.histogram.reduce((sum, [, n]) => sum + n, 0);
    for (const [label, n] of stream.histogram) {
      const share = all ? 100 * n / all : 0, row = element("div", undefined, "bar"), bar = element("i");
      bar.style.width = share.toFixed(2) + "%";
      row.append(element("span", label), element("span", share.toFixed(1) + " %"), bar);
      part.append(row);
    }
    $("summaries").append(part);
  }
  $("frame").max = count - 1;
  $("number").min = first;
  $("number").max = first + count - 1;
  const begin = frameOfAddress();
  go(begin !== null ? begin : (streams[0].runs.find((run) => run.type === "inter") || { start: 0 }).start);
})();
