"""What is installed: every package of the tree, and no more from outside than is needed."""

import ast
import re
import runpy
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pytest
import yaml
from setuptools import Distribution

from morphgraph.core import __version__
from morphgraph.core.errors import EXTRA_OF
from morphgraph.segment.method import METHODS

ROOT = Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, SETUPTOOLS = SETTINGS["project"], SETTINGS["tool"]["setuptools"]
EXTRAS = PROJECT["optional-dependencies"]
PLUGINS = {
    path.parent: tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    for path in (ROOT / "plugins").glob("*/pyproject.toml")
}

MODULE_OF = {"protobuf": "google", "pyyaml": "yaml"}
BEHIND = {"dask": "distributed", "pydantic_core": "pydantic", "requests": "pooch"}
"""Packages that come with another one."""

OF_APP = ("batch", "silver", "wordfreq")
"""Extras that the app brings."""

NOT_OURS = {"torch"}
"""What only the text of an exported folder's README imports."""


def names(requirements):
    """The packages in requirements, in lower case."""
    found = (re.match(r"[A-Za-z0-9_-]+", each) for each in requirements)
    return {match[0].lower() for match in found if match}


def pinned(file):
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    return names(line for line in lines if "==" in line)


def outside(folders):
    """The packages from outside that modules import, wherever in them."""
    found = set()
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    found |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    found.add((node.module or "").partition(".")[0])
    ours = {"morphgraph", "web", *(folder.name.replace("-", "_") for folder in PLUGINS)}
    found -= ours | sys.stdlib_module_names | NOT_OURS
    return {BEHIND.get(package, package) for package in found}


def modules(requirements):
    return {MODULE_OF.get(package, package) for package in names(requirements)}


def of_plugins(*requirements):
    """The packages that plug-ins bring: ``morphgraph-models[train]``."""
    found = set()
    for folder, project in PLUGINS.items():
        for each in requirements:
            name, _, extra = each.rstrip("]").partition("[")
            if name == folder.name:
                found |= modules(project["dependencies"])
                found |= modules(project["optional-dependencies"][extra]) if extra else set()
    return found


def test_the_library_alone_is_light():
    base = modules(PROJECT["dependencies"])
    assert not base & {*EXTRA_OF}
    plugged = {"corpora", "doctor", "models", "readers", "remedies"}
    assert set(EXTRAS) == {"app", "transformers", *plugged, *OF_APP}
    for package, extra in EXTRA_OF.items():
        of = ["app", *OF_APP] if extra == "app" else [extra]
        needed = {module for each in of for module in modules(EXTRAS[each])}
        assert package in needed | of_plugins(*EXTRAS[extra]), package


@pytest.mark.slow
def test_what_is_imported_is_required():
    base = modules(PROJECT["dependencies"])
    every = base | {module for extra in EXTRAS.values() for module in modules(extra)}
    assert outside(["morphgraph"]) <= every
    assert outside(["web", "pages"]) <= every
    # They come in through others: protobuf reads what sentencepiece writes, and cryptography makes
    # the credentials of dask.
    assert base - outside(["morphgraph"]) <= {"google"}


@pytest.mark.parametrize("folder", PLUGINS, ids=lambda folder: folder.name)
def test_a_plug_in_is_in_step(folder):
    """Its version is ours, and it requires what it imports, but for what its extras bring."""
    project, package = PLUGINS[folder], folder.name.replace("-", "_")
    assert project["version"] == __version__
    assert f"morphgraph=={__version__}" in project["dependencies"]
    extras = project.get("optional-dependencies", {}).values()
    every = modules([*project["dependencies"], *(each for extra in extras for each in extra)])
    imported = outside([str(folder.relative_to(ROOT) / package)])
    of_app = {module for each in ("app", *OF_APP) for module in modules(EXTRAS[each])}
    assert imported <= every | of_app, "charts need plotly, as ours do"


def test_pins_cover_the_app_and_the_tests():
    of_app = [each for extra in ("app", *OF_APP) for each in EXTRAS[extra]]
    of_app += [each for project in PLUGINS.values() for each in project["dependencies"]]
    assert f"morphgraph[{','.join(OF_APP)}]" in EXTRAS["app"]
    assert pinned("requirements.txt") == names([*PROJECT["dependencies"], *of_app]) - {"morphgraph"}
    development = pinned("requirements-dev.txt")
    assert names(EXTRAS["transformers"]) <= development
    for project in PLUGINS.values():
        trained = names(project.get("optional-dependencies", {}).get("train", []))
        assert trained <= development | pinned("requirements-models.txt")


def test_every_package_is_in_the_wheel():
    folders = {
        path.parent.relative_to(ROOT)
        for top in ("morphgraph", "web")
        for path in (ROOT / top).rglob("*.py")
    }
    library = {".".join(each.parts) for each in folders if each.parts[0] == "morphgraph"}
    app = {".".join(each.parts) for each in folders if each.parts[0] == "web"}
    listed = set(SETUPTOOLS["packages"])
    shipped = {each for each in listed if not each.startswith("morphgraph._app")}
    assert shipped == library
    assert {each for each in listed if "._app.web" in each} == {
        f"morphgraph._app.{each}" for each in app
    }


