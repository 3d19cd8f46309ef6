"""Small videos that differ: moving and still, natural and drawn, quiet and noisy, with cuts, fades and repeated frames,
of 2 to 300 frames. c63gen and FFmpeg make them. Some are parts of real video.
"""

import pathlib

from checks import run_well

# Real videos: the file, and the options that FFmpeg needs to read it.
REAL = {
    "foreman": ("foreman_352x288.264", []),
    "mobile": ("mobile_352x288.264", []),
    "people": ("people_320x192.yuv", ["-f", "rawvideo", "-pixel_format", "yuv420p", "-video_size", "320x192"]),
    "static": ("static_152x100.yuv", ["-f", "rawvideo", "-pixel_format", "yuv420p", "-video_size", "152x100"]),
}

_TEXT = ("Every frame is a plan\\nA block has a vector\\nor it has none\\nLevels cost bits\\nbits cost quality\\n"
         "A key frame begins\\na group of pictures\\nThe decoder is given\\nthe encoder is free\\n") * 4


def _text(x, y, size=14, text=_TEXT, more=""):
    return f"drawtext=font=monospace:text='{text}':fontcolor=black:fontsize={size}:line_spacing=3:x={x}:y={y}{more}"


def _typed(lines, every):
    """Returns a filter that shows lines of text, one more every `every` frames."""
    return ",".join(_text(8, 8 + 18 * i, text=f"line {i + 1} of what is typed", more=f":enable='gte(n,{every * i})'")
                    for i in range(lines))


# Clips from c63gen, by name: number of frames, and options.
GENERATED = {
    "pan": (60, "--pattern pan -w 176 -h 144"),
    "zoom": (40, "--pattern zoom -w 160 -h 128"),
    "rotate": (40, "--pattern rotate -w 160 -h 128"),
    "objects": (60, "--pattern objects -w 176 -h 144"),
    "noise": (8, "--pattern noise -w 96 -h 80"),
    "checker": (30, "--pattern checker -w 160 -h 128"),
    "stars": (20, "--pattern stars -w 176 -h 144"),
    "natural": (60, "--pattern natural -w 176 -h 144"),
    "half-sample": (50, "--pattern pan -w 176 -h 144 --mv 0.5,0 --noise 1"),
    "quarter-sample": (50, "--pattern pan -w 176 -h 144 --mv 0.25,0.75 --noise 0"),
    "natural-quiet": (12, "--pattern natural -w 320 -h 176 --mv 0,0 --noise 1"),
}

