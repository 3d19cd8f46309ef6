"""Runs motion estimators of other programs for c63bench estimate, and c63's own on arrays of a GPU.

  python3 estimate.py LUMA WIDTH HEIGHT FRAMES RANGE REPEATS FOLDER GROUP...

LUMA has the frames' luma, one after another. Each GROUP is one of opencv, ffmpeg, gpu and nvidia. For each estimator, a line of
JSON goes to stdout, with its times and the file in FOLDER that has its vectors: two floats for each block of 8x8 samples of each
frame after the first. A group that cannot run is a line with the reason.

A vector leads from a block to its place in the frame before. If an estimator has several vectors in a block, it is their median.
"""

import ctypes
import json
import pathlib
import sys
import time

try:
    import numpy as np
except ImportError:
    np = None

BLOCK = 8


class Absent(Exception):
    """The reason why an estimator is not measured."""


class Times:
    """The median and the spread of runs, in seconds, and the median of CPU seconds."""

    def __init__(self, wall, cpu):
        self.wall, self.cpu = wall, cpu

    def json(self):
        return {"seconds": float(np.median(self.wall)), "spread": [min(self.wall), max(self.wall)], "cpu_seconds": float(np.median(self.cpu))}


def median_of(flow, grid):
    """Returns the median vector of each block, from a field with a vector for every `grid` samples in each
    direction."""
    side = BLOCK // grid
    rows, columns = flow.shape[0] // side, flow.shape[1] // side
    parts = flow[: rows * side, : columns * side].reshape(rows, side, columns, side, 2)
    return np.median(parts.transpose(0, 2, 1, 3, 4).reshape(rows, columns, side * side, 2), axis=2)


def timed(call, repeat, warm_up=True):
    if warm_up:
        call()
    wall, cpu = [], []
    for _ in range(repeat):
        begin, cpu_begin = time.perf_counter(), time.process_time()
        result = call()
        wall.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - cpu_begin)
    return result, Times(wall, cpu)


def gpu_estimators(search_range):
    try:
        import torch

        import c63
    except ImportError as error:
        raise Absent(f"Python does not find {error.name}") from None
    if not torch.cuda.is_available():
        raise Absent("torch finds no GPU")

    def search(frames, repeat):
        device = torch.from_numpy(frames.copy()).cuda()

        def call():
            found = c63.estimate_motion(device, search_range=search_range)
            torch.cuda.synchronize()
            return found

        for _ in range(20):  # until automatic choices of kernels are made, and clocks are up
            call()
        found, times = timed(call, max(20, repeat))
        return found.vectors.cpu().numpy().astype(np.float32), times

    yield f"c63, {torch.cuda.get_device_name()}, frames on the device", search


