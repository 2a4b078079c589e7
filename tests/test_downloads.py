"""The cache: whole files or none. Servers are threads of the tests; no network."""

import contextlib
import hashlib
import http.server
import io
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

from dezero import downloads, utils
from dezero.downloads import get_file

BODY = bytes(range(256)) * 1000
SHA = hashlib.sha256(BODY).hexdigest()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "a" / "cache"  # neither of the two exists yet
    monkeypatch.setattr(downloads, "cache_dir", str(folder))
    monkeypatch.setenv("no_proxy", "*")
    return folder


def files(cache):
    return sorted(os.listdir(cache)) if cache.exists() else []


class Server:
    """A server of one file, which can be told to break off and to change."""

    def __init__(self):
        self.body, self.tag, self.ranges = BODY, '"one"', True
        self.breaks = []  # how many bytes to send, for the first requests
        self.status = None
        self.hang = None  # an event to wait for before breaking off
        self.requests = []  # the Range header of each
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.answer(self)

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/data/file.bin"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    def answer(self, handler):
        asked = handler.headers["Range"]
        self.requests.append(asked)
        if self.status is not None:
            handler.send_error(self.status)
            return
        start = 0
        if asked and self.ranges:
            if handler.headers["If-Range"] in (None, self.tag):
                start = int(asked.removeprefix("bytes=").removesuffix("-"))
        if start >= len(self.body):
            handler.send_error(416)
            return
        rest = self.body[start:]
        handler.send_response(206 if start else 200)
        if start:
            end = len(self.body) - 1
            handler.send_header(
                "Content-Range", f"bytes {start}-{end}/{len(self.body)}"
            )
        handler.send_header("Content-Length", str(len(rest)))
        if self.tag:
            handler.send_header("ETag", self.tag)
        handler.end_headers()
        if not self.breaks:
            handler.wfile.write(rest)
            return
        handler.wfile.write(rest[: self.breaks.pop(0)])
        if self.hang is not None:
            handler.wfile.flush()
            self.hang.wait(60)


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


def read(path):
    return pathlib.Path(path).read_bytes()


# ---- what goes right -----------------------------------------------------------------


def test_a_file_is_copied_once(tmp_path, cache):
    source = tmp_path / "data.bin"
    source.write_bytes(b"abc")
    path = get_file(source.as_uri())
    assert path == str(cache / "data.bin") and read(path) == b"abc"
    source.write_bytes(b"another")
    assert read(get_file(source.as_uri())) == b"abc"
    assert read(get_file(source.as_uri(), "b.bin")) == b"another"
    assert files(cache) == ["b.bin", "data.bin"]


def test_an_empty_file(tmp_path, cache):
    (tmp_path / "empty").write_bytes(b"")
    assert read(get_file((tmp_path / "empty").as_uri())) == b""


def test_from_a_server(server, cache):
    assert read(get_file(server.url, sha256=SHA)) == BODY
    get_file(server.url, sha256=SHA.upper())
    assert server.requests == [None]
    assert files(cache) == ["file.bin"]


def test_name_is_the_last_part_of_the_path(server, cache):
    get_file(server.url + "/x%20y.txt?version=2#top")
    assert files(cache) == ["x y.txt"]


def test_utils_has_it_too():
    assert utils.get_file is get_file
    home = os.path.expanduser("~")
    assert utils.cache_dir == os.path.join(home, ".dezero")


def test_a_file_of_another_checksum_is_replaced(server, cache):
    get_file(server.url)
    server.body = b"new"
    assert read(get_file(server.url)) == BODY
    path = get_file(server.url, sha256=hashlib.sha256(b"new").hexdigest())
    assert read(path) == b"new"
    assert files(cache) == ["file.bin"]


# ---- the connection breaks -----------------------------------------------------------


def test_the_rest_is_asked_for(server, cache):
    server.breaks = [100_000, 50_000]
    assert read(get_file(server.url)) == BODY
    assert server.requests == [None, "bytes=100000-", "bytes=150000-"]
    assert files(cache) == ["file.bin"]


def test_a_server_that_sends_everything_again(server):
    server.breaks, server.ranges = [100_000], False
    assert read(get_file(server.url)) == BODY


