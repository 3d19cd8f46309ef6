"use strict";
// Streams, films and original videos. What has frames has: name, width, height, columns, rows, count, and frame(number).

const fromBase64 = (text) => Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
/// Returns the bytes of a stream in the page, whose text is in windows-1252: a character for each byte, or '=' and the byte plus
/// 64 if HTML would change the byte.
function fromText(text) {
  const all = new TextDecoder("windows-1252").decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  const byteOf = new Map(Array.from(all, (character, byte) => [character, byte])), bytes = new Uint8Array(text.length);
  let size = 0;
  for (let i = 0; i < text.length; ++i) bytes[size++] = text[i] === "=" ? byteOf.get(text[++i]) - 64 : byteOf.get(text[i]);
  return bytes.slice(0, size);
}
const unpacked = async (bytes, format) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format))).arrayBuffer());
const pause = () => new Promise((done) => setTimeout(done));
const compiled = (async () => WebAssembly.compile(await unpacked(fromBase64(document.getElementById("module").textContent), "gzip")))();

/// Returns a new instance of c63.wasm. An error of the codec is thrown as an Error; then the instance must not be used again.
async function instance() {
  const text = new TextDecoder();
  const made = await WebAssembly.instantiate(await compiled, {
    c63: { fail: (at, size) => { throw new Error(text.decode(new Uint8Array(made.exports.memory.buffer, at, size))); } },
    wasi_snapshot_preview1: { clock_time_get: () => 52 },  // not supported
  });
  made.exports._initialize();
  return made.exports;
}
/// Returns what a call of the module threw, as one line.
const reason = (error) => error instanceof WebAssembly.RuntimeError || error instanceof RangeError ? "not enough memory for this stream [C63-MEMORY]" : error.message;

const kKinds = ["headers", "flags", "vectors", "DC", "AC", "end of block"];
const kModes = ["no prediction", "own vector", "copied from the left block", "inherited vector"];
const kShows = ["picture", "prediction", "residual", "difference", "original"];
const kStraight = "straight picture";  // of a stream whose coded picture is sheared

/// Gives a canvas as many pixels as it has on the screen.
function fitToScreen(canvas) { [canvas.width, canvas.height] = [canvas.clientWidth, canvas.clientHeight].map((side) => Math.round(side * devicePixelRatio)); }
/// Returns a canvas with these pixels.
function canvasOf(pixels, width, height) {
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(pixels), width, height), 0, 0);
  return canvas;
}
/// Converts a frame of 4:2:0 samples of full or limited range, as BT.601 says. If a side is odd, it is grey.
function pictureOf(samples, width, height, isFull) {
  const [red, green, greenOfRed, blue] = isFull ? [359, 88, 183, 454] : [409, 100, 208, 516];
  const pixels = new Uint8ClampedArray(4 * width * height).fill(255), size = width * height, even = width % 2 + height % 2 === 0;
  for (let y = 0, at = 0; y < height; ++y) for (let x = 0; x < width; ++x, at += 4) {
    const chroma = size + (y >> 1) * (width >> 1) + (x >> 1), sample = samples[y * width + x], luma = (isFull ? 256 * sample : 298 * (sample - 16)) + 128;
    const u = even ? samples[chroma] - 128 : 0, v = even ? samples[chroma + (size >> 2)] - 128 : 0;
    pixels[at] = luma + red * v >> 8;
    pixels[at + 1] = luma - green * u - greenOfRed * v >> 8;
    pixels[at + 2] = luma + blue * u >> 8;
  }
  return canvasOf(pixels, width, height);
}
/// Returns the difference of two pictures, 8 times as large, on grey.
function differenceOf(pictures, width, height) {
  const [left, right] = pictures.map((picture) => {
    const context = new OffscreenCanvas(width, height).getContext("2d");
    context.drawImage(picture, 0, 0);
    return context.getImageData(0, 0, width, height).data;
  });
  return canvasOf(left.map((value, i) => i % 4 === 3 ? 255 : 128 + 8 * (value - right[i])), width, height);
}