# Clips from FFmpeg, by name: number of frames, source, filters. The source is one of FFmpeg's generators, or
# "@NAME:FIRST:COUNT" for frames of a real video or of a clip above. "@NAME" means all of its frames.
FILTERED = {
    "testsrc2": (50, "testsrc2=s=176x144", ""),
    "mandelbrot": (60, "mandelbrot=s=160x128", ""),
    "life": (60, "life=s=88x72:mold=10:r=25:ratio=0.1:seed=1:death_color=#C83232:life_color=#00ff00",
             "scale=176:144:flags=neighbor"),
    "cellauto": (40, "cellauto=s=160x128:rule=110:seed=1", ""),
    "sierpinski": (40, "sierpinski=s=160x128:seed=1", ""),
    "gradients": (80, "gradients=s=176x144:seed=1:speed=0.02", ""),
    "bars-noise": (30, "smptebars=s=176x144", "noise=alls=6:allf=t:all_seed=1"),
    "flat": (30, "color=c=0x808080:s=176x144", ""),
    "snow": (6, "color=c=0x808080:s=96x80", "noise=alls=90:allf=t:all_seed=1"),
    "flicker": (40, "@natural", "eq=brightness='0.1*sin(n)':eval=frame"),
    "text-scrolls": (60, "color=c=0xf0f0f0:s=256x160", _text(8, "10-n")),
    "text-typed": (120, "color=c=0xf0f0f0:s=256x160", _typed(9, 12)),
    "cursor": (300, "color=c=0xf0f0f0:s=176x144",
               _text(8, 8) + ",drawbox=x=60:y=70:w=2:h=14:color=black:t=fill:enable='lt(mod(n,24),12)'"),
    "window-moves": (60, "color=c=0x305080:s=256x160",
                     _text(8, 8, 12) + "[a];color=c=white:s=90x60[b];[a][b]overlay=x='20+2*n':y='20+n/2'"),
    "still": (60, "@foreman:0:1", "scale=176:144,loop=-1:1"),
    "still-noise": (30, "@foreman:0:1", "scale=176:144,loop=-1:1,noise=alls=4:allf=t:all_seed=1"),
    "slides": (60, "@foreman:0:300", "scale=176:144,select='not(mod(n,60))',setpts=12*N/25/TB,fps=25"),
    "fade-in": (40, "@foreman:0:40", "scale=176:144,fade=in:0:30"),
    "fade-out": (30, "@mobile:0:30", "scale=176:144,fade=out:5:20"),
    "cuts": (60, "@foreman:0:300", "scale=176:144,select='lt(mod(n,50),10)'"),
    "zoom-still": (50, "@mobile:0:1",
                   "scale=704:576,zoompan=z='1+0.004*on':d=50:s=176x144:x='iw/2-iw/zoom/2':y='ih/2-ih/zoom/2'"),
    "pan-still": (50, "@mobile:0:1", "loop=-1:1,scale=704:576,crop=528:432:x='3*n':y='n',scale=176:144"),
    "hand-held": (50, "@foreman:100:1", "loop=-1:1,crop=240:176:x='40+3*sin(n)+2*sin(2.3*n)':y='40+3*sin(1.7*n)'"),
    "head-9": (9, "@people:0:9", "scale=640:320"),
    "head-noise-12": (12, "@people:0:1", "scale=640:352,loop=-1:1,noise=alls=3:allf=t:all_seed=1"),
    "head-long": (100, "@foreman:0:1",
                  "loop=-1:1,crop=256:192:x=48:y=48[a];color=c=0x804040:s=40x8[b];[a][b]overlay=x=104:y='110+6*sin(n/3)',"
                  "noise=alls=2:allf=t:all_seed=1"),
    "foreman-small": (100, "@foreman:0:100", "scale=176:144"),
    "foreman-part": (50, "@foreman:150:50", "crop=176:144:x=96:y=48"),
    "foreman-pan": (40, "@foreman:175:40", "scale=176:144"),
    "foreman-2": (2, "@foreman:0:2", ""),
    "foreman-5": (5, "@foreman:40:5", ""),
    "foreman-twice": (40, "@foreman:0:20", "scale=176:144,setpts=2*N/25/TB,fps=25"),
    "foreman-third": (30, "@foreman:0:90", "scale=176:144,select='not(mod(n,3))'"),
    "foreman-noise": (24, "@foreman:0:24", "scale=176:144,noise=alls=20:allf=t:all_seed=1"),
    "foreman-soft": (40, "@foreman:0:40", "gblur=sigma=3,scale=176:144"),
    "mobile-part": (30, "@mobile:0:30", "crop=176:144:x=96:y=96"),
    "mobile-small": (30, "@mobile:0:30", "scale=176:144"),
    "mobile-9": (9, "@mobile:0:9", "crop=240:160"),
    "people": (9, "@people:0:9", ""),
    "people-part": (9, "@people:0:9", "crop=128:96:x=96:y=48"),
    "static": (10, "@static:0:10", ""),
    "combed": (30, "@foreman:0:60", "scale=176:144,interlace"),
    "tiny": (300, "@foreman:0:300", "scale=48:32"),
}


def make_clips(folder, bin_folder, real, names=()):
    """Writes clips as NAME.y4m: those in `names`, or all. Returns the names of those made, and for each missing one the
    reason."""
    folder = pathlib.Path(folder)
    made, missing = [], {}
    for name, (frames, options) in GENERATED.items():
        if names and name not in names and name != "natural":
            continue
        run_well([bin_folder / "c63gen", "--quiet", *options.split(), "-f", str(frames), "-o", folder / f"{name}.y4m"])
        if not names or name in names:
            made.append(name)
    for name, (frames, source, filters) in FILTERED.items():
        if names and name not in names:
            continue
        command = ["ffmpeg", "-v", "error", "-y", "-threads", "1"]
        trim = []
        if source.startswith("@"):
            video, *part = source[1:].split(":")
            if video in REAL:
                path = pathlib.Path(real) / REAL[video][0] if real else None
                if path is None or not path.exists():
                    missing[name] = f"{REAL[video][0]} is not there"
                    continue
                command += [*REAL[video][1], "-i", path]
            else:
                command += ["-i", folder / f"{video}.y4m"]
            if part:
                first, count = map(int, part)
                trim = [f"trim=start_frame={first}:end_frame={first + count}", "setpts=N/25/TB"]
        else:
            command += ["-f", "lavfi", "-i", source]
        chain = ",".join([*trim, *([filters] if filters else [])]) or "null"
        run_well([*command, "-vf", chain, "-frames:v", str(frames), "-vsync", "passthrough", "-pix_fmt", "yuv420p", "-r", "25",
              folder / f"{name}.y4m"])
        made.append(name)
    return made, missing
