#!/usr/bin/env python3
"""Checks the analyzer's page in headless Chromium: it decodes and encodes to the bytes of c63dec and c63enc, survives damaged
streams, and does what its keys and buttons say.

Usage: page.py --build DIR [--shared DIR] [--screenshots DIR] [--speed]
  --screenshots DIR  also writes pictures of the page in three widths, light and dark
  --speed            also prints how fast the page decodes and encodes foreman

Exit status: 0 nothing found, 1 findings, 77 no Chromium or no analyzer here.
"""

import argparse
import hashlib
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from browser import Browser

HASH_OF = """(async (bytes) => Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", await bytes)), (b) => b.toString(16).padStart(2, "0")).join(""))"""
HASH = HASH_OF + "(streams[streams.length - 1].bytes)"
DECODE = HASH_OF + """((async () => {
  const parts = [];
  for (let n = 0; n < streams[0].count; ++n) { await streams[0].decode(n); parts.push(streams[0].samples()); }
  return new Blob(parts).arrayBuffer();
})())"""


class Check:
    def __init__(self, options, folder):
        self.programs = pathlib.Path(options.build).resolve() / "bin"
        self.page = pathlib.Path(options.build).resolve() / "share/c63/analyzer.html"
        self.shared, self.folder, self.findings = pathlib.Path(options.shared).resolve(), folder, []
        self.browser = Browser(self.page.as_uri())

    def expect(self, what, holds):
        if not holds:
            self.findings.append(what)
            print("FINDING: " + what, flush=True)

    def program(self, name, *arguments):
        return subprocess.run([self.programs / name, *arguments], capture_output=True, check=False)

    def text(self, element):
        return self.browser.run(f"update().then(() => $('{element}').innerText || $('{element}').value || '')")

    def press(self, key, more="{}"):
        self.browser.run(f"dispatchEvent(new KeyboardEvent('keydown', Object.assign({{key: '{key}'}}, {more}))); update()")

    def make(self, name, *arguments):
        path = self.folder / name
        self.program("c63gen", "--quiet", *arguments, "-o", path).check_returncode()
        return path

    def encoded(self, video, name, *arguments):
        path = self.folder / name
        self.program("c63enc", "--quiet", "--backend", "cpu", *arguments, video, path).check_returncode()
        return path

    def golden(self):
        """Known streams decode to known pictures, and their originals encode to these streams."""
        manifest = self.shared / "golden/manifest.tsv"
        if not manifest.exists():
            return print("skipped: golden streams (no shared data)")
        facts = dict(line.split("\t")[::2] for line in manifest.read_text().splitlines()[1:])
        for stream in sorted((self.shared / "golden").glob("*.c63")):
            self.browser.choose_files(stream)
            self.expect(f"{stream.name} decodes to other pictures", self.browser.run(DECODE) == facts[stream.stem + ".dec.yuv"])
        for video in sorted((self.shared / "sequences").glob("*.yuv")):
            self.browser.run("streams = []")
            self.browser.choose_files(video)
            self.expect(f"{video.name} encodes to another stream", self.browser.run(HASH) == facts.get(video.stem + ".c63"))

    def same_as_programs(self):
        """Streams of every preset decode as c63dec does; encodes are those of c63enc."""
        for size, name in (("96x60", "even"), ("100x52", "sheared"), ("24x24", "small")):
            width, height = size.split("x")
            video = self.make(f"{name}_{size}.yuv", "--pattern", "objects", "-w", width, "-h", height, "-f", "12")
            for preset in ("reference", "fast", "good", "best"):
                stream = self.encoded(video, f"{name}-{preset}.c63", "--preset", preset, "--keyint", "5")
                decoded = self.program("c63dec", stream, "-o", "-").stdout
                self.browser.choose_files(stream)
                self.expect(f"{stream.name} decodes to other pictures", self.browser.run(DECODE) == hashlib.sha256(decoded).hexdigest())
            for qp in (10, 40):
                self.browser.run(f"streams = []; $('qp').value = {qp}")
                self.browser.choose_files(video)
                stream = self.encoded(video, "encoded.c63", "--preset", "reference", "--qp", str(qp))
                self.expect(f"{video.name} at qp {qp} encodes to another stream", self.browser.run(HASH) == hashlib.sha256(stream.read_bytes()).hexdigest())
        white = self.folder / "white_64x48.yuv"
        white.write_bytes(bytes([235]) * 64 * 48 + bytes([128]) * 64 * 24)
        self.browser.choose_files(self.encoded(white, "white.c63"))
        drawn = """Promise.all([false, true].map((full) => Stream.open(streams[0].bytes, "", full).then(async (s) => {
            await s.decode(0);
            const flat = pictureOf(new Uint8Array([235, 235, 235, 235, 128, 128]), 2, 2, full).getContext("2d").getImageData(0, 0, 1, 1).data;
            return [new Uint8Array(s.copy(s.module.draw(0, s.width, s.height, 1), 4))[0], flat[0]];
        })))"""
        shown = self.browser.run(drawn)
        self.expect(f"white of 235 is shown as {shown}", shown == [[254, 255], [234, 235]])  # the stream has 234
        y4m = self.make("film.y4m", "--pattern", "pan", "-w", "64", "-h", "48", "-f", "5")
        self.browser.run("streams = []; $('qp').value = 25")
        self.browser.choose_files(y4m)
        stream = self.encoded(y4m, "y4m.c63")
        self.expect("Y4M encodes to another stream", self.browser.run(HASH) == hashlib.sha256(stream.read_bytes()).hexdigest())
        if shutil.which("ffmpeg"):
            film = self.folder / "film.webm"
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", y4m, "-c:v", "libvpx", film], check=True)
            self.browser.run("streams = []")
            self.browser.choose_files(film)
            self.expect("a video that the browser plays is not encoded whole: " + self.text("message"), self.browser.run("streams.length && streams[0].count") == 5)

    def values(self):
        """The inspector has what c63mv lists."""
        video = self.make("pan_96x64.yuv", "--pattern", "pan", "--mv", "3,-2", "-w", "96", "-h", "64", "-f", "5")
        stream = self.encoded(video, "pan.c63", "--preset", "good")
        self.browser.choose_files(stream)
        for source in ((), ("--source", video)):
            if source:
                self.browser.choose_files(video)
            listed = self.program("c63mv", "--quiet", stream, "--format", "csv", *source, "-o", "-").stdout.decode().splitlines()[1:]
            for frame in range(5):
                shown = self.browser.run(f"""streams[0].frame({frame}).then((f) => f.blocks ? Array.from({{ length: 96 }}, (_, i) => {{
                  const b = streams[0].block(f, i); return [b.mode ? 1 : 0, b.x, b.y, b.mode ? b.sad : "", b.motionBits, b.bits].join(); }}) : [])""")
                wanted = [line.split(",", 4)[4] for line in listed if line.startswith(f"{frame},Y,")]
                self.expect(f"values of frame {frame} {source}", shown == wanted)

    def written(self):
        """Pages that c63mv writes contain what it was given: streams byte for byte, a film's vectors, SADs against a source."""
        def page_of(*arguments):
            page = self.folder / "mv.html"
            made = self.program("c63mv", "--quiet", *arguments, "-o", page)
            self.expect(f"c63mv {arguments}: {made.stderr.decode()}", made.returncode == 0)
            self.browser.open("about:blank")
            self.browser.open(page.as_uri())
            self.browser.run("new Promise((done) => { const wait = () => frames.length ? done() : setTimeout(wait, 20); wait(); })")
            return page

        stream, other = self.folder / "even-good.c63", self.folder / "even-fast.c63"
        page_of(stream, "--beside", other, "--frame", "7", "--overlay", "pred", "--type", "sad")
        self.expect("the second stream has other bytes", self.browser.run(HASH) == hashlib.sha256(other.read_bytes()).hexdigest())
        self.expect("options of c63mv", self.browser.run("[state.frame, $('show').value, $('heat').value, $('arrows').checked].join()") == "7,prediction,SAD,false")
        self.expect("two summaries", self.browser.run("document.querySelectorAll('#summaries pre').length") == 2)
        hostile = self.folder / "<script>window.injected=1<.c63"
        shutil.copy(stream, hostile)
        page_of(hostile, "--seek", "3", "-f", "4")
        self.expect("a part of a stream", self.browser.run("[state.frame, count].join()") == "3,7")
        self.expect("names stay text", self.browser.run("!window.injected && $('name').textContent.includes('<script>')"))
        video = self.folder / "pan_96x64.yuv"
        for given, name in (((self.folder / "pan.c63", "--source", video), "stream"), ((video,), "film")):
            page_of(*given)
            listed = self.program("c63mv", "--quiet", *given, "--format", "csv", "-o", "-").stdout.decode().splitlines()[1:]
            wanted = [line.split(",")[5:8] if name == "stream" else line.split(",")[4:7] for line in listed
                      if line.startswith("3,Y," if name == "stream" else "3,")]
            shown = self.browser.run("""streams[0].frame(3).then((f) => Array.from({ length: 96 }, (_, i) => {
              const b = streams[0].block(f, i); return [b.x, b.y, b.mode ? b.sad : ""].map(String); }))""")
            self.expect(f"values on the page of a {name}", shown == wanted)
        if shutil.which("ffmpeg"):
            film = self.folder / "film.avi"
            subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-s", "96x64", "-i", video, "-c:v", "mpeg4", film], check=True)
            page_of(film, "--codec-vectors")
            self.expect("the codec's vectors are a second film", self.browser.run("go(3).then(() => streams.length === 2 && frames[1].images.picture.width === 96)"))
        foreman = self.shared / "golden/foreman_352x288.c63"
        if foreman.exists():
            page = page_of(foreman)
            self.expect(f"a page of {page.stat().st_size} bytes", page.stat().st_size <= foreman.stat().st_size + 400_000)
            print(f"page of foreman: {page.stat().st_size} bytes, the stream has {foreman.stat().st_size}")
            self.expect("foreman's bytes", self.browser.run(HASH) == hashlib.sha256(foreman.read_bytes()).hexdigest())
        self.browser.open(self.page.as_uri())

    def search(self):
        """In a stream of preset reference, every vector is the winner of each order of its search."""
        video = self.make("search_64x48.yuv", "--pattern", "objects", "-w", "64", "-h", "48", "-f", "3")
        self.browser.run("streams = []")
        self.browser.choose_files(video)
        wrong = self.browser.run("""(async () => {
          const planes = await streams[0].planes(2), frame = await streams[0].frame(2), wrong = [];
          for (let i = 0; i < 48; ++i) for (const order of Object.keys(kOrders)) {
            const s = searchOf(planes, i % 8, Math.floor(i / 8), 16, order, [{ x: 0, y: 0 }]), b = streams[0].block(frame, i);
            const seen = s.steps.reduce((n, step) => n + step.tried.length + step.ruledOut.length, 0);
            if (s.vector.x !== b.x || s.vector.y !== b.y || seen !== s.sads.length) wrong.push([order, i, s.vector, b]);
            if (s.bounds.some((bound, c) => bound > s.sads[c])) wrong.push(["bound", i]);
          }
          return wrong;
        })()""")
        self.expect(f"searches: {wrong}", wrong == [])
        self.browser.run("go(2).then(() => choose({ column: 3, row: 3 })).then(update)")
        self.press("w")
        self.browser.run("$('order').value = 'elimination'; watch()")
        self.expect("the search is shown", "Winner: vector" in self.text("winner") and not self.text("step-text").startswith("Step 1024 "))
        self.browser.run("$('step').value = 1; $('step').dispatchEvent(new Event('input'))")
        self.expect("a step says why", "likely candidate (0, 0)" in self.text("step-why"))

    def fault_of(self, stream):
        """Returns what the page says about a stream when it has decoded all that it can."""
        self.browser.run("streams = []; undefined")
        self.browser.choose_files(stream)
        return self.browser.run("""(async () => {
          for (let n = 0; streams.length && n < streams[0].count; ++n) try { await streams[0].decode(n); } catch (error) { return error.message; }
          return streams.length ? streams[0].fault : $("message").textContent;
        })()""")

    def damaged(self, count=100):
        """A damaged stream gives one line, as it fails c63dec; the page goes on."""
        stream = self.folder / "even-good.c63"
        good, dice = stream.read_bytes(), random.Random(1)
        crafted = [b"", b"\xff", b"\xff\xd8", b"\xff\xd8\xff\xd9", good[:700], good[:-1], good + b"x", b"\xff\xd8" * 99]
        while len(crafted) < count:
            data = bytearray(good)
            for _ in range(dice.randint(1, 3)):
                data[dice.randrange(min(len(data), dice.choice((30, 700, len(data)))))] = dice.choice((0, 0xff, 0xd9, dice.randrange(256)))
            crafted.append(bytes(data[:dice.choice((len(data), dice.randrange(len(data))))]))
        bad = self.folder / "bad.c63"
        for number, data in enumerate(crafted):
            bad.write_bytes(data)
            fails = self.program("c63dec", "--quiet", bad, "-o", "/dev/null").returncode != 0
            result = self.fault_of(bad)
            self.expect(f"damaged stream {number}: c63dec {'fails' if fails else 'takes it'}, the page says '{result}'", bool(result) == fails and "\n" not in result)
        # Those of the decoder's tests, with their errors.
        kept = self.folder / "kept"
        kept.mkdir()
        tests = self.programs.parent / "tests/test_decode"
        if tests.exists():
            subprocess.run([tests, "--gtest_filter=Bad*"], env={"C63_KEEP_BAD_STREAMS": str(kept)}, stdout=subprocess.DEVNULL, check=False)
            self.expect("the decoder's tests keep their streams", len(list(kept.iterdir())) >= 80)
        for path in sorted(kept.iterdir()):
            bad.write_bytes(path.read_bytes())
            result = self.fault_of(bad)
            self.expect(f"{path.name}: the page says '{result}'", f"[{path.suffix[1:]}]" in result and "\n" not in result)
        self.browser.choose_files(stream)
        self.expect("a good stream opens after damaged ones", self.text("message") == "" and self.browser.run("streams[0].count") == 12)

    def controls(self):
        stream, other = self.folder / "even-reference.c63", self.folder / "even-fast.c63"
        self.browser.choose_files(stream)
        for key, more, frame in (("End", "{}", "11"), ("Home", "{}", "0"), ("ArrowRight", "{}", "1"), ("ArrowRight", "{shiftKey: true}", "11"), ("ArrowLeft", "{}", "10")):
            self.press(key, more)
            self.expect(f"{key} {more} goes to {self.text('number')}", self.text("number") == frame)
        self.browser.run("location.hash = '#frame=6&block=2,3'; new Promise((done) => setTimeout(done, 100))")
        self.expect("the address opens a frame and a block", self.text("number") == "6" and "16,24" in self.text("values"))
        drawn = "update().then(() => document.querySelector('.view canvas').toDataURL())"
        seen = {self.browser.run(drawn)}
        for script in ("dispatchEvent(new KeyboardEvent('keydown', {key: '1'}))", *(f"$('heat').value = '{h}'" for h in ("SAD", "bits", "levels", "mode")),
                       *(f"$('show').value = '{s}'" for s in ("prediction", "residual", "difference")), "zoomTo(3)"):
            self.browser.run(script)
            picture = self.browser.run(drawn)
            self.expect(f"{script} changes the picture", picture not in seen)
            seen.add(picture)
        click = """(() => { const c = document.querySelector('.view canvas'), b = c.getBoundingClientRect(), at = { clientX: b.left + b.width * %s, clientY: b.top + b.height * 0.1 };
          for (const type of ['pointerdown', 'pointerup']) c.dispatchEvent(new PointerEvent(type, at)); })(); zoomTo(1); update()"""
        self.browser.run("zoomTo(1)")
        self.browser.run(click % "0.98")
        self.expect("a click keeps a block", "88,0" in self.text("values") and "block=11,0" in self.browser.run("location.hash"))
        self.browser.run(click % "0.98")
        self.expect("another lets it go", "Point at a block" in self.text("values"))
        self.press(" ")
        self.browser.run("new Promise((done) => setTimeout(done, 200))")
        self.press(" ")
        self.expect("space plays", self.text("number") != "6" and self.text("play") == "Play")
        dropped = self.browser.run("""(async () => {
          const dataTransfer = new DataTransfer(), shown = streams;
          dataTransfer.items.add(new File([streams[0].bytes], "dropped.c63"));
          dispatchEvent(new DragEvent("dragover", { dataTransfer, cancelable: true }));
          const invites = !$("drop").hidden;
          dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
          while (streams === shown) await new Promise((done) => setTimeout(done, 10));
          return invites && $("drop").hidden && $("name").textContent;
        })()""")
        self.expect(f"dropping a file shows it: {dropped}", dropped == "dropped.c63")
        before = self.browser.run("getComputedStyle(document.body).backgroundColor")
        self.browser.run("$('theme').click()")
        self.expect("light and dark", before != self.browser.run("getComputedStyle(document.body).backgroundColor"))
        self.browser.choose_files(stream, other)
        self.press("End")
        self.expect("two streams in step", self.browser.run("views.length") == 2 and " and " in self.text("label") and self.text("number") == "11")
        self.browser.choose_files(self.make("even_96x60.yuv", "--pattern", "objects", "-w", "96", "-h", "60", "-f", "12"))
        self.expect("a video of its size becomes the original", self.text("message").startswith("original: "))
        self.browser.run("encode(true)")
        self.expect("an encode beside", self.browser.run("streams.length") == 2 and "qp 25" in self.text("name"))

    def screenshots(self, folder):
        stream = next((s for s in [self.shared / "golden/foreman_352x288.c63"] if s.exists()), self.folder / "even-good.c63")
        self.browser.choose_files(stream)
        self.browser.run("$('arrows').checked = true; $('show').value = 'picture'; $('heat').value = 'none'; go(30).then(() => choose({ column: 6, row: 4 })).then(update).then(watch)")
        for width, height in ((1440, 1000), (800, 1100), (390, 844)):
            for scheme in ("light", "dark"):
                self.browser.run("delete root.dataset.theme; scrollTo(0, 0)")
                self.browser.screenshot(folder / f"{width}-{scheme}.png", width, height, scheme)
                self.expect(f"at {width} nothing is wider than the window", self.browser.run("root.scrollWidth <= innerWidth"))
                self.expect(f"at {width} the inspector is in view", self.browser.run("$('inspector').getBoundingClientRect().bottom <= innerHeight + 1"))
                self.browser.run("$('search').scrollIntoView()")
                self.browser.screenshot(folder / f"{width}-{scheme}-search.png", width, height, scheme)

    def speed(self):
        self.browser.choose_files(self.shared / "golden/foreman_352x288.c63")
        print(self.browser.run("""(async () => {
          await new Promise((done) => setTimeout(done, 3000));
          const stream = await Stream.open(streams[0].bytes, "speed"), from = performance.now();
          for (let n = 0; n < stream.count; ++n) stream.module.decode(n);
          return "decoding: " + (1000 * stream.count / (performance.now() - from)).toFixed(0) + " frames/s";
        })()"""))
        print(self.browser.run("""(async () => {
          const video = await decodedVideo(streams[0]), all = [];
          for (let n = 0; n < 100; ++n) all.push(await video.samples(n));
          const from = performance.now();
          await encodeVideo({ ...video, count: 100, samples: (n) => all[n] }, {});
          return "encoding with exact search: " + (1e5 / (performance.now() - from)).toFixed(0) + " frames/s";
        })()"""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--shared", default="/nonexistent")
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--speed", action="store_true")
    options = parser.parse_args()
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        print("skipped: no Chromium on the PATH (package chromium)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check = Check(options, pathlib.Path(folder))
        try:
            check.expect("the page is larger than 400 KB", check.page.stat().st_size <= 400_000)
            imports = check.browser.run("compiled.then((module) => WebAssembly.Module.imports(module).map((i) => i.module + '.' + i.name))")
            check.expect(f"imports of the module: {imports}", imports == ["c63.fail", "wasi_snapshot_preview1.clock_time_get"])
            for part in (check.golden, check.same_as_programs, check.values, check.written, check.search, check.damaged, check.controls):
                part()
            if options.screenshots:
                check.screenshots(options.screenshots)
            if options.speed:
                check.speed()
            check.expect(f"console: {check.browser.problems}", check.browser.problems == [])
        finally:
            check.browser.close()
        print("imports: " + ", ".join(imports) + f"; findings: {len(check.findings)}")
        return 1 if check.findings else 0


if __name__ == "__main__":
    sys.exit(main())
