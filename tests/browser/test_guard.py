"""What stands before Streamlit: hosts, headers, and uploads, over the network and in Chromium."""

import http.client
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
import requests
import websockets.sync.client
from browser_steps import PATIENCE, start
from playwright.sync_api import expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.browser.conftest import free_port
from web.guard import FRAME

pytestmark = pytest.mark.browser

MEGABYTE = 2**20


@pytest.fixture
def public_port(public_app):
    return public_app.port


def ask(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path, headers=headers)
    return connection.getresponse()


@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/no/such", FRAME])
def test_each_request_names_this_server(public_port, path):
    for host in ("evil.example", "127.0.0.1.evil.example", "evil.example:80@localhost", "a b"):
        answer = ask(public_port, path, Host=host)
        assert answer.status == 421, host
        assert b"--host" in answer.read()
    names = ("localhost", f"LOCALHOST.:{public_port}", "[::1]:80", "morphgraph.example.org")
    for host in names:
        assert ask(public_port, path, Host=host).status != 421, host


def test_a_websocket_names_this_server_too(public_port):
    for host in ("evil.example", "morphgraph.example.org"):
        wire = socket.create_connection(("127.0.0.1", public_port))
        address = f"ws://{host}:{public_port}/_stcore/stream"
        try:
            with websockets.sync.client.connect(address, sock=wire, subprotocols=["streamlit"]):
                assert host != "evil.example"
        except InvalidStatus as refused:
            assert (host, refused.response.status_code) == ("evil.example", 421)


@pytest.mark.parametrize(
    "path", ["/", "/Repair", "/static/css/none.css", "/_stcore/health", "/media/none", FRAME]
)
def test_each_answer_says_what_may_be_loaded(public_port, path):
    headers = ask(public_port, path).headers
    [policy] = headers.get_all("Content-Security-Policy") or []
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    assert "'unsafe-eval'" not in policy
    assert ("script-src 'unsafe-inline'" in policy) == (path == FRAME)
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    # No other page sends the app messages.
    assert b'"allowedOrigins":[]' in ask(public_port, "/_stcore/host-config").read()


def test_a_page_of_others_runs_in_its_frame_and_reaches_nothing(browser, public_port):
    page = browser.new_page()  # the usual one fails where something is refused
    start(page, f"http://127.0.0.1:{public_port}")
    sent = """<title>sent</title><p>before</p><script>
      document.querySelector("p").textContent = "run";
      const tries = [() => parent.document.title, () => document.cookie, () => localStorage.a];
      for (const one of tries) try { one(); document.body.append(" reached"); } catch {}
      fetch("/_stcore/health").catch(() => document.body.append(" refused"));
    </script>"""
    page.evaluate(
        """([path, sent]) => {
          const frame = document.createElement("iframe");
          frame.title = "others";
          frame.addEventListener("load", () => frame.contentWindow.postMessage(sent, "*"),
            { once: true });
          frame.src = path;
          document.body.append(frame);
        }""",
        [FRAME, sent],
    )
    frame = page.frame_locator('iframe[title="others"]')
    expect(frame.locator("p")).to_have_text("run", timeout=PATIENCE)
    expect(frame.locator("body")).to_have_text("run refused", timeout=PATIENCE)
    page.close()


