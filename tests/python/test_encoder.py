"""Tests Encoder, which takes frames one by one."""

import threading

import numpy as np
import pytest
from conftest import error_of, pushed

import c63


def join(frames):
    return b"".join(frame.data for frame in frames)


def test_pushed_frames_make_the_same_stream(video):
    with c63.Encoder(112, 96, keyint=5) as encoder:
        coded = []
        for i, frame in enumerate(video):
            encoder.push(frame if i % 2 else frame.reshape(-1))
            coded += encoder.poll()
    coded += encoder.poll()
    assert join(coded) == c63.encode(video, keyint=5)
    assert [frame.index for frame in coded] == list(range(12))
    assert [frame.key for frame in coded] == [i % 5 == 0 for i in range(12)]
    assert encoder.poll() == []
    assert encoder.statistics["bytes"].sum() == encoder.summary["bytes"] == len(join(coded))
    assert list(encoder.statistics.dtype.names) == c63.STATISTICS


def test_nothing_is_kept_unless_requested(video):
    (frame,) = pushed(video[:1])
    assert (frame.reconstruction, frame.prediction, frame.motion) == (None, None, ())


def test_wrong_frames_are_refused_and_the_encoder_goes_on(video):
    with c63.Encoder(112, 96) as encoder:
        frame = video[0]
        for wrong, id in ((frame[:96], "SHAPE"), (frame.astype(int), "DTYPE"), (np.asfortranarray(frame), "STRIDES")):
            assert error_of(encoder.push, wrong).id == f"C63-ARRAY-{id}"
        encoder.push(video[0])
    assert join(encoder.poll()) == c63.encode(video[:1])


def test_the_order_of_calls_is_enforced(video):
    encoder = c63.Encoder(112, 96)
    assert error_of(lambda: encoder.summary).id == "C63-SETTING"
    encoder.push(video[0])
    encoder.finish()
    assert error_of(encoder.push, video[1]).id == "C63-SESSION-FINISHED"
    assert len(encoder.poll()) == 1
    encoder.close()
    assert error_of(encoder.poll).id == "C63-SESSION-CLOSED"


def test_an_exception_ends_the_encoder(video):
    with pytest.raises(KeyError):
        with c63.Encoder(112, 96) as encoder:
            encoder.push(video[0])
            raise KeyError
    with pytest.raises(c63.UsageError):
        encoder.poll()


def test_closing_while_others_poll(video):
    for _ in range(20):
        encoder = c63.Encoder(112, 96)
        ended = threading.Event()

        def take():
            try:
                while not ended.is_set():
                    encoder.poll()
            except c63.UsageError:
                pass  # it was closed

        takers = [threading.Thread(target=take) for _ in range(3)]
        for taker in takers:
            taker.start()
        encoder.push(video[0])
        encoder.close()
        ended.set()
        for taker in takers:
            taker.join(20)
            assert not taker.is_alive()
