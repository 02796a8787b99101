"""Write the tables and pictures of docs/results.md for a paper: as LaTeX, and all in one PDF.

Run: ``python -m docs.tools.paper``, or ``make paper``. Each table is a file to ``\\input``, with
its commands as comments. The PDF needs pdflatex.
"""

import re
import shutil
import subprocess
import sys

from docs.tools import DOCS
from morphgraph.batch.report import file_names
from morphgraph.tables.model import Cell, Column, Row, Table
from morphgraph.tables.writing import latex, to_latex

PAPER = DOCS.parent / "paper"
TEX_LIVE = "texlive-latex-base texlive-latex-recommended texlive-latex-extra"

_BLOCK = re.compile(r"^```[\s\S]*?^```$|^(?:(?!```).+\n?)+", re.M)
_PICTURE = re.compile(r"!\[([^]]*)\]\(([^)]*)\)")
_NUMBER = re.compile(r"[-−+]?\d|n/a|$")
_HEAD = r"""\documentclass[a4paper,landscape]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{adjustbox,array,booktabs,float,fvextra,graphicx,parskip}
\floatplacement{figure}{H}
\floatplacement{table}{H}
\fvset{breaklines,breakanywhere,fontsize=\footnotesize}
\begin{document}
"""


def plain(text: str) -> str:
    """Return Markdown on one line, without its marks.

    >>> plain("**a** [b](c.md)\\n`d_e` *f*")
    'a b d_e f'
    """
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(text.split()))
    return re.sub(r"(\*\*|\*|`)(.+?)\1", r"\2", text)


def table_of(markdown: str, title: str, short: str, label: str) -> Table:
    """Return a table of Markdown; what begins bold there is bold."""
    lines = [[cell.strip() for cell in line[1:-1].split("|")] for line in markdown.splitlines()]
    heads, _, *texts = [list(map(plain, line)) for line in lines]
    columns = [
        Column(head, "written" if all(map(_NUMBER.match, column)) else "text")
        for head, *column in zip(heads, *texts, strict=True)
    ]
    rows = [
        Row((), tuple(Cell(plain(cell), is_best=cell.startswith("**")) for cell in line))
        for line in lines[2:]
    ]
    return Table(title, (), tuple(columns), tuple(rows), bold="", label=label, short=short)


def paper(page: str) -> dict[str, str]:
    """Return the files of a page in Markdown: its tables, and ``results.tex``, which has all of it.

    A table's caption is the first paragraph since the heading, commands or table before it.
    """
    files: dict[str, str] = {}
    parts = [_HEAD]
    titles: list[str] = []
    heading = commands = caption = ""
    for block in map(str.strip, _BLOCK.findall(page)):
        if picture := _PICTURE.fullmatch(block):
            if picture[2].endswith(".svg"):  # pdflatex reads none
                continue
            parts.append(
                rf"\begin{{figure}}\centering\caption{{{latex(picture[1])}.}}"
                rf"\includegraphics[width=0.8\linewidth]{{{picture[2]}}}\end{{figure}}"
            )
        elif not block.startswith(("#", "`", "|")):
            parts.append(latex(plain(block)))
            caption = caption or plain(block)
        else:
            if block.startswith("#"):
                heading, commands = plain(block.lstrip("#")), ""
                parts.append(rf"\section*{{{latex(heading)}}}")
            elif block.startswith("`"):
                code = block.partition("\n")[2].removesuffix("```")
                commands += "" if code.startswith("reference:") else code
                parts.append(f"\\begin{{Verbatim}}\n{code}\\end{{Verbatim}}")
            else:
                titles.append(heading)
                name = file_names(titles)[-1]
                if caption:
                    parts.remove(latex(caption))
                table = table_of(block, (caption or heading).rstrip(".:"), heading, name)
                comments = "".join(f"% {line}\n" for line in commands.splitlines())
                files[f"{name}.tex"] = comments + to_latex(table)
                parts.append(rf"\input{{{name}}}")
            caption = ""
    files["results.tex"] = "\n\n".join([*parts, r"\end{document}", ""])
    return files


def main() -> None:
    """Write the files, and the PDF if there is pdflatex."""
    shutil.rmtree(PAPER, ignore_errors=True)
    (PAPER / "images").mkdir(parents=True)
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    for _, picture in _PICTURE.findall(page):
        shutil.copy(DOCS / picture, PAPER / picture)
    files = paper(page)
    for name, text in files.items():
        (PAPER / name).write_text(text, encoding="utf-8")
    print(f"{len(files) - 1} tables, {PAPER.name}/results.tex")
    if not shutil.which("pdflatex"):
        print(f"no PDF: there is no pdflatex (on Debian: apt-get install {TEX_LIVE})")
        return
    command = ["pdflatex", "-interaction=nonstopmode", "results.tex"]
    for _ in range(2):  # the widths of long tables are those of the first time
        done = subprocess.run(command, cwd=PAPER, capture_output=True)
    log = done.stdout.decode(errors="replace")
    if done.returncode:
        sys.exit("\n".join(dict.fromkeys(re.findall(r"^! .*", log, re.M))))
    print(f"{PAPER.name}/results.pdf")


if __name__ == "__main__":
    main()