class Visitor:
    """A session, without a browser, that uploads what it likes."""

    def __init__(self, port):
        self.address = f"127.0.0.1:{port}/_stcore"
        found = requests.get(f"http://{self.address}/health", timeout=30).cookies
        token = next(value for name, value in found.items() if "xsrf" in name)
        cookies = "; ".join(f"{name}={value}" for name, value in found.items())
        self.headers = {"Cookie": cookies, "X-Xsrftoken": token}
        self.connection = websockets.sync.client.connect(
            f"ws://{self.address}/stream",
            subprotocols=["streamlit"],
            additional_headers={"Cookie": cookies},
            max_size=None,
            max_queue=None,
            ping_interval=None,
        )
        self.socket = self.connection.__enter__()
        message = BackMsg()
        message.rerun_script.query_string = ""
        self.socket.send(message.SerializeToString())
        self.session, is_done = "", False
        while not is_done:
            heard = ForwardMsg.FromString(self.socket.recv(timeout=60))
            self.session = heard.new_session.initialize.session_id or self.session
            is_done = heard.HasField("script_finished")

    def send(self, file, size, *, chunked=False, method="PUT"):
        """Upload zeros, or remove a file; ``chunked``: without saying how many come."""
        head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        body = head + bytes(size) + b"\r\n--x--\r\n"
        parts = (body[at : at + MEGABYTE] for at in range(0, len(body), MEGABYTE))
        try:
            return requests.request(
                method,
                f"http://{self.address}/upload_file/{self.session}/{file}",
                data=parts if chunked else body,
                headers={**self.headers, "Content-Type": "multipart/form-data; boundary=x"},
                timeout=60,
            ).status_code
        except requests.ConnectionError:
            return 413  # it was refused meanwhile


def test_uploads_of_a_session_have_a_limit_together(public_port):
    visitor, other = Visitor(public_port), Visitor(public_port)
    sizes = [30 * MEGABYTE, 30 * MEGABYTE, 5 * MEGABYTE, 3 * MEGABYTE, 2 * MEGABYTE]
    found = [visitor.send(str(number), size) for number, size in enumerate(sizes)]
    assert found == [204, 204, 413, 204, 413]
    assert visitor.send("again", 5 * MEGABYTE, chunked=True) == 413, "counted as it comes"
    assert visitor.send("1", 0, method="DELETE") == 204
    assert visitor.send("more", 30 * MEGABYTE, chunked=True) == 204, "there is room again"
    assert other.send("0", 30 * MEGABYTE) == 204, "others have a limit of their own"
    # A file stays when another of its name is not one.
    visitor = Visitor(public_port)
    assert visitor.send("0", 35 * MEGABYTE) == 204
    assert visitor.send("0", 41 * MEGABYTE, chunked=True) == 413
    assert visitor.send("1", 35 * MEGABYTE) == 413
    # Those at once count together.
    visitor = Visitor(public_port)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda file: visitor.send(str(file), 30 * MEGABYTE), range(8)))
    assert found.count(204) <= 2
    assert set(found) <= {204, 413}


def test_nor_does_more_come_through_a_websocket(public_port):
    visitor, other = Visitor(public_port), Visitor(public_port)
    message = BackMsg()
    message.rerun_script.query_string = "a" * (65 * MEGABYTE)
    visitor.socket.send(message.SerializeToString())
    with pytest.raises(ConnectionClosed):
        while True:
            visitor.socket.recv(timeout=60)
    message.rerun_script.query_string = "a" * (1 * MEGABYTE)
    other.socket.send(message.SerializeToString())
    assert other.socket.recv(timeout=60)


@pytest.mark.soak
def test_memory_comes_back_when_the_next_session_ends(serve, tmp_path):
    variables = {"MORPHGRAPH_STATE": str(tmp_path), "MORPHGRAPH_PUBLIC": "1"}
    variables["STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL"] = "3"
    port = free_port()
    with serve(port, **variables) as process:
        visitor, app = Visitor(port), psutil.Process(process.pid)
        before = app.memory_info().rss
        assert [visitor.send(str(file), 30 * MEGABYTE) for file in range(2)] == [204, 204]
        held = app.memory_info().rss
        assert held - before > 50 * MEGABYTE
        visitor.connection.__exit__(None, None, None)
        time.sleep(4)
        Visitor(port).connection.__exit__(None, None, None)
        patience = time.monotonic() + 60
        while held - app.memory_info().rss < 50 * MEGABYTE and time.monotonic() < patience:
            time.sleep(0.5)
        assert held - app.memory_info().rss >= 50 * MEGABYTE
