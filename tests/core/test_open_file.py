"""Files that are none: refused at once, whatever they are; pipes that somebody writes into are read."""

import os
import pickle
import socket
import stat
import threading

import pytest

from hyperplan._core import open_file as module
from hyperplan._core.open_file import OddFileError, open_file, read_small_file

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and devices are those of Unix")


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def kind_of(path, **options):
    with pytest.raises(OddFileError) as caught, open_file(path, **options) as file:
        file.read(1)
    return caught.value.kind


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/urandom", "/dev/full"])
@pytest.mark.parametrize("pipes", [False, True])
def test_devices(path, pipes):
    assert kind_of(path, pipes=pipes) == "device"


def test_folders_and_sockets(tmp_path, monkeypatch):
    assert kind_of(tmp_path) == "folder"
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        assert kind_of("socket", pipes=True) == "socket"


def test_links_are_followed(tmp_path):
    (tmp_path / "link").symlink_to("/dev/zero")
    assert kind_of(tmp_path / "link") == "device"
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match="symbolic links"):
        open_file(tmp_path / "loop")


def test_a_pipe_without_a_writer(pipe, monkeypatch):
    assert kind_of(pipe) == "pipe"
    monkeypatch.setattr(module, "WRITER_WAIT", 0.05)
    assert kind_of(pipe, pipes=True) == "no_writer"


def test_a_pipe_with_a_writer(pipe):
    content = bytes(range(256)) * 4000
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()  # it waits for us in its open
    with open_file(pipe, pipes=True) as file:
        assert file.read() == content
    writer.join()


def test_a_writer_that_says_nothing(pipe, monkeypatch):
    monkeypatch.setattr(module, "WRITER_WAIT", 0.05)
    monkeypatch.setattr(module, "SILENCE", 0.1)
    with open_file(pipe, pipes=True) as file:
        descriptor = os.open(pipe, os.O_WRONLY)
        os.write(descriptor, b"a")
        assert file.read(1) == b"a"
        with pytest.raises(OddFileError, match="stayed silent"):
            file.read(1)
        os.close(descriptor)


def test_a_file_that_was_swapped_for_a_device(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("a\n")
    honest = os.stat(path)
    path.unlink()
    path.symlink_to("/dev/zero")
    monkeypatch.setattr(os, "stat", lambda *_: honest)
    assert stat.S_ISREG(honest.st_mode) and kind_of(path) == "device"


def test_files_of_the_kernel_have_no_size_but_content():
    assert os.stat("/proc/self/status").st_size == 0
    assert b"VmRSS" in read_small_file("/proc/self/status")


def test_small_files_are_small(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert read_small_file(tmp_path / "a", 5) == b"12345"
    with pytest.raises(OddFileError) as caught:
        read_small_file(tmp_path / "a", 4)
    assert pickle.loads(pickle.dumps(caught.value)).kind == caught.value.kind == "large"


def test_nothing_stays_open(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    for path in (tmp_path, "/dev/zero"):
        kind_of(path)
    assert len(os.listdir("/proc/self/fd")) == before