/// A c63 stream. The index ends before the first frame whose header has an error; `fault` then says so.
class Stream {
  static async open(bytes, name, isFull = false) {
    const stream = new Stream();
    Object.assign(stream, { bytes, name, isFull, entries: [], kinds: [], fault: "", first: 0, kept: new Map(), original: null });
    await stream.load();
    try {
      for (let at; (at = stream.module.pass()) !== 0;) stream.entries.push(stream.entryAt(at));
    } catch (error) {
      stream.fault = reason(error);
      await stream.load(stream.entries.length);
    }
    stream.count = stream.entries.length;
    if (stream.count === 0) throw new Error(stream.fault || "the stream is empty [C63-STREAM-EMPTY]");
    const [first] = stream.entries;
    const padded = (side) => Math.ceil(side / 16) * 16;
    // The codec shears a picture whose width is not a multiple of 16. Blocks are rectangles of what it codes.
    const straight = first.width % 16 === 0;
    stream.coded = { width: first.width, height: first.height };
    stream.width = straight ? first.width : padded(first.width);
    stream.height = straight ? first.height : padded(first.height);
    stream.pitch = padded(first.width);
    stream.paddedHeight = padded(first.height);
    stream.columns = stream.pitch / 8;
    stream.rows = stream.paddedHeight / 8;
    return stream;
  }

  /// Makes a fresh instance with an index of `count` frames.
  async load(count = 0) {
    this.module = await instance();
    const at = this.module.memory_for(this.bytes.length);
    if (at === 0) throw new RangeError();
    new Uint8Array(this.module.memory.buffer).set(this.bytes, at);
    this.module.set_range(this.isFull);
    this.module.open(at, this.bytes.length);
    for (let i = 0; i < count; ++i) this.module.pass();
  }
  /// Returns a copy of bytes in the module. `at` is evaluated before the memory is looked at, which a call may replace.
  copy(at, bytes) { return this.module.memory.buffer.slice(at, at + bytes); }
  entryAt(at) {
    const [offset, bytes, key, repeat, advances, width, height] = new Uint32Array(this.copy(at, 28));
    return { offset, bytes, type: repeat ? "repeat" : key ? "key" : "inter", stays: !advances, width, height };
  }

  /// Decodes a frame. If that fails, the stream ends before this frame from now on.
  async decode(number) {
    try {
      this.module.decode(number);
    } catch (error) {
      const failed = this.module.next();
      this.fault = "frame " + failed + ": " + reason(error);
      this.entries.length = this.count = failed;
      await this.load(failed);
      throw new Error(this.fault);
    }
    const at = this.first + number;  // of the original
    const original = this.original && at < this.original.count ? await this.original.samples(at) : null;
    if (original === null) return this.module.forget_original();
    const to = this.module.original_input();
    new Uint8Array(this.module.memory.buffer).set(original, to);
    this.module.lay_out_original();
  }
  /// Returns the decoded samples as c63dec writes them. The frame must be the one that was decoded last.
  samples() {
    const { width, height } = this.coded;
    return new Uint8Array(this.copy(this.module.samples(), width * height + 2 * Math.floor(width * height / 4)));
  }
  setOriginal(original) { this.original = original; this.kept.clear(); }

  /// Returns the bits of the decoded frame by kind.
  countKinds() { return Array.from(new Uint32Array(this.copy(this.module.bits(), 24))); }