def test_a_file_that_changes_in_between(server):
    server.breaks = [100_000]
    answer = server.answer

    def change(handler):
        if server.requests:
            server.body, server.tag = b"short", '"two"'
        answer(handler)

    server.answer = change
    assert read(get_file(server.url)) == b"short"


def test_what_is_broken_leaves_nothing(server, cache):
    server.breaks = [10] * 9
    with pytest.raises(ConnectionError, match=r"50 bytes of 256000: the connection"):
        get_file(server.url)
    assert len(server.requests) == 5 and files(cache) == []


@pytest.mark.parametrize("tag", [None, 'W/"weak"'])
def test_without_a_validator_parts_are_not_joined(server, cache, tag):
    server.breaks, server.tag = [100_000], tag
    with pytest.raises(ConnectionError, match="100000 bytes of 256000"):
        get_file(server.url)
    assert files(cache) == [] and len(server.requests) == 1


def test_a_later_call_resumes_what_has_a_checksum(server, cache):
    server.breaks, server.tag = [100_000], None
    with pytest.raises(ConnectionError, match="100000 bytes of 256000"):
        get_file(server.url, sha256=SHA)
    assert files(cache) == [f"file.bin.{SHA[:16]}.part"]
    assert read(get_file(server.url, sha256=SHA)) == BODY
    assert server.requests == [None, "bytes=100000-"]
    assert files(cache) == ["file.bin"]


@pytest.mark.parametrize("kept", [b"x" * 1000, BODY + b"more", BODY])
def test_a_part_that_does_not_fit_is_fetched_anew(server, cache, kept):
    cache.mkdir(parents=True)
    (cache / f"file.bin.{SHA[:16]}.part").write_bytes(kept)
    assert read(get_file(server.url, sha256=SHA)) == BODY
    assert files(cache) == ["file.bin"]


@pytest.mark.parametrize("checksum", [None, SHA])
def test_an_interruption_leaves_no_file(server, cache, monkeypatch, checksum):
    @contextlib.contextmanager
    def interrupted(*args):
        def advance(n):
            raise KeyboardInterrupt

        yield advance

    monkeypatch.setattr(downloads, "_progress", interrupted)
    with pytest.raises(KeyboardInterrupt):
        get_file(server.url, sha256=checksum)
    assert "file.bin" not in files(cache)
    assert len(files(cache)) == (checksum is not None)
    monkeypatch.undo()
    monkeypatch.setattr(downloads, "cache_dir", str(cache))
    assert read(get_file(server.url, sha256=checksum)) == BODY
    assert files(cache) == ["file.bin"]


@pytest.mark.parametrize("checksum", [None, SHA])
def test_what_a_killed_process_left_is_used_or_removed(server, cache, checksum):
    cache.mkdir(parents=True)
    for i, age in enumerate((5, 1000, 2000)):
        path = cache / f"file.bin.{i:032x}.part"
        path.write_bytes(BODY[:1000])
        os.utime(path, (time.time() - age,) * 2)
    (cache / "file.bin.txt").write_bytes(b"")
    assert read(get_file(server.url, sha256=checksum)) == BODY
    # The first may be that of a process that is alive.
    assert files(cache) == ["file.bin", f"file.bin.{0:032x}.part", "file.bin.txt"]
    assert server.requests == [None if checksum is None else "bytes=1000-"]


def test_a_killed_process_leaves_no_file(server, cache):
    server.breaks, server.hang = [100_000], threading.Event()
    code = "import sys; from dezero import downloads as d; d.cache_dir = sys.argv[1]; "
    code += "d.get_file(sys.argv[2])"
    process = subprocess.Popen([sys.executable, "-c", code, str(cache), server.url])
    until = time.monotonic() + 30
    while not any([os.path.getsize(cache / name) for name in files(cache)]):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    server.hang.set()
    (left,) = files(cache)
    assert left.endswith(".part")
    assert read(get_file(server.url)) == BODY


