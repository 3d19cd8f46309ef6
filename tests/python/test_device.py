"""Arrays on GPUs. Tests are skipped, with the reason, if a GPU or a library is missing."""

import sys

import numpy as np
import pytest
from conftest import DlpackOnly, assert_same_motion, error_of, make_video

import c63
from c63 import _c63
from c63._race import Library


class Gpu(Library):
    """Arrays of torch or CuPy on a GPU, their streams, and work that takes long."""

    def __init__(self, name):
        super().__init__(name)
        self.lib, self.is_torch = self.module, name == "torch"
        self.get = self.download

    def put(self, array):
        return self.upload(np.ascontiguousarray(array))

    def stream(self):
        return self.lib.cuda.Stream() if self.is_torch else self.lib.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return self.lib.cuda.stream(stream) if self.is_torch else stream

    def slow_copy(self, to, source):
        """About 50 ms of work, then the copy, on the current stream."""
        if self.is_torch:
            self.lib.cuda._sleep(100_000_000)
        else:
            code = 'extern "C" __global__ void spin(long long n) { long long t = clock64(); while (clock64() - t < n) {} }'
            self.lib.RawKernel(code, "spin")((1,), (1,), (np.int64(100_000_000),))
        to[...] = source

    def wait(self):
        self.lib.cuda.synchronize() if self.is_torch else self.lib.cuda.runtime.deviceSynchronize()


@pytest.fixture(params=["torch", "cupy"])
def gpu(request):
    if _c63.gpu_obstacle():
        pytest.skip(f"no GPU: {_c63.gpu_obstacle()}")
    pytest.importorskip(request.param)
    try:
        return Gpu(request.param)
    except c63.UsageError as error:
        pytest.skip(str(error))


class OnlyCudaInterface:
    """A device array of a library that c63 does not know."""

    def __init__(self, array, version=3):
        self.__cuda_array_interface__ = dict(array.__cuda_array_interface__, version=version)
        self.shape = tuple(array.shape)
        self.array = array


@pytest.mark.parametrize("options", [{}, {"preset": "fast", "keyint": 5}, {"lanes": 1}, {"ssim": True}])
def test_frames_on_the_device_give_the_same_bytes(gpu, video, options):
    expected = c63.encode(video, backend="cpu", **options)
    frames = gpu.put(video)
    planes = tuple(map(gpu.put, c63.planes(video)))
    every_second = gpu.put(np.repeat(video, 2, axis=0))[::2]
    for arrays in (frames, OnlyCudaInterface(frames), DlpackOnly(frames), planes, every_second):
        coded = c63.encode_with_statistics(arrays, **options)
        assert coded.stream == expected
        assert coded.summary["backend"].startswith("cuda")
    assert c63.encode(frames, backend="cpu", **options) == expected
    assert c63.encode(frames, scenecut=True, **options) == c63.encode(video, backend="cpu", scenecut=True, **options)


def test_odd_sizes_on_the_device(gpu):
    frames = np.random.default_rng(2).integers(0, 256, (5, 390), dtype=np.uint8)
    assert c63.encode(gpu.put(frames), input_res=(20, 13)) == c63.encode(frames, input_res=(20, 13), backend="cpu")


def test_an_encode_waits_for_its_stream(gpu, video):
    expected = c63.encode(video, backend="cpu")
    source, frames, stream = gpu.put(video), gpu.put(np.full_like(video, 7)), gpu.stream()
    gpu.wait()
    with gpu.on(stream):
        gpu.slow_copy(frames, source)
        assert c63.encode(frames) == expected
    frames[...] = 7
    gpu.wait()
    with gpu.on(stream):
        gpu.slow_copy(frames, source)
    assert c63.encode(frames, stream=stream) == expected


def test_motion_on_the_device(gpu):
    frames = make_video(2, 272, 320)
    current, reference = frames[1, :272], frames[0, :272]
    for search_range in (1, 16, 40):
        expected = c63.estimate_motion(current, reference, search_range)
        found = c63.estimate_motion(gpu.put(current), gpu.put(reference), search_range)
        assert type(found.vectors).__module__.split(".")[0] == gpu.lib.__name__
        assert_same_motion(found, expected, gpu.get)
    wide = gpu.put(frames)
    expected = c63.estimate_motion(current[:, 8:168], reference[:, 8:168])
    assert_same_motion(c63.estimate_motion(wide[1, :272, 8:168], wide[0, :272, 8:168]), expected, gpu.get)


def test_batches_and_options_on_the_device(gpu):
    frames = make_video(20, 64, 96)[:, :64]
    rng = np.random.default_rng(3)
    around = rng.integers(-20, 21, (19, 8, 12, 2), dtype=np.int8)
    device = gpu.put(frames)
    for options in ({}, {"zero_bias": 1}, {"second": True}, {"quarters": True, "zero_bias": 40}, {"second": True, "second_distance": 3}):
        for initial in (None, around):
            expected = c63.estimate_motion(frames, search_range=7, around=initial, **options)
            found = c63.estimate_motion(device, search_range=7, around=None if initial is None else gpu.put(initial), **options)
            assert_same_motion(found, expected, gpu.get)


def test_motion_is_an_operator_of_torch(gpu):
    torch = pytest.importorskip("torch")
    if gpu.lib is not torch:
        pytest.skip("the operator is torch's")
    import c63.torch as operators

    frames = make_video(9, 64, 96)[:, :64]
    expected = c63.estimate_motion(frames, second=True)
    search = lambda t: operators.estimate_motion(t[1:], t[:-1], second=True)  # noqa: E731
    source, device, stream = gpu.put(frames), gpu.put(np.zeros_like(frames)), gpu.stream()
    for call in (search, torch.compile(search, fullgraph=True)):
        call(source)  # compiles now, before the test of the stream
        device.zero_()
        gpu.wait()
        with gpu.on(stream):
            gpu.slow_copy(device, source)
            found = call(device)
            vectors, second = gpu.get(found.vectors), gpu.get(found.second)
        assert np.array_equal(vectors, expected.vectors)
        assert np.array_equal(second, expected.second)
    error_of(operators.estimate_motion, source[0].float().requires_grad_(), source[1])