  /// Returns what is shown of a frame: its entry, bits by kind, blocks, and an image of what `show` names.
  async frame(number, show = "picture") {
    let frame = this.kept.get(number);
    if (!frame || !frame.images[show]) {
      await this.decode(number);
      if (!frame) {
        frame = { entry: this.entries[number], images: {} };
        frame.kinds = this.kinds[number] = this.countKinds();
        if (frame.entry.type !== "repeat") frame.blocks = new DataView(this.copy(this.module.blocks(), 12 * this.columns * this.rows));
      }
      const gain = show === "difference" ? 8 : show === "residual" ? 2 : 1, bytes = 4 * this.width * this.height;
      frame.images[show] = show === kStraight ? pictureOf(this.samples(), this.coded.width, this.coded.height, this.isFull)
        : canvasOf(this.copy(this.module.draw(kShows.indexOf(show), this.width, this.height, gain), bytes), this.width, this.height);
    }
    this.kept.delete(number);
    this.kept.set(number, frame);
    while (this.kept.size > Math.max(4, (128 << 20) / (4 * this.width * this.height))) this.kept.delete(this.kept.keys().next().value);
    return frame;
  }
  /// Returns the values of a block, or null if the frame is a repeat.
  block(frame, i) {
    const d = frame.blocks, at = 12 * i;
    if (!d) return null;
    const mode = d.getUint8(at + 6);
    const sads = frame.entry.type === "inter" && this.sads && this.sads[this.entries.indexOf(frame.entry)], sad = sads ? sads[i] : d.getUint16(at + 4, true);
    return { x: d.getInt16(at, true), y: d.getInt16(at + 2, true), sad, mode, levels: d.getUint8(at + 7),
             motionBits: d.getUint16(at + 8, true), bits: d.getUint16(at + 10, true) };
  }
  /// Returns the levels and the steps of a luma block, 64 each, in raster order.
  async levels(number, i) {
    await this.decode(number);
    const all = new Int16Array(this.copy(this.module.levels(i), 256));
    return { levels: all.subarray(0, 64), steps: all.subarray(64) };
  }
  /// Returns the luma planes between which the motion of a frame is searched, or null if the frame has no reference.
  async planes(number) {
    await this.decode(number);
    const plane = (which) => { const at = this.module.search_plane(which); return at && this.copy(at, this.pitch * this.paddedHeight); };
    const [current, reference] = [plane(0), plane(1)];
    if (this.entries[number].type !== "inter" || !reference) return null;
    return { current: new Uint8Array(current), reference: new Uint8Array(reference), width: this.pitch, height: this.paddedHeight };
  }
}

/// A film that c63mv has searched: pictures, and vectors in quarters of a sample.
class Film {
  constructor(facts, scripts) {
    Object.assign(this, facts, { scripts, film: true, fault: "", kept: new Map(), pitch: 8 * facts.columns });
    this.entries = scripts.map((s) => ({ type: s.dataset.type, bytes: 0, sad: Number(s.dataset.sad) }));
    this.count = scripts.length;
    this.kinds = [];
  }
  async frame(number) {
    if (this.kept.has(number)) return this.kept.get(number);
    const [picture, blocks] = this.scripts[number].textContent.split(" ");
    const image = await createImageBitmap(new Blob([fromBase64(picture === "=" ? this.pictures.scripts[number].textContent.split(" ")[0] : picture)], { type: "image/jpeg" }));
    const frame = { entry: this.entries[number], images: { picture: image }, blocks: new DataView((await unpacked(fromBase64(blocks), "deflate")).buffer) };
    this.kept.set(number, frame);
    while (this.kept.size > 40) this.kept.delete(this.kept.keys().next().value);
    return frame;
  }
  block(frame, i) {
    const x = frame.blocks.getInt16(6 * i, true), y = frame.blocks.getInt16(6 * i + 2, true);
    return x === -32768 ? { x: 0, y: 0, mode: 0, sad: 0 } : { x: x / 4, y: y / 4, mode: 1, sad: frame.blocks.getUint16(6 * i + 4, true) };
  }
}

/// One picture of an encoder other than c63, or of the input.
class Still {
  static async open({ name, width, height, frame, picture, full_range }) {
    const images = { picture: pictureOf(await unpacked(fromBase64(picture), "deflate"), width, height, full_range) }, entry = { type: "picture", bytes: 0 };
    return Object.assign(new Still(), { name: name + ", only frame " + frame, width, height, images, entries: [entry], count: 1, kinds: [], fault: "", film: true });
  }
  async frame() { return { entry: this.entries[0], images: this.images }; }
}

