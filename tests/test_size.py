"""How many lines of code there are."""

from pathlib import Path

from benchmarks.size import MAIN, code_lines, sizes

ROOT = Path(__file__).parent.parent


def test_comments_docstrings_and_blanks_are_no_code() -> None:
    lines = ['"""What it', 'does."""', "", "# why", "x = [  # here", "    1,", "", "]"]
    lines += ["", "class A:", "    y: int = 1", '    """An attribute."""', "    z = 'text'", ""]
    assert code_lines("\n".join(lines)) == 3 + 3, "a list without its blank line, and a class"


def test_each_room_is_counted_and_tests_are_apart() -> None:
    rooms, plugins, tests = sizes()
    listed = {path.name for path in (ROOT / "morphgraph").iterdir() if path.is_dir()}
    assert {room for room in rooms if room.startswith("morphgraph/")} <= {
        f"morphgraph/{name}" for name in listed
    }
    assert {"morphgraph", "morphgraph/core", "pages", "web", "benchmarks", "docs"} <= set(rooms)
    here = [path.read_text("utf-8") for path in (ROOT / "pages").glob("*.py")]
    assert rooms["pages"] == sum(map(code_lines, here))
    assert "tests" not in rooms
    here = {f"plugins/{path.parent.name}" for path in ROOT.glob("plugins/*/pyproject.toml")}
    assert set(plugins) == here == set(tests) - {MAIN}
    assert all(lines > 100 for lines in (*plugins.values(), *tests.values()))
