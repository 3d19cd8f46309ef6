"""Tests whole frames, which know their size: their planes, their conversion to RGB, and videos as sequences."""

import copy
import json
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from conftest import DlpackOnly, assert_same_motion, error_of, make_video, pushed

import c63


def frames_of_all_kinds(video, clip):
    """Returns, for each function that returns whole frames, one of its frames and the next one."""
    stream = c63.encode(video, keyint=4)
    coded = pushed(video[:3], keep_reconstruction=True, keep_prediction=True)
    decoder = c63.Decoder(stream, prediction=True)
    decoded = list(decoder)
    return {
        "read()": (clip.read()[1], clip.read()[2]),
        "iteration": tuple(list(clip)[1:3]),
        "index": (clip[1], clip[2]),
        "slice": tuple(clip[1:3]),
        "slice with step": tuple(clip[0:12:5][1:]),
        "decode()": (c63.decode(stream)[1], c63.decode(stream)[2]),
        "Decoder": (decoded[1].picture, decoded[2].picture),
        "prediction": (decoded[1].prediction, decoded[2].prediction),
        "Decoder, index": (decoder[1].picture, decoder[2].picture),
        "reconstruction": (coded[1].reconstruction, coded[2].reconstruction),
        "prediction of Encoder": (coded[1].prediction, coded[2].prediction),
        "copies": (clip[1].copy(), copy.deepcopy(clip[2])),
        "stacked": tuple(np.stack(list(clip))[1:3]),
        "pickled": (pickle.loads(pickle.dumps(clip[1])), pickle.loads(pickle.dumps(clip[1:4]))[1]),
        "join_planes()": (c63.join_planes(*c63.planes(clip[1])), c63.join_planes(*c63.planes(clip[1:3]))[1]),
        "rgb_to_yuv()": tuple(c63.rgb_to_yuv(c63.yuv_to_rgb(clip[1:3]))),
    }


def test_chroma_is_never_searched_as_luma(video, clip):
    for kind, (reference, current) in frames_of_all_kinds(video, c63.open(clip)).items():
        assert isinstance(current, c63.Frames), kind
        plain = np.asarray(current)[:96].copy(), np.asarray(reference)[:96].copy()
        expected = c63.estimate_motion(*plain, 8)
        assert expected.sad.shape == (12, 14)
        for pair in ((current, reference), (current[:96], reference[:96]), (current, plain[1]), (plain[0], reference)):
            assert_same_motion(c63.estimate_motion(*pair, 8), expected)
        assert np.array_equal(c63.luma(current), plain[0])


def test_frames_of_odd_height_are_not_taken_for_planes():
    frames = np.random.default_rng(1).integers(0, 256, (16, 16 * 13 + 2 * 52), dtype=np.uint8)
    pictures = c63.decode(c63.encode(frames, input_res=(16, 13)))
    assert pictures.shape == (16, 312)
    for wrong in ((pictures, pictures), (pictures[1], pictures[0])):
        assert "16x13" in str(error_of(c63.estimate_motion, *wrong))
    assert c63.luma(pictures).shape == (16, 13, 16)
    assert np.array_equal(c63.luma(pictures[3]), np.asarray(pictures)[3, :208].reshape(13, 16))
    assert error_of(c63.planes, pictures).id == "C63-ARRAY-SHAPE"


def test_several_frames_are_searched_in_their_luma(video):
    pictures = c63.decode(c63.encode(video))
    assert error_of(c63.estimate_motion, pictures, pictures[0]).id == "C63-ARRAY-SHAPE"
    found = c63.estimate_motion(pictures, search_range=4)
    assert found.sad.shape == (11, 12, 14)
    for i in range(11):
        alone = c63.estimate_motion(pictures[i + 1], pictures[i], 4)
        assert np.array_equal(found.vectors[i], alone.vectors) and np.array_equal(found.sad[i], alone.sad)
    # Arrays of others are planes.
    assert c63.estimate_motion(video[1], video[0], 4).sad.shape == (18, 14)
    assert c63.estimate_motion(c63.luma(video[1]), c63.luma(video[0]), 4).sad.shape == (12, 14)


def test_planes(video):
    y, u, v = c63.planes(video)
    assert y.base is not None and (y.shape, u.shape, v.shape) == ((12, 96, 112), (12, 48, 56), (12, 48, 56))
    assert np.array_equal(y, video[:, :96])
    assert np.array_equal(u[3], video[3, 96:120].reshape(48, 56)) and np.array_equal(v[3], video[3, 120:].reshape(48, 56))
    assert c63.encode((y, u, v)) == c63.encode(video)
    assert np.array_equal(c63.join_planes(y, u, v), video)
    flat = video.reshape(12, -1)
    for part, other in zip(c63.planes(flat, input_res=(112, 96)), (y, u, v)):
        assert np.array_equal(part, other)
    one = c63.planes(video[2])
    assert np.array_equal(one[1], u[2])


@pytest.mark.parametrize(
    "matrix, full_range, expected",
    [  # the colour bars of the standards: red, green, blue, white, black
        ("bt601", False, [(81, 90, 240), (145, 54, 34), (41, 240, 110), (235, 128, 128), (16, 128, 128)]),
        ("bt709", False, [(63, 102, 240), (173, 42, 26), (32, 240, 118), (235, 128, 128), (16, 128, 128)]),
        ("bt601", True, [(76, 85, 255), (150, 44, 21), (29, 255, 107), (255, 128, 128), (0, 128, 128)]),
    ],
)
def test_rgb_is_that_of_the_standards(matrix, full_range, expected):
    colours = np.array([(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0)], np.uint8)
    rgb = np.repeat(np.repeat(colours[:, None, None], 4, axis=1), 6, axis=2)
    frames = c63.rgb_to_yuv(rgb, matrix, full_range=full_range)
    assert frames.shape == (5, 6, 6)
    for frame, yuv in zip(frames, expected):
        assert [set(plane.ravel().tolist()) for plane in c63.planes(frame)] == [{value} for value in yuv]
    back = c63.yuv_to_rgb(frames, matrix, full_range=full_range)
    assert abs(back.astype(int) - rgb).max() <= 2
    assert np.array_equal(c63.yuv_to_rgb(frames[1], matrix, full_range=full_range), back[1])