/// An original video: raw 4:2:0 or Y4M in a file, of which only the needed frames are read.
class Original {
  static async open(file, size) {
    const start = new TextDecoder("latin1").decode(await file.slice(0, 512).arrayBuffer());
    const original = Object.assign(new Original(), { file, name: file.name, header: 0, gap: 0 });
    if (start.startsWith("YUV4MPEG2")) {
      const line = start.slice(0, start.indexOf("\n"));
      const number = (tag) => Number((new RegExp(" " + tag + "(\\d+)").exec(line) || [])[1]);
      if (/ C(?!420)/.test(line) || / C420p\d/.test(line)) throw new Error(file.name + ": only 4:2:0 with 8 bits is read, not this Y4M");
      Object.assign(original, { width: number("W"), height: number("H"), header: line.length + 1, gap: 6 });
    } else {
      const named = /(\d+)x(\d+)/.exec(file.name);
      if (!named && !size) throw new Error(file.name + ": name a raw file with its size, such as clip_352x288.yuv");
      Object.assign(original, named ? { width: Number(named[1]), height: Number(named[2]) } : size);
    }
    original.bytes = original.width * original.height + 2 * Math.ceil(original.width / 2) * Math.ceil(original.height / 2);
    original.count = Math.floor((file.size - original.header) / (original.bytes + original.gap));
    if (!(original.count > 0)) throw new Error(file.name + ": there is no whole frame of " + original.width + "x" + original.height);
    return original;
  }
  async samples(number) {
    const at = this.header + number * (this.bytes + this.gap) + this.gap;
    return new Uint8Array(await this.file.slice(at, at + this.bytes).arrayBuffer());
  }
}

/// Reads the frames of a video that the browser decodes. Its frames become 4:2:0 samples as BT.601 says.
async function readVideo(file, most, tell) {
  const video = Object.assign(document.createElement("video"), { muted: true, src: URL.createObjectURL(file) });
  const event = (name) => new Promise((done, fail) => {
    video.addEventListener(name, done, { once: true });
    video.addEventListener("error", () => fail(new Error(file.name + ": this is no c63 stream, and the browser cannot decode it")), { once: true });
  });
  await event("loadeddata");
  const width = video.videoWidth & ~1, height = video.videoHeight & ~1, frames = [];
  const context = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d", { willReadFrequently: true });
  // The file's frame rate is not told, so it is asked every 1/60 s; a frame that is shown again is not taken twice.
  let last = -1;
  for (let time = 0.001; time < video.duration && frames.length < most; time += 1 / 60) {
    const shown = new Promise((done) => video.requestVideoFrameCallback((_, facts) => done(facts.mediaTime)));
    video.currentTime = time;
    await event("seeked");
    const at = await Promise.race([shown, new Promise((done) => setTimeout(() => done(last), 60))]);
    if (at === last) continue;
    last = at;
    context.drawImage(video, 0, 0, width, height);
    frames.push(toSamples(context.getImageData(0, 0, width, height).data, width, height));
    tell(frames.length);
  }
  URL.revokeObjectURL(video.src);
  return { name: file.name, width, height, count: frames.length, samples: async (number) => frames[number] };
}
function toSamples(rgba, width, height) {
  const samples = new Uint8Array(width * height * 3 / 2), half = width / 2;
  for (let y = 0, at = 0; y < height; ++y) for (let x = 0; x < width; ++x, at += 4) {
    const r = rgba[at], g = rgba[at + 1], b = rgba[at + 2];
    samples[y * width + x] = (66 * r + 129 * g + 25 * b + 128 >> 8) + 16;
    if (x % 2 || y % 2) continue;
    const to = width * height + (y / 2) * half + x / 2;
    samples[to] = (-38 * r - 74 * g + 112 * b + 128 >> 8) + 128;
    samples[to + width * height / 4] = (112 * r - 94 * g - 18 * b + 128 >> 8) + 128;
  }
  return samples;
}

/// Encodes a video as c63enc --preset reference does. Calls tell(frames, frames a second) now and then.
async function encodeVideo(video, { qp = 25, range = 16, keyInterval = 100, frames = video.count }, tell = () => {}) {
  const module = await instance(), parts = [], from = performance.now();
  const input = module.encode(video.width, video.height, qp, range, keyInterval);
  const bytes = video.width * video.height * 3 / 2;
  for (let n = 0, told = from; n < Math.min(frames, video.count); ++n) {
    new Uint8Array(module.memory.buffer, input, bytes).set(await video.samples(n));
    const size = module.code();
    parts.push(new Uint8Array(module.memory.buffer).slice(module.coded(), module.coded() + size));
    if (performance.now() - told < 50) continue;
    told = performance.now();
    tell(n + 1, 1000 * (n + 1) / (told - from));
    await pause();
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
