"""Tokenisers by their names on a hub: in the cache, or fetched from a server."""

import json
import os
import subprocess
import sys
from functools import partial
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from effort import share_of

import morphgraph as mg
from morphgraph.core.errors import FileFormatError
from morphgraph.core.files import demo_tokeniser_path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONTENT = demo_tokeniser_path("en").read_bytes()
FILES = {
    "tokenizer.json": CONTENT,
    "tokenizer_config.json": b'{"tokenizer_class": "PreTrainedTokenizerFast"}',
    "config.json": b'{"model_type": "gpt2"}',
    "model.safetensors": b"weights",
    "model-q4.gguf": b"weights",
    "modeling.py": b"raise SystemExit",
}


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as a snapshot asks for; ``asked``: the paths."""

    def __init__(self, asked, *arguments):
        self.asked = asked
        super().__init__(*arguments)

    def do_GET(self):
        self.asked.append(self.path)
        start = f"/api/models/org/model/tree/{COMMIT}"
        if self.path.startswith("/api/models/org/model/revision/main"):
            self.answer(json.dumps({"id": "org/model", "sha": COMMIT, "siblings": []}).encode())
        elif self.path.startswith(start):
            listed = [
                {"type": "file", "path": name, "size": len(data), "oid": sha1(data).hexdigest()}
                for name, data in FILES.items()
            ]
            self.answer(json.dumps(listed).encode())
        elif self.path.startswith(f"/org/model/resolve/{COMMIT}/"):
            data = FILES[self.path.rsplit("/", 1)[1]]
            self.answer(data, ETag=f'"{sha1(data).hexdigest()}"', **{"X-Repo-Commit": COMMIT})
        else:
            self.answer(b"{}", 404, **{"X-Error-Code": "RepoNotFound"})

    do_HEAD = do_GET

    def answer(self, data, status=200, **headers):
        self.send_response(status)
        for name, value in {"Content-Length": len(data), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def hub():
    """A server's address, and the paths that it was asked for."""
    asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Hub, asked))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


@pytest.fixture
def command(hub, tmp_path):
    """Run the command with that hub, and a cache of its own."""
    own = {"HF_ENDPOINT": hub[0], "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}

    def run(*arguments):
        given = [sys.executable, "-m", "morphgraph", *arguments]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HF_")} | own
        return subprocess.run(given, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.mark.slow
def test_it_is_fetched_once_and_only_if_asked(command, hub, tmp_path):
    done = command("segment", "org/model", "undesirable")
    assert (done.returncode, hub[1]) == (2, [])
    assert "--download" in done.stderr

    done = command("segment", "org/model", "undesirable", "--download")
    assert done.stdout.split() == mg.load("demo:en").segment(["undesirable"])[0], done.stderr
    [snapshot] = (tmp_path / "home/hub/models--org--model/snapshots").iterdir()
    assert snapshot.name == COMMIT
    told = ("tokenizer.json", "tokenizer_config.json", "config.json")
    assert {path.name for path in snapshot.iterdir()} == {*told}, "no weights, no code"

    hub[1].clear()
    names = ("org/model", "org/model@main", f"org/model@{COMMIT}")
    for name in names[: share_of(3)]:
        again = command("segment", name, "undesirable", "--download")
        assert again.stdout == done.stdout, again.stderr
    assert not hub[1], "it is in the cache now"

    done = command("segment", "org/nothing", "word", "--download")
    assert done.returncode == 2
    assert done.stderr.startswith("morphgraph: org/nothing: ")


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """A cache with a tokeniser in it, as transformers leaves one there."""
    home = tmp_path / "models--org--model"
    (home / "snapshots" / COMMIT).mkdir(parents=True)
    (home / "snapshots" / COMMIT / "tokenizer.json").write_bytes(CONTENT)
    (home / "refs").mkdir()
    (home / "refs/main").write_text(COMMIT)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.file_download.HF_HUB_CACHE", str(tmp_path), raising=False)


@pytest.mark.usefixtures("cached")
def test_the_cache_is_looked_into_first():
    assert mg.load("org/model") == mg.load("demo:en")
    assert mg.load("org/model", download=True) == mg.load("org/model@main")
    for name in ("org/other", "org/model@v2"):
        with pytest.raises(FileFormatError):
            mg.load(name)


@pytest.mark.usefixtures("cached")
def test_a_path_comes_before_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("org/model").mkdir(parents=True)
    Path("org/model/tokenizer.json").write_bytes(demo_tokeniser_path("nl").read_bytes())
    assert mg.load("org/model") == mg.load("demo:nl")