def test_reductions_of_frames_are_numbers(video):
    frames = c63.decode(c63.encode(video))
    plain = np.asarray(frames)
    for reduce in (np.mean, np.sum, np.std, np.max, np.median, np.ptp, np.all, lambda array: array.mean(), lambda array: array.max()):
        assert isinstance(reduce(frames), np.generic) and reduce(frames) == reduce(plain)
    assert round(frames.mean(), 2) == round(plain.mean(), 2) and json.dumps(frames.mean()) == json.dumps(plain.mean())
    assert isinstance(frames.mean(axis=0), c63.Frames) and frames[0, 0, :1].squeeze().shape == ()


def test_a_video_is_a_sequence(video, clip):
    with c63.open(clip) as clip:
        assert repr(clip).startswith("<c63.Video ")
        assert (len(clip), bool(clip)) == (12, True)
        for index in (0, 7, -1, -12, np.int64(3)):
            assert np.array_equal(clip[index], video[index])
        for part in (slice(2, 5), slice(None, None, 3), slice(None, None, -1), slice(9, 2), slice(-4, None), slice(0, 99)):
            assert np.array_equal(clip[part], video[part])
        assert np.array_equal(clip.read(1000), video)
        for wrong in (12, -13, 10**30):
            with pytest.raises(IndexError):
                clip[wrong]
        for call in (lambda: clip["a"], lambda: clip.read("3"), lambda: clip.read(-1), lambda: clip.read(2.5)):
            assert error_of(call).id == "C63-SETTING"
    assert repr(clip).endswith("closed>")
    for call in (lambda: clip[0], clip.read, lambda: list(clip), lambda: c63.encode(clip), lambda: clip.warnings):
        assert error_of(call).id == "C63-SETTING"


def test_a_pipe_is_not_a_sequence(video, tmp_path):
    program = "import c63, sys; v = c63.open('/dev/stdin', input_res=(112, 96), format='raw')\n" \
        "for call in (lambda: len(v), lambda: v[0], lambda: v[:2], lambda: c63.encode(v, bitrate=1e5)):\n" \
        "    try: call(); sys.exit('no error')\n" \
        "    except c63.UsageError as error: assert '\\n' not in str(error)\n" \
        "assert v and v.count is None and repr(v); print(len(v.read(5)), len(list(v)))"
    cat = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    run = subprocess.Popen([sys.executable, "-c", program], stdin=cat.stdout, stdout=subprocess.PIPE, text=True)
    cat.stdout.close()
    cat.communicate(video.tobytes())
    out = run.communicate(timeout=60)[0]
    assert run.returncode == 0 and out == "5 7\n"


def test_metrics_take_the_inputs_of_encode(video, clip):
    noisy = video ^ 3
    clip = c63.open(clip)
    for measure in (c63.psnr, c63.ssim):
        expected = measure(video, noisy)
        for a in (clip, c63.planes(video), DlpackOnly(video), memoryview(video)):
            assert measure(a, noisy) == expected
        assert measure(noisy, clip) == expected
        assert measure(video.reshape(12, -1), noisy.reshape(12, -1), input_res=(112, 96)) == expected
    assert c63.psnr(clip, clip).all == np.inf
    assert c63.psnr(clip, c63.decode(c63.encode(clip))) == c63.psnr(video, c63.decode(c63.encode(video)))
    for other in (video[1:], make_video(12, 64, 96)):
        assert error_of(c63.psnr, clip, other).id == "C63-ARRAY-SHAPE"


def test_a_closed_decoder_is_an_error(video, tmp_path):
    path = tmp_path / "a.c63"
    path.write_bytes(c63.encode(video))
    with c63.Decoder(path) as decoder:
        assert decoder[3].index == 3 and "\n" not in repr(decoder[3])
    for call in (lambda: decoder[0], lambda: len(decoder), lambda: list(decoder), lambda: decoder.width):
        error_of(call)
    for thing in (decoder, c63.Encoder(112, 96), c63.VideoEncoder(112, 96), c63.encode_with_statistics(video)):
        assert repr(thing).startswith("<c63.") and "\n" not in repr(thing)


def test_shapes_that_may_be_meant_otherwise_are_warned_about(video):
    grey = make_video(2, 288, 352)[:, :288]
    with pytest.warns(UserWarning):
        c63.encode(grey)
    with pytest.warns(UserWarning):
        c63.estimate_motion(np.zeros((432, 352), np.uint8), np.zeros((432, 352), np.uint8), 1)
    frames = np.concatenate([grey, np.full((2, 144, 352), 128, np.uint8)], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = c63.encode(frames, backend="cpu")
        for array in (grey, frames, frames.reshape(2, -1), np.repeat(grey, 2, axis=0)[::2]):
            assert c63.encode(array, input_res=(352, 288), backend="cpu") == expected
        assert c63.psnr(grey, frames, input_res=(352, 288)).all == np.inf
        c63.encode(c63.decode(expected))
        c63.encode(video, backend="cpu")
        c63.estimate_motion(grey, search_range=1)
    for wrong, size in ((grey, (288, 352)), (grey, (0, 0)), (frames, (352, 432 - 1)), (grey[0], (352, 288))):
        assert error_of(c63.encode, wrong, input_res=size).id == "C63-ARRAY-SHAPE"
