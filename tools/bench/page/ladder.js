"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const kSvg = "http://www.w3.org/2000/svg";
  const kSamples = 64, kBlock = 8;  // samples of a block, and its side

  const node = (tag, attributes, text, svg = true) => {
    const made = svg ? document.createElementNS(kSvg, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const number = (value) => {
    const digits = Math.max(0, 2 - Math.floor(Math.log10(value)));
    return (value < 1000 ? Number(value.toFixed(digits)) : Number(value.toPrecision(3))).toLocaleString("en", { minimumFractionDigits: value < 1000 ? digits : 0 });
  };
  const scaled = (value) => {
    for (const [unit, size] of [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]]) if (value >= size) return number(value / size) + " " + unit;
    return number(value);
  };

  const timeOf = (us) => us >= 1e6 ? us / 1e6 + " s" : us >= 1000 ? us / 1000 + " ms" : us + " µs";

  // Returns a row for each kernel at the chosen size, content and number of frames per launch, slowest first.
  function rowsShown() {
    const size = $("size").value, [width, height] = size.split("x").map(Number);
    const bytes = 2 * width * height + 4 * Math.floor(width / kBlock) * Math.floor(height / kBlock);
    const rows = data.results
      .filter((r) => r.size === size && r.content === $("content").value && String(r.jobs) === $("jobs").value)
      .map((r) => ({ name: r.kernel, kind: "gpu", us: r.us_per_frame, rate: r.absdiff_per_s, share: r.share_of_ceiling, detail: r, bytes }));
    for (const r of data.cpu || []) {
      if (r.size === size) rows.push({ name: "CPU " + r.level + ", " + r.kernel, kind: "cpu", us: r.us_per_frame, rate: r.absdiff_per_s, share: r.share_of_ceiling, bytes });
    }
    return rows.sort((a, b) => b.us.median - a.us.median);
  }

  function tell(row, first) {
    const lines = [row.name, number(row.us.median) + " µs a frame (" + number(row.us.p10) + " to " + number(row.us.p90) + ")",
                   number(1e6 / row.us.median) + " frames/s, " + number(first.us.median / row.us.median) + " times the slowest here",
                   scaled(row.rate) + " absolute differences/s" + (row.share ? ", " + (100 * row.share).toFixed(1) + " % of the ceiling" : "")];
    const d = row.detail;
    if (d) lines.push(d.registers + " registers, " + d.threads + " threads a block, " + d.shared_bytes.toLocaleString("en") + " bytes shared, occupancy " + (100 * d.occupancy).toFixed(0) + " %",
                      d.equal ? "the same vectors as the others" : "OTHER VECTORS THAN THE OTHERS");
    return lines.join("\n");
  }

  function withTip(mark, text) {
    mark.setAttribute("tabindex", "0");
    mark.setAttribute("aria-label", text);
    const show = (x, y) => {
      const tip = $("tip");
      tip.textContent = text;
      tip.hidden = false;
      tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8)) + "px";
      tip.style.top = Math.max(4, Math.min(y + 14, innerHeight - tip.offsetHeight - 8)) + "px";
    };
    mark.addEventListener("pointermove", (event) => show(event.clientX, event.clientY));
    mark.addEventListener("focus", () => { const box = mark.getBoundingClientRect(); show(box.right, box.bottom); });
    for (const away of ["pointerleave", "blur"]) mark.addEventListener(away, () => { $("tip").hidden = true; });
    return mark;
  }

  // Drawings are as wide as the page allows, so that text keeps its size. On a phone, names are above the bars.
  const widthOf = (id) => Math.max(280, Math.min(1040, $(id).clientWidth || 1040));

  function drawLadder(rows) {
    const kWidth = widthOf("ladder"), narrow = kWidth < 700;
    const kLeft = narrow ? 24 : 210, kRight = narrow ? 32 : 170, kRow = narrow ? 58 : 34, kTop = 8;
    const low = Math.floor(Math.log10(Math.min(...rows.map((r) => r.us.median)))), high = Math.ceil(Math.log10(Math.max(...rows.map((r) => r.us.median))));
    const at = (us) => kLeft + (Math.log10(us) - low) / Math.max(1, high - low) * (kWidth - kLeft - kRight);
    const height = kTop + kRow * rows.length + 28;
    const svg = node("svg", { viewBox: `0 0 ${kWidth} ${height}`, role: "img", "aria-label": "Microseconds of each kernel" });
    for (let power = low; power <= high; ++power) {
      const x = at(10 ** power);
      svg.append(node("line", { x1: x, x2: x, y1: kTop, y2: height - 24 }), node("text", { class: "soft", x, y: height - 8, "text-anchor": "middle" }, timeOf(10 ** power)));
    }
    rows.forEach((row, i) => {
      const y = kTop + kRow * i, x = at(row.us.median), bar = narrow ? y + 20 : y + 6;
      const value = narrow ? { x: kWidth, y: y + 15, "text-anchor": "end" } : { x: x + 10, y: y + 17 };
      const rate = narrow ? { x: 0, y: y + 52 } : { x: x + 10, y: y + 31 };
      svg.append(node("text", { x: 0, y: narrow ? y + 15 : y + 19 }, row.name),
                 withTip(node("rect", { class: row.kind, x: kLeft - 4, y: bar, width: Math.max(6, x - kLeft + 4), height: 18, rx: 4 }), tell(row, rows[0])),
                 node("text", { class: "value", ...value }, number(row.us.median) + " µs"),
                 node("text", { class: "soft", ...rate }, number(1e6 / row.us.median) + " frames/s, " + number(rows[0].us.median / row.us.median) + "×"));
    });
    $("ladder").replaceChildren(svg);
  }

  function drawRoofline(rows) {
    const kWidth = widthOf("roofline"), narrow = kWidth < 700;
    const kHeight = 460, kLeft = narrow ? 52 : 90, kRight = 26, kTop = 16, kBottom = 44;
    const roof = 4 * data.absdiff4_ceiling_per_s, copy = data.copy_bytes_per_s;
    const intensity = (row) => row.rate * row.us.median / 1e6 / row.bytes;
    const xs = [1, 10000], lowest = Math.min(...rows.map((r) => r.rate)), ys = [10 ** Math.floor(Math.log10(lowest)), 10 ** Math.ceil(Math.log10(Math.max(roof, ...rows.map((r) => r.rate))) )];
    const x = (v) => kLeft + Math.log10(v / xs[0]) / Math.log10(xs[1] / xs[0]) * (kWidth - kLeft - kRight);
    const y = (v) => kHeight - kBottom - Math.log10(v / ys[0]) / Math.log10(ys[1] / ys[0]) * (kHeight - kTop - kBottom);
    const svg = node("svg", { viewBox: `0 0 ${kWidth} ${kHeight}`, role: "img", "aria-label": "Roofline" });
    for (let v = xs[0]; v <= xs[1]; v *= 10) svg.append(node("line", { x1: x(v), x2: x(v), y1: kTop, y2: kHeight - kBottom }), node("text", { class: "soft", x: x(v), y: kHeight - kBottom + 16, "text-anchor": "middle" }, v.toLocaleString("en")));
    for (let v = ys[0]; v <= ys[1] * 1.01; v *= 10) svg.append(node("line", { x1: kLeft, x2: kWidth - kRight, y1: y(v), y2: y(v) }), node("text", { class: "soft", x: kLeft - 8, y: y(v) + 4, "text-anchor": "end" }, scaled(v)));
    svg.append(node("text", { class: "soft", x: kWidth / 2, y: kHeight - 8, "text-anchor": "middle" }, "absolute differences a byte"));
    // The roofs: how many differences the rate of a copy allows, and how many the instruction's rate allows.
    const ridge = copy ? Math.max(xs[0], roof / copy) : xs[0];
    const slant = [];
    if (copy) for (let v = Math.max(xs[0], ys[0] / copy); v < ridge; v *= 1.2) slant.push(x(v) + "," + y(v * copy));
    svg.append(node("polyline", { class: "roof", id: "roof", points: [...slant, x(ridge) + "," + y(roof), x(xs[1]) + "," + y(roof)].join(" ") }),
               node("text", { class: "roof-text", x: x(xs[1]) - 6, y: y(roof) - 6, "text-anchor": "end" }, "VABSDIFF4: " + scaled(roof) + " differences/s"));
    if (copy) svg.append(node("text", { class: "roof-text", x: x(2) + 10, y: y(2 * copy) + 14 }, "copy: " + scaled(copy) + "B/s"));
    rows.forEach((row) => {
      const px = x(intensity(row)), py = y(row.rate);
      svg.append(withTip(node(row.kind === "cpu" ? "rect" : "circle", row.kind === "cpu" ? { class: "cpu", x: px - 6, y: py - 6, width: 12, height: 12 } : { class: "gpu", cx: px, cy: py, r: 7 }), tell(row, rows[0])));
    });
    // Names are placed next to their points, far enough apart to be read.
    let last = -Infinity;
    [...rows].sort((a, b) => b.rate - a.rate).forEach((row) => {
      const place = Math.max(y(row.rate) + 4, last + 14);
      last = place;
      // a line from the point to its name
      const px = x(intensity(row)), way = px + 34 + 7.5 * row.name.length > kWidth ? -1 : 1;
      svg.append(node("line", { x1: px + 8 * way, y1: y(row.rate), x2: px + 30 * way, y2: place - 4 }),
                 node("text", { class: "soft", x: px + 34 * way, y: place, "text-anchor": way < 0 ? "end" : "start" }, row.name));
    });
    $("roofline").replaceChildren(svg);
  }

  function fillTable(rows) {
    const head = node("tr", {}, undefined, false);
    for (const name of ["kernel", "µs", "10 %", "90 %", "frames/s", "times the slowest", "of the ceiling", "registers", "occupancy"]) head.append(node("th", {}, name, false));
    $("table").tHead.replaceChildren(head);
    $("table").tBodies[0].replaceChildren(...rows.map((row) => {
      const line = node("tr", {}, undefined, false), d = row.detail;
      for (const text of [row.name, number(row.us.median), number(row.us.p10), number(row.us.p90), number(1e6 / row.us.median), number(rows[0].us.median / row.us.median),
                          row.share ? (100 * row.share).toFixed(1) + " %" : "–", d ? d.registers : "–", d ? (100 * d.occupancy).toFixed(0) + " %" : "–"]) line.append(node("td", {}, text, false));
      return line;
    }));
  }

  function draw() {
    const rows = rowsShown();
    if (!rows.length) return;
    drawLadder(rows);
    drawRoofline(rows);
    fillTable(rows);
  }

  function fill(id, values, chosen) {
    $(id).replaceChildren(...values.map((value) => { const option = node("option", { value }, value, false); option.selected = String(value) === String(chosen); return option; }));
    $(id).addEventListener("change", draw);
  }
  const distinct = (key) => [...new Set(data.results.map((r) => r[key]))];
  const sizes = distinct("size");
  fill("size", sizes, sizes.includes("352x288") ? "352x288" : sizes[0]);
  fill("content", distinct("content"), distinct("content")[0]);
  // The number of frames per launch that docs/course.md and its picture use.
  fill("jobs", distinct("jobs"), distinct("jobs").includes(8) ? 8 : distinct("jobs")[0]);
  root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  $("theme").addEventListener("click", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; });
  $("subtitle").textContent = [data.architecture, data.multiprocessors + " multiprocessors", "range ±" + data.range, data.cpu_name ? "CPU: " + data.cpu_name + ", one thread" : "",
                               data.date ? data.date.slice(0, 10) : "", data.revision ? "revision " + data.revision : ""].filter(Boolean).join(" · ");
  draw();
  let drawnWidth = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== drawnWidth) { drawnWidth = innerWidth; draw(); } });
})();
