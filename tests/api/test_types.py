"""What a type checker sees of the public API, and what it says of mistakes."""

import re

import pytest
from mypy import api

RIGHT = """
import morphgraph as mg

tokeniser: mg.Tokeniser = mg.load("demo:en")
gold: mg.GoldSet = mg.read_gold("demo:en", frequencies={"undo": 2.0})
ids: list[int] = tokeniser.encode("Any text")
text: str = tokeniser.decode(ids)
tokens: list[str] = tokeniser.tokenize(text, special_tokens=False)
words: list[list[str]] = tokeniser.method("flota", k=2).segment(["undo"])
found: mg.ScoredKnockout = tokeniser.knock_out(gold, threshold=0.5, select="random", count=3)
gain: float = found.after.f1 - found.before.f1
other: mg.Knockout = found.tokeniser.knock_out_types(["undo"], cascade=True)
run: mg.ReBPEOutcome = tokeniser.rebpe(gold, iterations=2, maximum_vocabulary=None)
best: mg.Tokeniser = run.tokeniser.method("trimmed", counts="wordfreq:en", threshold=5)
trained: mg.Tokeniser = mg.train("picky", {"undo": 3}, 300, threshold=0.9)
table: mg.ComparedScores = mg.compare({"BPE": tokeniser, "ReBPE": best}, gold, baseline="BPE")
blamed: mg.BlamedMerges = tokeniser.blame(gold, weighting="tokens")
types: list[str] = blamed.types(0.6)
tree: mg.TreePicture = tokeniser.tree("undo", gold=gold)
made: mg.Export = best.export("folder")
for entry in gold:
    morphs: tuple[str, ...] = entry.morphs
outcome: mg.RunOutcome = mg.evaluate("demo", "run", workers=1)
same: bool = tokeniser in {best} and "undo" in tokeniser and len(tokeniser) > 3
"""

WRONG = """
import morphgraph as mg

tokeniser = mg.load("demo:en")
gold = mg.read_gold("demo:en")
tokeniser.knock_out(gold, treshold=0.5)  # E: call-arg
tokeniser.knock_out(gold, select="worst")  # E: arg-type
tokeniser.knock_out("demo:en")  # E: arg-type
tokeniser.knock_out()  # E: call-arg
tokeniser.rebpe(gold, iterations="2")  # E: arg-type
mg.read_gold("gold.tsv", seperator="+")  # E: call-arg
tokeniser.method("flota", k=[2])  # E: arg-type
tokeniser.encode(["a"])  # E: arg-type
tokeniser.segment([1])  # E: list-item
tokeniser.score(gold, scope="word")  # E: arg-type
tokeniser.lod  # E: attr-defined
tokeniser.knock_out_types(["a"]).after  # E: attr-defined
mg.transplant  # E: attr-defined
mg.compare([tokeniser], gold)  # E: arg-type
"""


@pytest.mark.soak
def test_types_as_mypy_sees_them(tmp_path):
    expected = {}
    for name, snippet in (("right.py", RIGHT), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(snippet)
        for number, line in enumerate(snippet.splitlines(), start=1):
            if "# E: " in line:
                expected[name, number] = line.rpartition("# E: ")[2]
    files = [str(tmp_path / name) for name in ("right.py", "wrong.py")]
    said, problem, _ = api.run(["--strict", "--no-error-summary", *files])
    assert problem == ""
    rows = re.findall(r"([^/\n]+\.py):(\d+): error: .*\[([\w-]+)\]", said)
    assert {(name, int(line)): code for name, line, code in rows} == expected, said
