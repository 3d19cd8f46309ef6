"""Tests Decoder, which decodes any frame of a stream, and decode(), which decodes all."""

import numpy as np
import pytest
from conftest import error_of, pushed

import c63


@pytest.fixture(scope="module")
def stream(video):
    return c63.encode(video, keyint=4)


def test_frames_are_the_encoders(video, stream, tmp_path):
    coded = pushed(video, keyint=4, keep_reconstruction=True, keep_prediction=True, keep_motion=True)
    for mine, theirs in zip(coded, c63.Decoder(stream, prediction=True, motion=True)):
        assert np.array_equal(mine.prediction, theirs.prediction) and mine.prediction.shape == (144, 112)
        assert len(mine.motion) == len(theirs.motion) == (0 if mine.key else 3)
        for x, y in zip(mine.motion, theirs.motion):
            assert np.array_equal(x.vectors, y.vectors) and x.vectors.dtype == np.int8
        if mine.motion:
            assert [plane.vectors.shape for plane in mine.motion] == [(12, 14, 2), (6, 7, 2), (6, 7, 2)]
            assert mine.motion[0].sad.sum() == mine.statistics["luma_sad"]
    expected = np.stack([frame.reconstruction for frame in coded])
    path = tmp_path / "a.c63"
    path.write_bytes(stream)
    for source in (stream, bytearray(stream), memoryview(stream), np.frombuffer(stream, np.uint8), path, str(path)):
        assert np.array_equal(c63.decode(source), expected)
    assert np.array_equal(c63.decode(stream, threads=1), expected)


def test_frames_know_their_places(stream):
    decoder = c63.Decoder(stream)
    offset = 0
    for i, frame in enumerate(decoder):
        assert (frame.index, frame.key, frame.repeat) == (i, i % 4 == 0, False)
        assert (frame.width, frame.height, frame.offset) == (112, 96, offset)
        assert stream[offset : offset + 2] == b"\xff\xd8"
        offset += frame.coded_bytes
    assert offset == len(stream)
    assert [frame.index for frame in decoder] == list(range(12))  # once more


def test_any_frame(stream):
    decoder = c63.Decoder(stream, motion=True)
    all_frames = list(decoder)
    assert (len(decoder), decoder.width, decoder.height) == (12, 112, 96)
    for i in (7, 3, 11, 0, 5, 6, -1, -12):
        found = decoder[i]
        assert found.index == i % 12
        assert np.array_equal(found.picture, all_frames[i].picture)
        assert len(found.motion) == len(all_frames[i].motion)
    assert [frame.index for frame in decoder[1:10:4]] == [1, 5, 9]
    assert [frame.index for frame in decoder[::-5]] == [11, 6, 1]
    assert decoder[12:] == []
    assert decoder[np.int64(4)].key
    for wrong in (12, -13, 10**9):
        with pytest.raises(IndexError, match="of 12"):
            decoder[wrong]
    with pytest.raises(TypeError):
        decoder["4"]
    assert len(c63.Decoder(b"")) == 0


def test_a_cut_stream_gives_its_whole_frames_first(stream):
    starts = [frame.offset for frame in c63.Decoder(stream)]
    cut, frames = stream[: starts[7] + 60], []
    decoder = c63.Decoder(cut)
    assert len(decoder) == 7
    assert np.array_equal(decoder[6].picture, c63.decode(stream)[6])
    for read in (lambda: decoder[7], lambda: c63.decode(cut), lambda: frames.extend(frame.index for frame in c63.Decoder(cut))):
        error = error_of(read)
        assert (error.kind, error.frame, error.id[:4]) == ("input", 7, "C63-") and error.message in str(error)
    assert error.offset is not None and error.offset >= starts[7]
    assert frames == list(range(7))


def test_an_invalid_stream_is_an_error(tmp_path):
    assert error_of(c63.decode, b"no stream").kind == "input"
    with pytest.raises(c63.FileError):
        c63.decode(tmp_path / "none.c63")
    empty = tmp_path / "empty.c63"
    empty.touch()
    assert len(c63.Decoder(empty)) == 0
    for nothing in (b"", empty):
        assert error_of(c63.decode, nothing).id == "C63-STREAM-EMPTY"


def test_a_stream_is_a_video(stream, tmp_path):
    path = tmp_path / "stream.bin"  # known by its bytes
    path.write_bytes(stream)
    pictures = c63.decode(stream)
    with c63.open(path) as video:
        assert not video.seekable and np.array_equal(video.read(), pictures)
    assert c63.encode(c63.open(path), size=40_000) == c63.encode(pictures, size=40_000)
    assert c63.psnr(c63.open(path), pictures).all == np.inf
    path.write_bytes(stream[:-9])
    assert error_of(c63.open(path).read).frame == len(pictures) - 1


def test_a_decoder_that_nobody_reads_ends(stream):
    for _ in range(20):
        frames = iter(c63.Decoder(stream * 20))
        assert next(frames).index == 0
        frames.close()
    unread = iter(c63.Decoder(stream))
    next(unread)
    del unread


def test_pictures_outlive_their_decoder(stream):
    pictures = [frame.picture for frame in c63.Decoder(stream)]
    assert np.array_equal(np.stack(pictures), c63.decode(stream))
    pictures[0][...] = 0  # these belong to the caller


def test_a_file_stays_open(stream, tmp_path):
    path = tmp_path / "a.c63"
    path.write_bytes(stream)
    decoder = c63.Decoder(path)
    path.unlink()
    assert [frame.index for frame in decoder] == list(range(len(decoder))) and decoder[5].index == 5


def test_a_file_that_is_shortened_is_an_error(tmp_path):
    # An earlier version mapped files into memory. Then the process ended with SIGBUS if the file was shortened
    # meanwhile. Now this must be an error.
    noise = np.random.default_rng(1).integers(0, 256, (40, 432, 352), np.uint8)
    path = tmp_path / "long.c63"
    data = c63.encode(noise, qp=50, keyint=4, me="zero") * 10  # more than is read ahead
    path.write_bytes(data)
    decoder = c63.Decoder(path)
    assert len(decoder) == 400
    frames = iter(c63.Decoder(path))
    next(frames)
    with open(path, "r+b") as file:
        file.truncate(len(data) // 10)
    assert error_of(lambda: decoder[200]).kind == error_of(list, frames).kind == "input"