def test_motion_is_on_the_callers_stream(gpu):
    frames = make_video(2, 272, 320)
    expected = c63.estimate_motion(frames[1, :272], frames[0, :272])
    source, device, stream = gpu.put(frames), gpu.put(np.zeros_like(frames)), gpu.stream()
    gpu.wait()
    with gpu.on(stream):
        gpu.slow_copy(device, source)
        found = c63.estimate_motion(device[1, :272], device[0, :272])
        vectors = gpu.get(found.vectors)
    assert np.array_equal(vectors, expected.vectors)


def test_results_go_into_out(gpu):
    frames = make_video(2, 64, 64)
    expected = c63.estimate_motion(frames[1, :64], frames[0, :64])
    planes = [DlpackOnly(gpu.put(frames[i, :64])) for i in (1, 0)]
    with pytest.raises(TypeError):
        c63.estimate_motion(*planes)
    out = gpu.put(np.zeros((8, 8, 2), np.int8)), gpu.put(np.zeros((8, 8), np.uint16))
    found = c63.estimate_motion(*planes, out=out)
    gpu.wait()
    assert found.vectors is out[0]
    assert_same_motion(found, expected, gpu.get)
    host = np.zeros((8, 8, 2), np.int8)
    for wrong, id in (((out[0], out[0]), "DTYPE"), ((out[0][:4], out[1]), "SHAPE"), ((host, out[1]), "DEVICE")):
        assert error_of(c63.estimate_motion, *planes, out=wrong).id == f"C63-ARRAY-{id}"
    assert error_of(c63.estimate_motion, *planes, out=out[:1]).id == "C63-SETTING"


def test_mixed_places_are_refused(gpu, video):
    plane = gpu.put(video[0, :96])
    y, u, v = c63.planes(video)
    for call in (
        lambda: c63.estimate_motion(plane, video[0, :96]),
        lambda: c63.estimate_motion(video[0, :96], plane),
        lambda: c63.encode((gpu.put(y), u, v)),
    ):
        assert error_of(call).id == "C63-ARRAY-DEVICE"
    assert error_of(c63.encode, gpu.put(video.astype(np.float32))).id == "C63-ARRAY-DTYPE"


def test_metrics_and_planes_take_device_arrays(gpu, video):
    frames = gpu.put(video)
    noisy = video ^ 3
    assert c63.psnr(frames, noisy) == c63.psnr(video, noisy) == c63.psnr(video, gpu.put(noisy))
    assert c63.ssim(frames, noisy) == c63.ssim(video, noisy)
    found = c63.estimate_motion(c63.luma(frames[1]), c63.luma(frames[0]))
    assert_same_motion(found, c63.estimate_motion(video[1, :96], video[0, :96]), gpu.get)
    for mine, theirs in zip(c63.planes(frames), c63.planes(video)):
        assert np.array_equal(gpu.get(mine), theirs)
    assert c63.encode(c63.planes(frames)) == c63.encode(video)


def test_device_arrays_are_given_back(gpu, video):
    frames = gpu.put(video)
    wrapped = DlpackOnly(frames)
    before = sys.getrefcount(frames), sys.getrefcount(wrapped)
    for _ in range(3):
        c63.encode(frames)
        c63.encode(wrapped)
        c63.estimate_motion(frames[1, :96], frames[0, :96])
        with pytest.raises(c63.UsageError):
            c63.encode(wrapped, qp=1)
    assert (sys.getrefcount(frames), sys.getrefcount(wrapped)) == before


class FakeDeviceArray:
    """An array that claims to be on a GPU."""

    def __init__(self, shape, typestr="|u1"):
        self.shape = shape
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": typestr, "data": (1 << 40, False), "strides": None, "version": 3, "stream": 1
        }


@pytest.mark.skipif(not _c63.gpu_obstacle(), reason="there is a GPU, which would look for the array")
def test_without_a_gpu_device_arrays_are_an_error_of_the_device():
    for call in (
        lambda: c63.encode(FakeDeviceArray((2, 24, 16))),
        lambda: c63.psnr(FakeDeviceArray((2, 24, 16)), np.zeros((2, 24, 16), np.uint8)),
        lambda: c63.estimate_motion(
            FakeDeviceArray((16, 16)), FakeDeviceArray((16, 16)),
            out=(FakeDeviceArray((2, 2, 2), "|i1"), FakeDeviceArray((2, 2), "<u2")),
        ),
    ):
        assert error_of(call).kind == "device"
    error = error_of(c63.encode, np.zeros((1, 24, 16), np.uint8), backend="cuda")
    assert (error.kind, error.id) == ("device", "C63-NO-GPU")


def test_device_arrays_are_checked_before_anything_is_done():
    plane = np.zeros((8, 8), np.uint8)
    for call, id in (
        (lambda: c63.encode(FakeDeviceArray((2, 24, 16), "<f4")), "C63-ARRAY-DTYPE"),
        (lambda: c63.Encoder(16, 16).push(FakeDeviceArray((24, 16))), "C63-ARRAY-DEVICE"),
        (lambda: c63.filters.sum(FakeDeviceArray((2, 24, 16))), "C63-ARRAY-DEVICE"),
        (lambda: c63.estimate_motion(plane, plane, stream=0), "C63-SETTING"),
    ):
        assert error_of(call).id == id