def test_the_app_says_how_to_install_it(morphgraph, monkeypatch):
    monkeypatch.setattr("morphgraph.core.errors.find_spec", lambda name: None)
    run = morphgraph("app", "--headless")
    assert run.code == 2
    assert "pip install 'morphgraph[app]'" in run.err


SOURCE = PROJECT["urls"]["Source"]
SETUP = runpy.run_path(str(ROOT / "setup.py"))


def text_of(file):
    return (ROOT / file).read_text(encoding="utf-8")


README, NOTICE, MANIFEST = map(text_of, ("README.md", "NOTICE.md", "MANIFEST.in"))


def tracked():
    """The files of the repository, or of the sdist where the tests run from that."""
    if (ROOT / "PKG-INFO").is_file():
        lines = text_of("morphgraph.egg-info/SOURCES.txt").splitlines()
        return [str(PurePosixPath(line)) for line in lines if ".egg-info" not in line]
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    run = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True)
    if run.returncode:
        pytest.skip("neither a repository nor an sdist")
    return [line for line in run.stdout.splitlines() if (ROOT / line).exists()]


def test_version_and_changelog_are_in_step():
    heads = re.findall(r"^## (.+)$", text_of("CHANGELOG.md"), re.M)
    assert next(head for head in heads if head != "Not yet released") == __version__
    assert heads.index(__version__) <= 1
    assert len(heads) == len(set(heads))
    assert SETUP["version"]() == __version__
    assert f"\nversion: {__version__}\n" in text_of("CITATION.cff")


def test_the_papers_of_all_methods_can_be_cited():
    cited = {
        (paper["authors"][0]["family-names"], str(paper["year"]))
        for paper in yaml.safe_load(text_of("CITATION.cff"))["references"]
    }
    named = [each for method in METHODS.values() for each in method.source.split("; ")]
    for source in named:
        first = re.split(" et al| &| \\d", source)[0]
        assert (first, source[-4:]) in cited, source


def test_the_readme_works_elsewhere():
    """Each link of the page on PyPI is absolute, and leads to a file that is there."""
    shown = SETUP["description"]()
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)]+)\)", shown)
    assert all("://" in link for _, link in links)
    ours = [(sign, link) for sign, link in links if link.startswith(SOURCE)]
    assert len(ours) > 20
    for sign, link in ours:
        kind, version, file = link.partition("#")[0].removeprefix(f"{SOURCE}/").split("/", 2)
        assert (kind, version) == ("raw" if sign else "blob", f"v{__version__}")
        assert (ROOT / file).is_file(), file
    assert sum(sign == "!" for sign, _ in ours) == README.count("![")


def test_the_sdist_has_the_whole_repository():
    grafted = set(re.findall(r"^graft (\S+)$", MANIFEST, re.M))
    [named] = re.findall(r"^include (.+)$", MANIFEST, re.M)
    left_out = [
        file
        for file in tracked()
        if file.partition("/")[0] not in grafted
        and ("/" in file or not any(fnmatch(file, each) for each in named.split()))
    ]
    assert [
        file for file in left_out if file not in ("PKG-INFO", "pyproject.toml", "setup.cfg")
    ] == []
    assert [each for each in grafted if not (ROOT / each).is_dir()] == []
    assert [each for each in named.split() if not list(ROOT.glob(each))] == []


def test_the_notice_names_all_assets_and_what_is_made_of_them():
    there = ("assets/", "docs/story/built/", "docs/story/fonts/")
    shipped = [f for f in tracked() if f.startswith(there) and f != "docs/story/fonts/LICENSE"]
    assert len(shipped) > 8
    named = set(
        re.findall(r"[`(]((?:assets|docs/story)/[^`)]+\.\w+|assets/\S+/LICENSE)[`)]", NOTICE)
    )
    assert [file for file in shipped if file not in named] == []
    assert [file for file in named if file not in shipped] == []
    [script] = [file for file in shipped if file.endswith(".min.js")]
    [version] = re.findall(r"Panzoom (\d\S+)", text_of(script)[:100])
    assert f"Panzoom {version}" in NOTICE


def test_no_tool_of_developers_is_in_the_wheel():
    described = {"package_dir": SETUPTOOLS["package-dir"], "script_name": "setup.py"}
    build = SETUP["WithoutTools"](Distribution(described))
    build.finalize_options()
    modules = {
        package: [name for _, name, _ in build.find_package_modules(package, folder)]
        for package, folder in (("morphgraph._app", str(ROOT)), ("morphgraph._app.docs", "docs"))
    }
    assert modules == {"morphgraph._app": ["app"], "morphgraph._app.docs": []}
    pages = build.find_package_modules("morphgraph._app.pages", str(ROOT / "pages"))
    assert len(pages) == len(list((ROOT / "pages").glob("*.py")))
