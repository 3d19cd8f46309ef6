"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const csv = JSON.parse(document.getElementById("csv").textContent);
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;

  // The colours of Okabe and Ito, which people with any colour vision can tell apart. Each side also has its own point
  // shape.
  const kColours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f"];
  const kShapes = ["circle", "rect", "triangle", "rectRot", "star", "cross", "crossRot", "rectRounded"];
  const kStageColours = {
    read: '#56b4e9',
    upload: '#8c6bb1',
    motion: '#d55e00',
    transform: '#009e73',
    measure: '#7f7f7f',
    entropy: '#e69f00',
    download: '#cc79a7',
    write: '#0072b2',
    lookahead: '#b3a000',
    filter: '#4b3f72'
  };
  const kMetrics = { psnr_y_db: "PSNR Y (dB)", psnr_all_db: "PSNR of all planes (dB)", ssim_y: "SSIM Y", ssim_all: "SSIM of all planes" };

  const configurations = data.configurations;
  const colour = (c) => kColours[c % kColours.length];
  const shape = (c) => kShapes[c % kShapes.length];
  const label = (point) => configurations[point.configuration].name + (point.quantizer ? " qp " + point.quantizer : "");
  // A name may be as long as a command line. Plots show its beginning and end, and the whole name on hover.
  const short = (name, most = 26) => name.length <= most ? name : name.slice(0, Math.ceil(most / 2)) + "…" + name.slice(1 - Math.floor(most / 2));
  const shortLabel = (point) => short(configurations[point.configuration].name, 20) + (point.quantizer ? " qp " + point.quantizer : "");
  const format = (value, digits) => value === null || value === undefined ? "–" : value.toFixed(digits);
  // JSON has no infinity, so a PSNR of null means that the pictures are equal.
  const psnr = (value, digits) => value === null ? "∞" : value.toFixed(digits);
  const external = (p) => configurations[p.configuration].external;
  const kNoSsim = "not measured (--no-ssim), or the pictures are too small";
  // Writes below a plot what it cannot show, and why.
  function tellMissing(id, reasons) { $(id + "-missing").textContent = [...new Set(reasons)].join("; "); }
  const whyNoStages = (p) => short(configurations[p.configuration].name) + ": another encoder tells no stages";
  const element = (tag, text, className) => {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    if (className) node.className = className;
    return node;
  };

  // Gives a list its entries, [value, text].
  const fill = (id, entries, chosen) => $(id).replaceChildren(...entries.map(([value, text]) => {
    const option = element("option", short(text, 40));
    Object.assign(option, { value, title: text, selected: value === chosen });
    return option;
  }));

  // What is shown, as chosen by the reader.
  let input = 0;
  let metric = "psnr_y_db";
  let anchor = data.anchor;  // the side that others are compared with
  let rank = null;  // index of the shown quantizer among a side's, lowest first; null: not yet chosen
  const charts = {};
  const pointsOf = (c) => data.points.filter((p) => p.input === input && p.configuration === c);
  const shownPoints = () => data.points.filter((p) => p.input === input);

  function themeColours() {
    const style = getComputedStyle(root);
    return { ink: style.getPropertyValue("--ink").trim(), soft: style.getPropertyValue("--soft").trim(), line: style.getPropertyValue("--line").trim() };
  }

  function draw(id, config) {
    if (charts[id]) charts[id].destroy();
    charts[id] = new Chart($(id), config);
  }

  function axis(title, more) {
    const c = themeColours();
    return Object.assign({ title: { display: true, text: title, color: c.soft }, ticks: { color: c.soft }, grid: { color: c.line } }, more);
  }

  function options(more) {
    const c = themeColours();
    return Object.assign({ responsive: true, maintainAspectRatio: false, animation: false,
                           interaction: { mode: "nearest", intersect: false, axis: "xy" } }, more,
                         { plugins: Object.assign({ legend: { labels: { color: c.ink, usePointStyle: true, boxWidth: 9, boxHeight: 9, sort: (a, b) => a.datasetIndex - b.datasetIndex } } }, more.plugins) });
  }

  const pointTooltip = { callbacks: { label: (item) => {
    const p = item.raw.point;
    return [label(p), format(p.bitrate_kb_per_s, 2) + " kb/s, " + p.bytes + " bytes",
            "PSNR Y " + psnr(p.psnr_y_db, 3) + ", all " + psnr(p.psnr_all_db, 3) + " dB, SSIM Y " + format(p.ssim_y, 5),
            format(p.frames_per_s, 1) + " fps (" + format(p.frames_per_s_low, 1) + " to " + format(p.frames_per_s_high, 1) + ")"];
  } } };

  // Returns the points of each side, joined by a line in the order of `by`.
  function scatterSets(x, y, by) {
    return configurations.map((c, index) => ({
      label: short(c.name), borderColor: colour(index), backgroundColor: colour(index), pointStyle: shape(index), order: configurations.length - index,
      pointRadius: 6, pointHoverRadius: 9, borderWidth: 2, borderDash: index % 2 ? [6, 4] : [], showLine: true,
      data: pointsOf(index).filter((p) => p[y] !== null).map((p) => ({ x: p[x], y: p[y], point: p })).sort((a, b) => a[by] - b[by]),
    }));
  }

  // Returns a logarithmic axis that spans the values. Its labels are plain numbers, not powers.
  function logarithmic(title, values) {
    const positive = values.filter((v) => v > 0);
    const low = Math.min(...positive), high = Math.max(...positive);
    const min = low / 1.1, max = high * 1.1;
    const marks = [];
    for (let power = 10 ** Math.floor(Math.log10(min)); power <= max; power *= 10) {
      for (const step of [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]) if (power * step >= min && power * step <= max) marks.push(power * step);
    }
    const every = Math.ceil(marks.length / 7);
    return axis(title, { type: "logarithmic", min, max,
                         afterBuildTicks: (scale) => { scale.ticks = marks.filter((_, i) => i % every === 0).map((value) => ({ value })); },
                         ticks: { color: themeColours().soft, maxRotation: 0, callback: (v) => Number(v.toPrecision(3)).toLocaleString("en") } });
  }

  function drawRd() {
    const missing = shownPoints().filter((p) => p[metric] === null);
    tellMissing("rd", missing.map((p) => shortLabel(p) + ": " + (metric.startsWith("ssim") ? "SSIM was not measured (--no-ssim), or the pictures are too small" : "no difference, so no PSNR")));
    const rates = shownPoints().map((p) => p.bitrate_kb_per_s);
    draw("rd", { type: "scatter", data: { datasets: scatterSets("bitrate_kb_per_s", metric, "y") },
                 options: options({ scales: { x: $("log-rate").checked ? logarithmic("kb/s", rates) : axis("kb/s", { beginAtZero: true }), y: axis(kMetrics[metric]) },
                                    plugins: { tooltip: pointTooltip } }) });
  }

  function drawTradeoff() {
    draw("tradeoff", { type: "scatter", data: { datasets: scatterSets("frames_per_s", metric, "y") },
                       options: options({ scales: { x: logarithmic("frames per second", shownPoints().map((p) => p.frames_per_s)), y: axis(kMetrics[metric]) },
                                          plugins: { tooltip: pointTooltip } }) });
  }

  // Draws a line through each point, from the slowest run to the fastest.
  const whiskers = { id: "whiskers", afterDatasetsDraw(chart) {
    const g = chart.ctx;
    g.save();
    g.strokeStyle = themeColours().ink;
    g.lineWidth = 1.5;
    chart.data.datasets.forEach((set, s) => chart.getDatasetMeta(s).data.forEach((bar, i) => {
      if (!chart.isDatasetVisible(s)) return;
      const p = set.data[i].point, range = [p.frames_per_s_low, p.frames_per_s_high];
      const top = chart.scales.y.getPixelForValue(range[1]), bottom = chart.scales.y.getPixelForValue(range[0]);
      g.beginPath();
      g.moveTo(bar.x, top); g.lineTo(bar.x, bottom);
      g.moveTo(bar.x - 4, top); g.lineTo(bar.x + 4, top);
      g.moveTo(bar.x - 4, bottom); g.lineTo(bar.x + 4, bottom);
      g.stroke();
    }));
    g.restore();
  } };

  function drawSpeed() {
    const highest = Math.max(...shownPoints().map((p) => p.frames_per_s_high));
    draw("speed", { type: "scatter", data: { datasets: scatterSets("bitrate_kb_per_s", "frames_per_s", "x") }, plugins: [whiskers],
                    options: options({ scales: { x: logarithmic("kb/s", shownPoints().map((p) => p.bitrate_kb_per_s)), y: axis("frames per second", { beginAtZero: true, suggestedMax: highest }) },
                                       plugins: { tooltip: pointTooltip } }) });
  }

  function drawStages() {
    const points = configurations.map((c, index) => pointAtRank(index, rank)).filter((p) => p && p.stages);
    tellMissing("stages", configurations.map((c, index) => pointAtRank(index, rank)).filter((p) => p && !p.stages).map(whyNoStages));
    const frames = data.inputs[input].frames;
    const stages = Object.keys(kStageColours).filter((s) => points.some((p) => p.stages[s + "_ms"] > 0));
    draw("stages", { type: "bar",
                     data: { labels: points.map(shortLabel), datasets: stages.map((s) => ({ label: s, backgroundColor: kStageColours[s], pointStyle: "rect",
                             data: points.map((p) => p.stages[s + "_ms"] / frames) })) },
                     options: options({ indexAxis: "y", scales: { x: axis("ms a frame", { stacked: true }), y: axis("", { stacked: true, ticks: { color: themeColours().soft, autoSkip: false } }) },
                                        interaction: { mode: "nearest", intersect: true },
                                        plugins: { tooltip: { callbacks: { label: (item) => item.dataset.label + ": " + item.raw.toFixed(4) + " ms a frame" } } } }) });
  }

  const byQuantizer = (a, b) => Number(a.quantizer) - Number(b.quantizer);
  const pointAtRank = (c, r) => { const list = pointsOf(c).sort(byQuantizer); return list[Math.min(r, list.length - 1)]; };

  function frameSets(values) {
    return configurations.map((c, index) => ({ index, point: pointAtRank(index, rank) }))
      .filter((s) => s.point && values(s.point).length)
      .map((s) => ({ label: shortLabel(s.point), borderColor: colour(s.index), backgroundColor: colour(s.index), borderWidth: 2, pointRadius: 0, pointHitRadius: 8,
                     order: configurations.length - s.index, pointStyle: shape(s.index), borderDash: s.index % 2 ? [5, 3] : [], data: values(s.point).map((y, x) => ({ x, y })) }));
  }

  function drawFrames() {
    const scales = (title, more) => ({ x: axis("frame", { type: "linear", min: 0, max: Math.max(1, data.inputs[input].frames - 1), ticks: { color: themeColours().soft, maxRotation: 0, callback: (v) => Number.isInteger(v) ? v : "" } }), y: axis(title, more) });
    tellMissing(
        'bits',
        configurations.map((c, index) => pointAtRank(index, rank))
            .filter((p) => p && !p.frames.bits.length)
            .map((p) => short(configurations[p.configuration].name) + ': no bits of frames, ' + p.frames.why_no_bits));
    const common = { parsing: false, interaction: { mode: "index", intersect: false } };
    draw("bits", { type: "line", data: { datasets: frameSets((p) => p.frames.bits) }, options: options(Object.assign({ scales: scales("bits", { beginAtZero: true }) }, common)) });
    draw("psnr", { type: "line", data: { datasets: frameSets((p) => p.frames.psnr_y_db) }, options: options(Object.assign({ scales: scales("dB") }, common)) });
  }

  function drawAll() { drawRd(); drawSpeed(); drawTradeoff(); drawStages(); drawFrames(); }

  function fillQuantizers() {
    const ranks = Math.max(...configurations.map((c, index) => pointsOf(index).length));
    if (rank === null || rank >= ranks) rank = Math.floor(ranks / 2);
    fill("quantizer", Array.from({ length: ranks }, (_, r) => [r, [...new Set(configurations.map((c, index) => pointAtRank(index, r).quantizer || "fixed"))].join(" / ")]), rank);
  }

  // The verdicts: a card for each side, with a line for each question.
  function card(title, lines) {
    const node = element("article", undefined, "card");
    node.append(element("h3", title));
    for (const [what, figure, text, className] of lines) {
      node.append(element("span", what, "what"), element("b", figure, "figure " + (className || "")), element("span", text, "what"));
    }
    $("verdicts").append(node);
  }

  function verdictOnSpeed(index) {
    const speed = data.speeds.find((s) => s.anchor === anchor && s.configuration === index && s.input === null);
    if (!speed) return [];
    const sure = speed.low !== null && (speed.low > 1 || speed.high < 1);
    return [["speed", speed.ratio.toFixed(3) + "×",
             speed.low === null ? "no interval: fewer than three rounds" : "95 %: " + speed.low.toFixed(3) + " to " + speed.high.toFixed(3) + (sure ? "" : ", no clear difference"),
             sure ? (speed.ratio > 1 ? "good" : "bad") : ""]];
  }

  function verdictOnRate(index) {
    const deltas = data.deltas.filter((d) => d.anchor === anchor && d.configuration === index && d.metric === "psnr_y");
    const rates = deltas.filter((d) => d.bd_rate_percent !== null).map((d) => d.bd_rate_percent);
    if (!rates.length) return deltas.length ? [["BD-rate", "none", deltas[0].why_not]] : [];
    const mean = rates.reduce((a, b) => a + b, 0) / rates.length;
    return [["BD-rate", (mean > 0 ? "+" : "") + mean.toFixed(2) + " %", "PSNR Y, " + (rates.length > 1 ? "mean of " + rates.length + " inputs" : "less is better"),
             Math.abs(mean) < 0.005 ? "" : mean < 0 ? "good" : "bad"]];
  }

  function verdictOnBytes(index) {
    const bytes = data.bytes.filter((b) => b.anchor === anchor && b.configuration === index);
    const same = bytes.filter((b) => b.identical).length;
    // With different settings, different bytes are normal.
    if (!bytes.length || !same && !bytes.every((b) => b.same_settings)) return [];
    return [["bytes", same === bytes.length ? "identical" : same ? "some differ" : "different", same + " of " + bytes.length + " streams", same === bytes.length ? "good" : "bad"]];
  }

  function verdicts() {
    $("verdicts").replaceChildren();
    configurations.forEach((c, index) => {
      if (index !== anchor) card(c.name + " against " + configurations[anchor].name, [...verdictOnSpeed(index), ...verdictOnRate(index), ...verdictOnBytes(index)]);
    });
    if (configurations.length === 1) card(configurations[0].name, [["points", data.points.length, "one side only, nothing to compare with"]]);
    if (data.points.some((p) => !p.reproducible)) card("Runs", [["bytes", "differ", "some runs wrote other bytes than the run before", "bad"]]);
  }

  const kColumns = [
    ["input", (p) => data.inputs[p.input].file, null], ["side", (p) => configurations[p.configuration].name, null],
    ["qp", (p) => p.quantizer === "" ? null : Number(p.quantizer), 0, "–", "the side names its own quality or rate"], ["bytes", (p) => p.bytes, 0], ["kb/s", (p) => p.bitrate_kb_per_s, 2],
    ["PSNR Y", (p) => p.psnr_y_db, 3, "∞", "the pictures are equal"], ["PSNR U", (p) => p.psnr_u_db, 3, "∞", "the pictures are equal"], ["PSNR V", (p) => p.psnr_v_db, 3, "∞", "the pictures are equal"], ["PSNR all", (p) => p.psnr_all_db, 3, "∞", "the pictures are equal"],
    ["SSIM Y", (p) => p.ssim_y, 5, "–", kNoSsim], ["fps", (p) => p.frames_per_s, 1], ["slowest", (p) => p.frames_per_s_low, 1], ["fastest", (p) => p.frames_per_s_high, 1],
    ["CPU s", (p) => p.cpu_s.length ? [...p.cpu_s].sort((a, b) => a - b)[Math.floor(p.cpu_s.length / 2)] : null, 3], ["ran on", (p) => p.backend || (external(p) ? "– (another encoder)" : ""), null],
  ];
  let sortColumn = -1;
  let descending = false;

  function fillTable() {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    let rows = data.points.filter((p) => {
      const text = (data.inputs[p.input].file + " " + label(p) + " " + p.backend).toLowerCase();
      return words.every((w) => text.includes(w));
    });
    if (sortColumn >= 0) {
      const value = kColumns[sortColumn][1];
      rows = [...rows].sort((a, b) => {
        const x = value(a) === null ? Infinity : value(a), y = value(b) === null ? Infinity : value(b);
        return (x < y ? -1 : x > y ? 1 : 0) * (descending ? -1 : 1);
      });
    }
    $("table").tBodies[0].replaceChildren(...rows.map((p) => {
      const row = element("tr");
      for (const [, value, digits, missing, why] of kColumns) {
        const is = value(p), cell = digits === null ? element("td", is, "text") : element("td", is === null ? missing || "–" : is.toFixed(digits));
        if (is === null && why) cell.title = why;
        row.append(cell);
      }
      return row;
    }));
    [...$("table").tHead.rows[0].cells].forEach((cell, i) => {
      if (i === sortColumn) cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
  }

  function makeTable() {
    const head = element("tr");
    kColumns.forEach(([name, , digits], i) => {
      const cell = element("th", name, digits === null ? "text" : "");
      cell.tabIndex = 0;
      const sort = () => { descending = sortColumn === i && !descending; sortColumn = i; fillTable(); };
      cell.addEventListener("click", sort);
      cell.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); sort(); } });
      head.append(cell);
    });
    $("table").tHead.append(head);
    fillTable();
  }

  function makeComparison() {
    $("comparison").tHead.replaceChildren();
    $("comparison").tBodies[0].replaceChildren();
    const head = element("tr");
    for (const name of ["input", "sides"]) head.append(element("th", name, "text"));
    for (const name of ["speed", "95 % from", "to", "BD-rate PSNR Y", "BD-PSNR Y", "BD-rate PSNR all", "BD-rate SSIM Y", "same bytes"]) head.append(element("th", name));
    $("comparison").tHead.append(head);
    configurations.forEach((c, index) => data.inputs.forEach((file, i) => {
      if (index === anchor) return;
      const speed = data.speeds.find((s) => s.anchor === anchor && s.configuration === index && s.input === i && s.quantizer === null);
      const delta = (m) => data.deltas.find((d) => d.anchor === anchor && d.configuration === index && d.input === i && d.metric === m);
      const percent = (d) => d.bd_rate_percent === null ? d.why_not : (d.bd_rate_percent > 0 ? "+" : "") + d.bd_rate_percent.toFixed(2) + " %";
      const bytes = data.bytes.filter((b) => b.anchor === anchor && b.configuration === index && b.input === i);
      const row = element("tr");
      row.append(element("td", file.file, "text"), element("td", c.name + " against " + configurations[anchor].name, "text"));
      const noInterval = "none: fewer than 3 rounds", lowHigh = (v) => v === null ? noInterval : v.toFixed(3);
      const same = bytes.filter((b) => b.identical).length;
      const bytesText = !bytes.length ? "– (not both are c63enc)" : same || bytes.every((b) => b.same_settings) ? same + " of " + bytes.length : "– (other settings)";
      for (const text of [speed.ratio.toFixed(3) + "×", lowHigh(speed.low), lowHigh(speed.high), percent(delta("psnr_y")),
                          delta("psnr_y").bd_quality === null ? delta("psnr_y").why_not || "–" : delta("psnr_y").bd_quality.toFixed(3) + " dB", percent(delta("psnr_all")), percent(delta("ssim_y")),
                          bytesText]) row.append(element("td", text));
      $("comparison").tBodies[0].append(row);
    }));
    if (configurations.length === 1) $("comparison").closest("section").hidden = true;
  }

  function facts() {
    const m = data.machine;
    const add = (term, text) => { if (text) $("facts").append(element("dt", term), element("dd", text)); };
    add("made", data.created + " by " + data.program + " " + data.version + " (" + data.revision + ", " + data.compiler + ")");
    add("machine", m.cpu + ", " + m.logical_cpus + " CPUs, " + (m.memory_bytes / 2 ** 30).toFixed(0) + " GiB, best instruction set " + m.best_simd);
    add("system", m.system);
    add("devices", data.devices.join("; "));
    add("rounds", data.repeat + " measured, " + data.warmup + " before; sides took turns, another one beginning each round" +
        (data.stopped ? "; stopped: these are the rounds that were finished" : ""));
    add("clock", data.clock === "process" ? "whole processes, start-up included (not all sides are c63enc)" : "c63enc's own time, start-up not counted");
    data.inputs.forEach((i) => add("input", i.file + ": " + i.width_pixels + "x" + i.height_pixels + ", " + i.frames + " frames at " + i.frames_per_s + " fps"));
    configurations.forEach(
        (c) =>
            add('side ' + c.name,
                (c.external ? '' : c.program + ' ') + (c.text || '(defaults)') + (c.version ? ' — ' + c.version : '')));
    $("commands").textContent = data.points.map((p) => p.command).join("\n");
    $("subtitle").textContent = configurations.map((c) => c.name).join(" · ") + " on " + data.inputs.map((i) => i.file.split("/").pop()).join(", ") + " · " + data.created.slice(0, 10);
    $("speed-note").textContent = (data.stopped ? "stopped: median of the finished rounds" : "median of " + data.repeat) + ", slowest to fastest";
  }

  // The frames of the input's sides: streams of c63, or one picture. The analyzer shows two of them.
  const kSides = JSON.parse($("sides").textContent);
  const sideOf = (p) => p.configuration === null ? "the input" : label(p);
  const sidesOfInput = () => kSides.filter((p) => p.input === input);
  function frames() {
    const names = sidesOfInput().map(sideOf);
    $("frames-section").hidden = !names.length;
    if (!names.length) return;
    fill("left", names.map((name) => [name, name]), names[0]);
    fill("right", names.map((name) => [name, name]), names[1]);
    showSides();
  }
  function showSides() {
    const {width_pixels: width, height_pixels: height} = data.inputs[input];
    const sides = ["left", "right"].map((side) => sidesOfInput().find((p) => sideOf(p) === $(side).value));
    $("left-figures").textContent = "Left: " + frameFigures(sides[0]);
    $("right-figures").textContent = "Right: " + frameFigures(sides[1]);
    const shown = { width, height, types: [], light: 100, show: width % 16 ? "straight picture" : "picture" };
    return $("frames").contentWindow.openInside(sides.map((p) => ({ ...p, ...shown, name: sideOf(p) })));
  }
  // Returns the bits and quality of the shown frame.
  function frameFigures(p) {
    if (p.configuration === null) return 'the input';
    const point = data.points.find(
        (q) => q.input === p.input && q.configuration === p.configuration && q.quantizer === p.quantizer);
    const bits = point.frames.bits[p.frame];
    return label(point) + ', frame ' + p.frame + ': PSNR Y ' + psnr(point.frames.psnr_y_db[p.frame], 3) + ' dB, ' +
        (bits === undefined ? 'bits not known (' + point.frames.why_no_bits + ')' :
                              bits.toLocaleString('en') + ' bits');
  }
  function save(name, type, text) {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  $("theme").addEventListener("click", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; drawAll(); lightenFrames(); });
  fill("input", data.inputs.map((i, index) => [index, i.file.split("/").pop()]), input);
  $("input-label").hidden = data.inputs.length < 2;
  $("input").addEventListener("change", (e) => { input = Number(e.target.value); fillQuantizers(); drawAll(); frames(); });
  fill("anchor", configurations.map((c, index) => [index, c.name]), anchor);
  $("anchor-label").hidden = configurations.length < 2;
  $("anchor").addEventListener("change", (e) => { anchor = Number(e.target.value); verdicts(); makeComparison(); });
  $("metric").addEventListener("change", (e) => { metric = e.target.value; drawRd(); drawTradeoff(); });
  $("log-rate").addEventListener("change", drawRd);
  $("quantizer").addEventListener("change", (e) => { rank = Number(e.target.value); drawStages(); drawFrames(); });
  $("filter").addEventListener("input", fillTable);
  $("save-csv").addEventListener("click", () => save("c63-ab.csv", "text/csv", csv));
  $("save-json").addEventListener("click", () => save("c63-ab.json", "application/json", JSON.stringify(data, null, 2) + "\n"));

  for (const id of ["left", "right"]) $(id).addEventListener("change", showSides);
  const lightenFrames = () => { $("frames").contentDocument.documentElement.dataset.theme = root.dataset.theme; };
  $("frames").addEventListener("load", () => { lightenFrames(); frames(); });
  $("frames-section").hidden = !kSides.length;
  if (kSides.length) $("frames").srcdoc = JSON.parse($("analyzer").textContent);

  facts();
  verdicts();
  makeTable();
  makeComparison();
  fillQuantizers();
  drawAll();
})();
