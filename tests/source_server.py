"""A server on this machine that has one source of the catalogue, and misbehaves on request."""

import contextlib
import hashlib
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from morphgraph.reference.catalogue import SOURCES


class Server(ThreadingHTTPServer):
    """Serves `content` at any path; the other fields say how it misbehaves."""

    daemon_threads = True

    def __init__(self, content):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = content
        self.cut_after = []  # bytes of each answer in turn; then whole answers
        self.answers = []  # status of each answer in turn; then as it should be
        self.without_length = False
        self.asked = []
        self.sent = 0
        self.gate = threading.Event()
        self.gate.set()

    @property
    def source(self):
        """What it serves, as an entry of the catalogue under the name small."""
        return replace(
            SOURCES["morphynet-deu"],
            name="small",
            title="Small",
            format="plain",
            url=f"http://127.0.0.1:{self.server_address[1]}/folder/small.tsv",
            sha256=hashlib.sha256(self.content).hexdigest(),
            size=len(self.content),
            entries=self.content.count(b"\n"),
        )


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        server = self.server
        server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
        server.gate.wait(60)
        if server.answers and (status := server.answers.pop(0)) != 200:
            self.send_response(status)
            self.end_headers()
            return
        rest = server.content
        self.send_response(200)
        if not server.without_length:
            self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        if server.cut_after:
            rest = rest[: server.cut_after.pop(0)]
        with contextlib.suppress(OSError):  # the client may have had enough
            for place in range(0, len(rest), 1 << 16):
                server.sent += self.wfile.write(rest[place : place + (1 << 16)])


@contextlib.contextmanager
def serving(content):
    found = Server(content)
    thread = threading.Thread(target=found.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield found
    finally:
        found.gate.set()
        found.shutdown()
        thread.join()
        found.server_close()