def test_several_threads_at_once(server, cache):
    threads = [
        threading.Thread(target=get_file, args=(server.url,), kwargs={"sha256": SHA})
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert files(cache) == ["file.bin"] and read(cache / "file.bin") == BODY


# ---- what goes wrong -----------------------------------------------------------------


def test_wrong_checksum_leaves_nothing(server, cache):
    wrong = "0" * 64
    with pytest.raises(ValueError, match=f"get_file: expected sha256 0+, got.*{SHA}"):
        try:
            get_file(server.url, sha256=wrong)
        except ValueError as error:
            raise ValueError(str(error).replace("\n", " ")) from error
    assert files(cache) == []


def test_wrong_checksum_keeps_what_was_there(server, cache):
    get_file(server.url)
    with pytest.raises(ValueError, match="expected sha256"):
        get_file(server.url, sha256="0" * 64)
    assert files(cache) == ["file.bin"]


def test_mirrors(server, tmp_path, cache):
    good = tmp_path / "good.bin"
    good.write_bytes(BODY)
    server.status = 404
    mirrors = ["http://127.0.0.1:9/nobody", good.as_uri()]
    assert read(get_file(server.url, sha256=SHA, mirrors=mirrors)) == BODY
    assert files(cache) == ["file.bin"]


def test_mirror_after_a_wrong_file(server, tmp_path, cache):
    good = tmp_path / "good.bin"
    good.write_bytes(b"right")
    sha256 = hashlib.sha256(b"right").hexdigest()
    path = get_file(server.url, sha256=sha256, mirrors=[good.as_uri()])
    assert read(path) == b"right" and files(cache) == ["file.bin"]


def test_no_address_works(server, cache):
    server.status = 404
    with pytest.raises(ConnectionError) as info:
        get_file(server.url, mirrors=["http://127.0.0.1:9/nobody"])
    message = str(info.value)
    assert message.startswith("get_file: expected to download file.bin, got\n")
    assert f"{server.url}: HTTP Error 404" in message
    assert "http://127.0.0.1:9/nobody: " in message and "refused" in message
    assert f"put the file there by hand: {cache / 'file.bin'}" in message
    assert files(cache) == []


def test_no_such_local_file(tmp_path, cache):
    with pytest.raises(ConnectionError, match="No such file"):
        get_file((tmp_path / "missing").as_uri())
    assert files(cache) == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:x/a", "http://127.0.0.1:9/\u00e4 b"])
def test_an_address_that_is_none(url, cache):
    with pytest.raises(ConnectionError, match="get_file: expected to download"):
        get_file(url)
    assert files(cache) == []


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"url": "ftp://a/b"}, "get_file: expected a url of http.*got 'ftp://a/b'"),
        ({"url": "/etc/passwd"}, "get_file: expected a url of http"),
        ({"url": "http://a/b", "mirrors": ["b"]}, "get_file: expected a url .* 'b'"),
        ({"url": "http://a/"}, "plain file name, got '' from .*give one as file_name"),
        ({"url": "http://a/..%2Fb"}, r"plain file name, got '\.\./b' from"),
        ({"url": "http://a/.."}, r"plain file name, got '\.\.'"),
        ({"url": "http://a/b", "file_name": "../b"}, r"plain file name, got '\.\./b'$"),
        ({"url": "http://a/b", "file_name": "/b"}, "plain file name, got '/b'$"),
        ({"url": "http://a/b", "file_name": "a\\b"}, "plain file name"),
        ({"url": "http://a/b", "file_name": ""}, "plain file name, got ''$"),
        ({"url": "http://a/b", "sha256": "12"}, "64 hexadecimal digits, got '12'"),
    ],
)
def test_arguments(kwargs, message, cache):
    with pytest.raises(ValueError, match=message):
        get_file(**kwargs)
    assert not cache.exists()


# ---- progress ------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_quiet_where_nobody_looks(server, capsys):
    get_file(server.url)
    assert capsys.readouterr() == ("", "")


def test_a_bar_on_a_terminal(server, monkeypatch):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    get_file(server.url)
    assert "file.bin" in sys.stderr.getvalue() and "100%" in sys.stderr.getvalue()


def test_a_line_on_a_terminal_without_tqdm(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    get_file(server.url)
    assert sys.stderr.getvalue() == "Downloading file.bin\n"
