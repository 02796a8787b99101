"""The site of `make site`: its links lead somewhere, and it loads nothing from elsewhere."""

import re
import runpy
import shutil
import subprocess
import sys
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from playwright.sync_api import expect

from morphgraph import __version__

ROOT = Path(__file__).parents[2]
HOST, SOURCE = "http://site", "https://example.org/morphgraph"

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, made as by `make site`."""
    folder = tmp_path_factory.mktemp("checkout")
    others = ("LICENSE", "CITATION.cff", "Makefile", "mkdocs.yml", "assets/icon.svg")
    others += ("assets/panzoom/LICENSE", "release/publish_site.py", "morphgraph/core/__init__.py")
    for path in [*ROOT.glob("*.md"), *(ROOT / name for name in others)]:
        copy = folder / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    for docs in ("docs", *(path.relative_to(ROOT) for path in ROOT.glob("plugins/*/docs"))):
        shutil.copytree(ROOT / docs, folder / docs)
    # What it needs is installed beside what runs the tests.
    given = ["-o", ".make/site", f"BIN={Path(sys.executable).parent}", f"REPOSITORY_URL={SOURCE}"]
    run = subprocess.run(["make", *given, "site"], cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "site" / __version__


class Links(HTMLParser):
    """What a page links to, what it loads, and the places that links may lead to."""

    def __init__(self, path):
        super().__init__()
        self.followed = []
        self.loaded = []
        self.places = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.places.add(value or "")
            elif name in ("href", "src", "srcset", "poster", "data", "action"):
                (self.followed if tag == "a" else self.loaded).append(value or "")


@pytest.fixture(scope="module")
def pages(site):
    return {
        f"{HOST}/{path.relative_to(site).as_posix().removesuffix('index.html')}": Links(path)
        for path in sorted(site.rglob("*.html"))
    }


def test_all_links_lead_to_what_is_there(site, pages):
    wrong = []
    for address, page in pages.items():
        for link in page.followed + page.loaded:
            target, _, place = urljoin(address, link).partition("#")
            if not target.startswith(HOST):
                continue
            target = target.removesuffix("index.html")
            file = site / unquote(urlsplit(target).path).lstrip("/")
            there = target in pages or file.is_file()
            places = pages[target].places if target in pages else {"only-light", "only-dark"}
            if not there or (place and unquote(place) not in places):
                wrong.append(f"{address}: {link}")
    assert wrong == []


def test_each_page_is_in_the_navigation(site, pages):
    front, atlas = f"{HOST}/", f"{HOST}/docs/atlas/"
    listed = {urljoin(front, link).removesuffix("index.html") for link in pages[front].followed}
    tokenisers = {urljoin(atlas, link) for link in pages[atlas].followed if link.endswith(".html")}
    assert atlas in listed
    assert set(pages) - listed - tokenisers == {f"{HOST}/404.html"}
    patterns = ("*.md", "docs/*.md", "docs/*/*.md", "docs/*/*.ipynb", "plugins/*/docs/*.md")
    sources = {path.relative_to(ROOT) for pattern in patterns for path in ROOT.glob(pattern)}
    edited = {link for page in pages.values() for link in page.followed if "/edit/" in link}
    assert edited == {f"{SOURCE}/edit/main/{path}" for path in sources}
    assert not [*site.rglob("*.py*"), *site.rglob("*.j2")]


@pytest.fixture(scope="module")
def served(site):
    """The address of the site below a server's root, as on GitHub Pages."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format, *args):
            pass

    handler = partial(Quiet, directory=str(site.parents[1]))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/site/latest/"
        server.shutdown()


@pytest.mark.soak
def test_all_pages_open(served, pages, new_page):
    page = new_page(viewport={"width": 390, "height": 800})
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for address in pages:
        if not address.endswith("404.html"):  # it is at the root, whatever is asked for
            page.goto(address.replace(f"{HOST}/", served), wait_until="load")
            expect(page.locator("h1").first).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, address
    ours = (served, served.replace("latest/", "versions.json"), "data:", "blob:")
    assert [url for url in asked if not url.startswith(ours)] == []


@pytest.mark.soak
def test_pictures_of_the_app_are_as_dark_as_the_page(served, new_page):
    named = re.findall(r"images/(.*)\.png\)", (ROOT / "docs/app.md").read_text(encoding="utf-8"))
    for scheme, ending in (("light", ".png#only-light"), ("dark", "-dark.png#only-dark")):
        page = new_page(color_scheme=scheme)
        page.goto(f"{served}docs/app/")
        shown = page.locator("article img:visible")
        seen = shown.evaluate_all("all => all.map(one => [one.src.split('/').at(-1), one.alt])")
        assert [name for name, _ in seen] == [f"{name}{ending}" for name in named]
        assert all(text for _, text in seen)


def test_a_question_is_found_by_its_own_words(served, page):
    page.goto(served)
    page.get_by_role("button", name="Search").click()
    page.get_by_role("combobox").fill("remove a token and keep")
    page.get_by_role("option", name="How do I remove a token and keep what").click()
    page.wait_for_url(f"{served}docs/answers/how-do-i-remove-a-token-and-keep**")


@pytest.mark.soak
def test_versions_are_listed_and_changed_between(site, served, page):
    publish = runpy.run_path(str(ROOT / "release/publish_site.py"))["publish"]
    # Published out of order, as the mending of an earlier version is.
    for version in ("0.10.0rc1", "0.10.0", "0.1.9"):
        publish(site, site.parent, version)
    root = served.removesuffix("latest/")
    wrong = []
    page.on("request", lambda asked: asked.url.startswith(root) or wrong.append(asked.url))
    page.on("response", lambda answer: answer.ok or wrong.append(answer.url))
    page.goto(root)  # leads to the latest
    page.wait_for_url(served)
    current, choices = page.locator(".md-version__current"), page.locator(".md-version__link")
    expect(current).to_have_text("0.10.0")
    versions = ["0.10.0", "0.10.0rc1", site.name, "0.1.9"]
    expect(choices).to_have_text(versions)
    for version in reversed(versions):
        current.focus()
        choices.get_by_text(version, exact=True).click()
        page.wait_for_url(f"{root}{version}/")
        expect(current).to_have_text(version)
        expect(choices).to_have_text(versions)
    assert wrong == []
