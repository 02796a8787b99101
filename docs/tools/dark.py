"""Give dark pages of the site dark pictures: `python docs/tools/dark.py build/docs`.

A page names a picture once, so that it is read everywhere. Where its dark twin lies beside it, the
page of the site names both, marked as its theme knows them. It needs the standard library alone.
"""

import re
import sys
from pathlib import Path

DARK = "-dark"
"""What the name of a dark twin ends in."""


def with_twins(page: str, folder: Path) -> str:
    """Return a page in Markdown with the dark twins, in its ``folder``, of its pictures."""

    def both(found: re.Match[str]) -> str:
        start, name = found.groups()
        twin = f"{name}{DARK}.png"
        if not (folder / twin).exists():
            return found[0]
        return f"{start}{name}.png#only-light){start}{twin}#only-dark)"

    return re.sub(r"(!\[[^\]]*\]\()([^)]+)\.png\)", both, page)


if __name__ == "__main__":
    for path in Path(sys.argv[1]).rglob("*.md"):
        page = with_twins(path.read_text(encoding="utf-8"), path.parent)
        path.write_text(page, encoding="utf-8")
