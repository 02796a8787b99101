"""What the app takes from Streamlit: public names, and few selectors of its pages, all counted."""

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent
PUBLIC = {
    "streamlit",
    "streamlit.delta_generator",  # the type of places on a page
    "streamlit.errors",
    "streamlit.testing.v1",
}
INTERNAL = {
    "js-plotly-plot": "plotly has no setting for ticks by theme",
    "stApp": "the header depends on whether there is a bar of scores",
    "stButton": "a card is its button: layers between them are not placed",
    "stButtonGroup": "chosen buttons have too little contrast",
    "stCaptionContainer": "captions have too little contrast",
    "stColumn": "columns have no least width",
    "stElementContainer": "layers around elements have no key",
    "stHeader": "the header is no higher than the bar of scores on a narrow window",
    "stHeaderLogo": "there is no room for the logo on a phone",
    "stHorizontalBlock": "columns do not wrap",
    "stLayoutWrapper": "what is around a container with a key is as high as the container",
    "stMain": "columns in the sidebar are as they are",
    "stMainBlockContainer": "the page has no setting for its margins",
    "stMarkdownContainer": "types keep their order, whatever their direction",
    "stMarkdown": "the line of text beside the buttons of ReBPE",
    "stMarkdownBadge": "the badge in the bar of scores is hidden where it is narrow",
    "stMetric": "a figure stands in the line of its name",
    "stMetricDelta": "differences are small",
    "stMetricLabel": "long names go on in the next line",
    "stMetricValue": "figures of panels are smaller than others",
    "stPopover": "names of methods go on in the next line",
    "stRadio": "choices are cards",
    "stSidebar": "groups of pages stand close together",
    "stSidebarUserContent": "the sidebar has no setting for its margins",
    "stTab": "open tabs have too little contrast",
    "stTooltipHoverTarget": "a card is its button: layers between them are not placed",
    "stTooltipIcon": "the help of a figure is its name",
    "stVerticalBlock": "groups of pages stand close together",
}
"""Names of Streamlit's own pages in styles and scripts, and why no key or setting will do.

`browser.test_styles` looks for each on the pages.
"""


def test_the_version_that_is_tested_is_the_one_that_is_pinned() -> None:
    pinned = re.findall(r"^streamlit==(.*)$", (ROOT / "requirements.txt").read_text(), re.M)
    assert pinned == [version("streamlit")]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [required] = [
        each for each in extras["optional-dependencies"]["app"] if each.startswith("streamlit")
    ]
    major = int(pinned[0].split(".")[0])
    assert required.endswith(f",<{major + 1}"), "the next major version has not been tested"


def sources() -> list[Path]:
    folders = (ROOT / "web", ROOT / "pages", ROOT / "morphgraph")
    return [ROOT / "app.py", *(path for folder in folders for path in folder.rglob("*.py"))]


def imports(tree: ast.AST) -> Iterator[str]:
    """The modules of Streamlit that are imported when a file is run; types alone do not count."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""
            if node.module == "streamlit":
                yield from (f"streamlit.{alias.name}" for alias in node.names)
        yield from imports(node)


def test_nothing_private_of_streamlit_is_used() -> None:
    for path in sources():
        text = path.read_text(encoding="utf-8")
        found = {name for name in imports(ast.parse(text)) if name.split(".")[0] == "streamlit"}
        assert found <= PUBLIC, path
        assert not re.findall(r"\bst\._[a-z]\w+|_session_mgr|get_script_run_ctx", text), path


def test_every_internal_selector_has_a_reason() -> None:
    files = [*ROOT.glob("assets/*.css"), *(ROOT / "web").rglob("*.css")]
    files += [*(ROOT / "web").rglob("*.js"), *sources()]
    found: set[str] = set()
    for path in files:
        text = path.read_text(encoding="utf-8")
        found |= set(re.findall(r"""data-testid=\\?["'](\w+)""", text))
        found |= set(re.findall(r"\.(st[A-Z]\w+|js-plotly-plot)\b", text))
    assert found == set(INTERNAL)