def opencv_estimators(search_range):
    try:
        import cv2
    except ImportError:
        raise Absent("no OpenCV (Debian: python3-opencv)") from None

    def dense(flow_of):
        def search(frames, repeat):
            def call():
                return [flow_of(frames[i + 1], frames[i]) for i in range(len(frames) - 1)]

            flows, times = timed(call, repeat)
            return np.array([median_of(flow, 1) for flow in flows]), times

        return search

    for name in ("ULTRAFAST", "FAST", "MEDIUM"):
        dis = cv2.DISOpticalFlow_create(getattr(cv2, f"DISOPTICAL_FLOW_PRESET_{name}"))
        yield f"OpenCV {cv2.__version__} DIS, {name.lower()}", dense(lambda a, b, dis=dis: dis.calc(a, b, None))
    yield f"OpenCV {cv2.__version__} Farnebäck", dense(lambda a, b: cv2.calcOpticalFlowFarneback(a, b, None, 0.5, 3, 15, 3, 5, 1.2, 0))

    def match_blocks(frames, repeat):
        """Searches each block with matchTemplate(), the only block matching that OpenCV 4 still has: it finds where the squared
        difference is least. It is slow, so it runs once."""
        side = BLOCK + 2 * search_range - 1

        def call():
            _, height, width = frames.shape
            field = np.zeros((len(frames) - 1, height // BLOCK, width // BLOCK, 2), np.float32)
            for frame, row, column in np.ndindex(field.shape[:3]):
                y, x = BLOCK * row, BLOCK * column
                top, left = max(0, y - search_range), max(0, x - search_range)
                window = frames[frame, top : y - search_range + side, left : x - search_range + side]
                cost = cv2.matchTemplate(window, frames[frame + 1, y : y + BLOCK, x : x + BLOCK], cv2.TM_SQDIFF)
                place = cv2.minMaxLoc(cost)[2]
                field[frame, row, column] = left + place[0] - x, top + place[1] - y
            return field

        return timed(call, 1, warm_up=False)

    yield f"OpenCV {cv2.__version__} matchTemplate, each block", match_blocks


def ffmpeg_estimators(search_range):
    """FFmpeg's filter mestimate. It also searches in the next frame, which doubles its work."""
    try:
        import av
        import av.filter
    except ImportError:
        raise Absent("no PyAV (Debian: python3-av)") from None

    def run(frames, method):
        count, height, width = frames.shape
        graph = av.filter.Graph()
        try:
            source = graph.add("buffer", f"video_size={width}x{height}:pix_fmt=yuv420p:time_base=1/25:pixel_aspect=1/1")
            estimate = graph.add("mestimate", f"method={method}:mb_size={BLOCK}:search_param={search_range}")
        except (ValueError, av.error.FFmpegError) as error:
            raise Absent(f"libavfilter cannot set up mestimate: {error}") from None
        sink = graph.add("buffersink")
        source.link_to(estimate)
        estimate.link_to(sink)
        graph.configure()
        vectors = []
        # It needs a next frame, so the last one is passed twice. The first frame has none before it.
        for index, luma in enumerate([*frames, frames[-1]]):
            frame = av.VideoFrame.from_ndarray(np.pad(luma, ((0, height // 2), (0, 0)), constant_values=128), format="yuv420p")
            frame.pts = index
            source.push(frame)
            if index < 2:
                if index == 1:
                    sink.pull()
                continue
            field = sink.pull().side_data.get("MOTION_VECTORS").to_ndarray()
            field = field[field["source"] < 0]
            grid = np.zeros((height // BLOCK, width // BLOCK, 2), np.float32)
            place = field["dst_y"] // BLOCK, field["dst_x"] // BLOCK
            grid[place] = np.stack((field["src_x"] - field["dst_x"], field["src_y"] - field["dst_y"]), axis=-1)
            vectors.append(grid)
        return np.array(vectors)

    for method in ("esa", "tss", "tdls", "ntss", "fss", "ds", "hexbs", "epzs", "umh"):
        yield f"FFmpeg mestimate, {method}", lambda frames, repeat, method=method: timed(lambda: run(frames, method), repeat, warm_up=False)


class Nvof:
    """NVIDIA's optical flow engine (API 5.0), through the driver's library. The structures are those of NVIDIA's
    documentation."""

    PRESETS = {"slow": 5, "medium": 10, "fast": 20}
    FUNCTIONS = ("create", "init", "create_buffer", "buffer_array", "buffer_pointer", "buffer_stride", "set_streams", "execute",
                 "destroy_buffer", "destroy", "last_error", "caps")

    class Init(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint32) for name in ("width", "height", "out_grid", "hint_grid", "mode", "preset", "hints", "cost")]
        _fields_ += [("private", ctypes.c_void_p), ("disparity", ctypes.c_uint32), ("roi", ctypes.c_uint32), ("direction", ctypes.c_uint32),
                     ("global_flow", ctypes.c_uint32), ("input_format", ctypes.c_uint32), ("spare", ctypes.c_uint32 * 16)]

    class Buffer(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint32) for name in ("width", "height", "usage", "format")]

    class Stride(ctypes.Structure):
        _fields_ = [("pairs", ctypes.c_uint32 * 6), ("planes", ctypes.c_uint32)]

    class Input(ctypes.Structure):
        _fields_ = [("frame", ctypes.c_void_p), ("reference", ctypes.c_void_p), ("hints", ctypes.c_void_p), ("no_temporal", ctypes.c_uint32),
                    ("padding", ctypes.c_uint32), ("private", ctypes.c_void_p), ("padding2", ctypes.c_uint32), ("rois", ctypes.c_uint32),
                    ("roi", ctypes.c_void_p), ("spare", ctypes.c_uint64 * 8)]

    class Output(ctypes.Structure):
        _fields_ = [("flow", ctypes.c_void_p), ("cost", ctypes.c_void_p), ("private", ctypes.c_void_p), ("spare", ctypes.c_uint64 * 8)]

    def __init__(self):
        try:
            import torch
        except ImportError as error:
            raise Absent(f"no torch: {error}") from None
        if not torch.cuda.is_available():
            raise Absent("torch finds no GPU")
        self.torch = torch
        try:
            library = ctypes.CDLL("libnvidia-opticalflow.so.1")
        except OSError as error:
            raise Absent(f"the driver has no optical flow library: {error}") from None
        torch.zeros(1, device="cuda")
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.context = ctypes.c_void_p()
        self.driver.cuCtxGetCurrent(ctypes.byref(self.context))
        table = (ctypes.c_void_p * 64)()
        status = library.NvOFAPICreateInstanceCuda(5 << 4 | 0, ctypes.byref(table))
        if status != 0:
            raise Absent(f"the optical flow library does not support API 5.0: status {status}")
        kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)
        self.call = {name: kind(table[i]) for i, name in enumerate(self.FUNCTIONS)}
        pointer_kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
        self.pointer_of = pointer_kind(table[4])
        self.create_buffer = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(table[2])

    def check(self, status, what):
        if status != 0:
            raise Absent(f"the optical flow engine cannot {what}: status {status}")

    def run(self, frames, preset, grid, repeat):
        height, width = frames.shape[1:]
        torch, byref = self.torch, ctypes.byref
        handle = ctypes.c_void_p()
        self.check(self.call["create"](self.context, ctypes.addressof(handle), None, None), "start")
        init = self.Init(width=width, height=height, out_grid=grid, hint_grid=0, mode=1, preset=self.PRESETS[preset], input_format=1)
        self.check(self.call["init"](handle, ctypes.addressof(init), None, None), "take these settings")
        buffers = []
        for w, h, usage, kind in ((width, height, 1, 1), (width, height, 1, 1), (-(-width // grid), -(-height // grid), 2, 5)):
            buffer = ctypes.c_void_p()
            self.check(self.create_buffer(handle, ctypes.addressof(self.Buffer(w, h, usage, kind)), 2, ctypes.addressof(buffer)), "make a buffer")
            stride = self.Stride()
            self.check(self.call["buffer_stride"](buffer, ctypes.addressof(stride), None, None), "tell a buffer's rows")
            buffers.append((buffer, self.pointer_of(buffer), stride.pairs[0] if stride.pairs[0] >= w else stride.pairs[1]))
        device = torch.from_numpy(frames.copy()).cuda()
        copy = self.driver.cuMemcpy2D_v2

        class Copy(ctypes.Structure):
            _fields_ = [("src_x", ctypes.c_size_t), ("src_y", ctypes.c_size_t), ("src_type", ctypes.c_uint), ("src_host", ctypes.c_void_p),
                        ("src", ctypes.c_uint64), ("src_array", ctypes.c_void_p), ("src_pitch", ctypes.c_size_t), ("dst_x", ctypes.c_size_t),
                        ("dst_y", ctypes.c_size_t), ("dst_type", ctypes.c_uint), ("dst_host", ctypes.c_void_p), ("dst", ctypes.c_uint64),
                        ("dst_array", ctypes.c_void_p), ("dst_pitch", ctypes.c_size_t), ("width", ctypes.c_size_t), ("height", ctypes.c_size_t)]

        def move(to, to_pitch, source, pitch, w, h):
            self.check(copy(byref(Copy(src_type=2, src=source, src_pitch=pitch, dst_type=2, dst=to, dst_pitch=to_pitch, width=w, height=h))), "copy")

        columns, rows = -(-width // grid), -(-height // grid)
        flow = torch.empty((rows, columns, 2), dtype=torch.int16, device="cuda")
        fields, seconds = [], []
        for i in range(len(frames) - 1):
            for (_, pointer, pitch), frame in zip(buffers, (device[i + 1], device[i])):
                move(pointer, pitch, frame.data_ptr(), width, width, height)
            torch.cuda.synchronize()
            data = self.Input(frame=buffers[0][0], reference=buffers[1][0], no_temporal=1)
            result = self.Output(flow=buffers[2][0])
            for _ in range(repeat + 1):
                began = time.perf_counter()
                self.check(self.call["execute"](handle, ctypes.addressof(data), ctypes.addressof(result), None), "search")
                torch.cuda.synchronize()
                seconds.append(time.perf_counter() - began)
            move(flow.data_ptr(), 4 * columns, buffers[2][1], buffers[2][2], 4 * columns, rows)
            torch.cuda.synchronize()
            fields.append(flow.cpu().numpy().astype(np.float32) / 32)
        self.call["destroy"](handle, None, None, None)
        pairs = len(frames) - 1
        return np.array([median_of(field, grid) for field in fields]), Times([pairs * each for each in seconds], [0])


def nvidia_estimators(_):
    engine = Nvof()
    for preset in Nvof.PRESETS:
        yield f"NVIDIA's engine, {preset}, grid 4x4", lambda frames, repeat, preset=preset: engine.run(frames, preset, 4, repeat)


GROUPS = {"opencv": opencv_estimators, "ffmpeg": ffmpeg_estimators, "gpu": gpu_estimators, "nvidia": nvidia_estimators}


def tell(**line):
    print(json.dumps(line), flush=True)


def main():
    luma, width, height, count, search_range, repeat, folder, *groups = sys.argv[1:]
    for group in groups:
        if np is None:
            tell(group=group, absent="Python does not find numpy")
            continue
        frames = np.fromfile(luma, np.uint8).reshape(int(count), int(height), int(width))
        try:
            for number, (name, search) in enumerate(GROUPS[group](int(search_range))):
                vectors, times = search(frames, int(repeat))
                file = pathlib.Path(folder) / f"{group}{number}"
                vectors.astype(np.float32).tofile(file)
                tell(group=group, estimator=name, file=str(file), pairs=len(vectors), **times.json())
        except Absent as why:
            tell(group=group, absent=str(why))


if __name__ == "__main__":
    main()
