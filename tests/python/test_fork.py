"""Tests that a forked child can end while its parent's encoders and decoders have threads."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import c63

CHILD = """
import os, sys
import numpy as np
import c63
video = np.zeros((12, 144, 112), np.uint8)
{made}
if os.fork() == 0:
    {in_child}
    sys.exit(7)  # runs what runs at exit
assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
{in_parent}
"""

ENCODER = "encoder = c63.Encoder(112, 96); encoder.push(video[0])"
STREAM = "decoder = c63.Decoder(c63.encode(video)); frames = iter(decoder); next(frames); decoder[3]"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork() here")
@pytest.mark.parametrize(
    "made, in_child, in_parent",
    [
        (ENCODER, "pass", "encoder.push(video[1]); encoder.finish(); assert len(encoder.poll()) == 2"),
        (ENCODER, "encoder.close(); del encoder", "encoder.finish(); assert len(encoder.poll()) == 1"),
        (STREAM, "pass", "assert len(list(frames)) == 11 and decoder[11].index == 11"),
        (STREAM, "frames.close(); del decoder", "assert decoder[11].index == 11"),
        ("encoder = c63.VideoEncoder(112, 96); encoder.encode(video)", "pass", "encoder.encode(video)"),
    ],
)
def test_a_child_ends(made, in_child, in_parent):
    program = CHILD.format(made=made, in_child=in_child, in_parent=in_parent)
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", program], start_new_session=True)
    try:
        assert process.wait(60) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork() here")
def test_an_encoder_says_that_it_is_another_processs():
    encoder = c63.Encoder(16, 16)
    child = os.fork()
    if child == 0:
        try:
            encoder.push(np.zeros((24, 16), np.uint8))
        except c63.UsageError as error:
            os._exit(0 if error.id == "C63-FORKED" else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    encoder.close()
