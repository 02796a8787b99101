"""Faults planted by hand in the files of a tokeniser, each found at its stage."""

import json
import os
from base64 import b64encode
from pathlib import Path

import pytest
from refusals import expect, refused
from small import model_of_pieces, small_document

import morphgraph as mg
from morphgraph.formats.framing import frame_template
from morphgraph.formats.hugging_face import tokenizer_document
from morphgraph.formats.pipeline_parts import PATTERNS, byte_level, byte_level_parts, special_token
from morphgraph.formats.ranks import to_ranks
from morphgraph.tokeniser.preprocess import BYTE_TO_CHAR
from morphgraph_doctor import programs, readings
from morphgraph_doctor.programs import NODE, ProgramError, ids_by, version_of
from morphgraph_doctor.sample_texts import sample_texts
from morphgraph_doctor.stages import ProgramSide, stage_of

MERGES = ["u n", "un d", "Ġ und", "1 2", "12 3", "Ġ d", "Ġd o", "Ġdo g", "e r", "D o"]
PARTS = byte_level_parts("r50k_base")


def document(merges=MERGES, added=("<s>", "<e>"), **settings):
    """A ``tokenizer.json`` of bytes, as data: 256 bytes, then merges, then added tokens."""
    types = dict.fromkeys(BYTE_TO_CHAR)
    types |= dict.fromkeys("".join(merge.split()) for merge in MERGES)
    types |= dict.fromkeys(part for merge in merges for part in merge.split())
    numbers = {text: number for number, text in enumerate(types)}
    tokens = [special_token(text, len(numbers) + n) for n, text in enumerate(added)]
    return {**tokenizer_document(numbers, merges, tokens, PARTS), **settings}


@pytest.fixture(autouse=True)
def programs_of_the_test(request, monkeypatch):
    """Only those that load at once, unless a test says all: others take seconds."""
    if "every_program" not in request.fixturenames:
        light = ("tokenizers", "tiktoken", "sentencepiece")
        few = {name: programs.PROGRAMS[name] for name in light}
        monkeypatch.setattr(readings, "PROGRAMS", few)


@pytest.fixture
def every_program():
    """Ask all programs that are installed."""


@pytest.fixture
def folder(tmp_path):
    """Make a folder of files, each given as JSON, bytes, or a document to write as GGUF."""

    def made(**files):
        for name, held in files.items():
            path = tmp_path / name.replace("__", ".")
            if name.endswith("gguf"):
                (tmp_path / "for.json").write_text(json.dumps(held), encoding="utf-8")
                mg.load(tmp_path / "for.json").export(path, words=["undo"])
                (tmp_path / "for.json").unlink()
            elif isinstance(held, bytes):
                path.write_bytes(held)
            else:
                path.write_text(json.dumps(held), encoding="utf-8")
        return tmp_path

    return made


def differing(found):
    """The stage of each reading that differs, by program and file."""
    return {(v.program.split(" ")[0], v.file): v.stage for v in found.verdicts if v.differ}


def failed(found):
    return {check.name: check.number for check in found.checks if check.fine is False}


def both(file):
    """How readings are named of a GGUF file: ours, and llama.cpp where it is installed."""
    return {("morphgraph", file), *([(NODE, file)] if version_of(NODE) else [])}


def test_the_texts():
    texts = sample_texts()
    assert len(texts) == len({*texts}) == 300
    joined = "".join(texts)
    for sign in (
        "\u200d",
        "\0",
        "\t",
        "\r\n",
        "e\u0301",
        "é",
        "海",
        "ع",
        "ह",
        "ส",
        " " * 33,
        "\ufffd",
    ):
        assert sign in joined
    assert {len(text) for text in texts if text.isdecimal()} >= {*range(1, 13)}


@pytest.mark.slow
def test_a_clean_folder(folder, every_program):
    found = mg.doctor(folder(tokenizer__json=document(), model__gguf=document()))
    assert (found.fine, differing(found), failed(found)) == (True, {}, {})
    read = {(v.program.split(" ")[0], v.file) for v in found.verdicts if not v.problem}
    expected = {("tokenizers", "tokenizer.json"), ("morphgraph", "tokenizer.json")}
    assert expected | both("model.gguf") <= read
    assert "0 differ" in repr(found) and found.reference.startswith("tokenizers")
    assert "equal" in str(found) and json.dumps(found.to_dict())


@pytest.mark.slow
def test_programs_that_are_missing_or_have_nothing_to_read(folder, every_program, monkeypatch):
    monkeypatch.setenv("NODE_PATH", "")
    monkeypatch.setenv("PATH", "")
    found = mg.doctor(folder(tokenizer__json=document()) / "tokenizer.json")
    problems = {v.program.partition(" 0")[0]: v.problem for v in found.verdicts if v.problem}
    assert problems["sentencepiece"] == "nothing here is for it"
    assert problems[NODE] == "it is not installed"
    assert found.fine


PLANTED = {
    "normaliser": document(normalizer={"type": "Lowercase"}),
    "split": document(**byte_level_parts("qwen2")),
    "model": document([merge for merge in MERGES if merge != "Ġ und"]),
    "added tokens": document(added=("<e>", "<s>")),
    "decoder": document(decoder=None),
    "frame": document(
        post_processor=frame_template(
            ["<s>", "$A"], ["<s>", "$A", "$B"], {"<s>": len(document()["model"]["vocab"])}
        )
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("stage", PLANTED)
def test_a_fault_in_one_of_two_files(stage, folder, every_program):
    """The other is as it should be."""
    found = mg.doctor(folder(tokenizer__json=PLANTED[stage], model__gguf=document()))
    stages = differing(found)
    expected = both("model.gguf") if stage != "decoder" else {("morphgraph", "model.gguf")}
    assert {name for name in stages if name[1] == "model.gguf"} == expected
    assert {*stages.values()} == {stage}
    assert not found.fine
    [verdict, *_] = [v for v in found.verdicts if v.differ]
    assert verdict.mend and verdict.example
    assert (verdict.decoded != "") == (stage == "decoder")
    assert (verdict.expected != verdict.found) == (stage != "decoder")


@pytest.mark.slow
def test_a_wrong_pre(folder, every_program):
    """What llama.cpp cuts by qwen2, digit by digit, is to be cut as by GPT-2: the mend names it."""
    path = folder(tokenizer__json=document(), model__gguf=document(**byte_level_parts("qwen2")))
    found = mg.doctor(path)
    assert {*differing(found).values()} == {"split"} and {*differing(found)} == both("model.gguf")
    [verdict, *_] = [v for v in found.verdicts if v.differ]
    assert "--pre-tokenizer gpt-2" in verdict.mend


@pytest.mark.slow
def test_a_class_that_cuts_otherwise(folder, every_program):
    """Qwen's class of `transformers` cuts digits apart, whatever tokenizer.json says."""
    pytest.importorskip("transformers")
    settings = {"tokenizer_class": "Qwen2Tokenizer"}
    found = mg.doctor(folder(tokenizer__json=document(), tokenizer_config__json=settings))
    [(reading, stage)] = differing(found).items()
    assert (reading, stage) in {(("transformers", "all files"), s) for s in ("split", "normaliser")}
    assert "PreTrainedTokenizerFast" in next(v.mend for v in found.verdicts if v.differ)


def test_ranks(folder):
    """A rank file that belongs to an earlier tokeniser: it has a merge less."""
    pytest.importorskip("tiktoken")
    path = folder(tokenizer__json=document())
    ranks = to_ranks(mg.load(path)._merges("ranks"))
    (path / "own.tiktoken").write_bytes(ranks)
    assert mg.doctor(path).fine
    (path / "own.tiktoken").write_bytes(b"\n".join(ranks.splitlines()[:-1]) + b"\n")
    stages = differing(mg.doctor(path))
    files = {("morphgraph", "own.tiktoken"), ("tiktoken", "own.tiktoken")}
    assert stages == dict.fromkeys(files, "model")


def test_pieces(folder):
    """An older model beside it, with one score that orders merges otherwise."""
    letters = [(text, -9.0 - n, "NORMAL") for n, text in enumerate("▁und")]
    right = [("un", -1.0, "NORMAL"), ("nd", -2.0, "NORMAL"), *letters]
    wrong = [("un", -2.0, "NORMAL"), ("nd", -1.0, "NORMAL"), *letters]
    path = folder(tokenizer__model=model_of_pieces(*right), older__model=model_of_pieces(*wrong))
    (path / "spiece.model").write_bytes((path / "older.model").read_bytes())
    (path / "older.model").unlink()
    found = mg.doctor(path)
    stages = {name: stage for name, stage in differing(found).items() if name[0] != "transformers"}
    assert stages == {
        ("morphgraph", "spiece.model"): "model",
        ("sentencepiece", "spiece.model"): "model",
    }


@pytest.mark.slow
def test_tekken(folder, every_program):
    """Beside a tokenizer.json with one merge less; special tokens come first in both."""
    types = [bytes([n]) for n in range(256)] + [b"un", b"und"]
    vocabulary = [
        {"rank": n, "token_bytes": b64encode(type_).decode(), "token_str": None}
        for n, type_ in enumerate(types)
    ]
    config = {"pattern": PATTERNS["r50k_base"], "num_vocab_tokens": 258, "version": "v3"}
    config |= {"default_vocab_size": 260, "default_num_special_tokens": 2}
    special = [
        {"rank": n, "token_str": text, "is_control": True} for n, text in enumerate(["<s>", "</s>"])
    ]
    tekken = {"config": config, "vocab": vocabulary, "special_tokens": special, "version": 1}
    path = folder(tekken__json=tekken)
    mg.load(path).export(path, words=["undo"])
    assert mg.doctor(path).fine
    whole = json.loads((path / "tokenizer.json").read_text("utf-8"))
    del whole["model"]["merges"][-1]
    files = {("morphgraph", "tekken.json")}
    files |= {("mistral-common", "tekken.json")} if version_of("mistral-common") else set()
    assert differing(mg.doctor(folder(tokenizer__json=whole))) == dict.fromkeys(files, "model")


# --- in the files ---------------------------------------------------------------------------------


def test_special_ids(folder):
    right = document()
    number = right["added_tokens"][0]["id"]
    config = {"bos_token": "<s>", "added_tokens_decoder": {"3": {"content": "<s>"}}}
    path = folder(tokenizer__json=right, tokenizer_config__json=config)
    checks = {check.name: check for check in mg.doctor(path).checks}
    assert "“<s>” has the id 3" in checks["special ids that do not agree"].explanation
    folder(tokenizer_config__json={"bos_token": "<s>"}, config__json={"bos_token_id": number})
    assert failed(mg.doctor(path)) == {}
    wrong = {"bos_token_id": number + 1, "eos_token_id": [9_999], "vocab_size": 5}
    folder(config__json=wrong)
    assert failed(mg.doctor(path)) == {"special ids that do not agree": 3}
    folder(config__json={}, tokenizer_config__json={"eos_token": "<none>"})
    found = mg.doctor(path)
    assert "special ids that do not agree" in failed(found) and not found.fine


def test_an_added_token_that_the_library_numbers_otherwise(folder):
    moved = document()
    moved["added_tokens"][1]["id"] += 5
    assert failed(mg.doctor(folder(tokenizer__json=moved))) == {"special ids that do not agree": 1}


def test_a_duplicated_id(folder):
    """We refuse such a file, and `tokenizers` reads it."""
    twice = document()
    twice["model"]["vocab"]["und"] = twice["model"]["vocab"]["un"]
    found = mg.doctor(folder(tokenizer__json=twice))
    assert failed(found)["ids that several types have"] == 1
    assert found.reference.startswith("tokenizers")


def test_a_hole(folder):
    with_hole = document(added=())
    with_hole["model"]["vocab"]["Do"] += 3
    assert failed(mg.doctor(folder(tokenizer__json=with_hole))) == {"ids that no type has": 3}


def test_room_among_added_tokens_is_none(folder):
    roomy = document()
    roomy["model"]["vocab"]["<x>"] = 900
    roomy["added_tokens"].append(special_token("<x>", 900))
    found = mg.doctor(folder(tokenizer__json=roomy))
    assert "ids that no type has" not in failed(found)


def test_a_relative_path_is_of_the_present_folder(tmp_path, monkeypatch):
    """Also where a process that has read a file of the same name from another one goes on."""
    short = document(MERGES[:-1])
    for name, held in (("one", document()), ("other", short), ("one", document())):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "tokenizer.json").write_text(json.dumps(held), encoding="utf-8")
        monkeypatch.chdir(tmp_path / name)
        assert differing(mg.doctor("tokenizer.json")) == {}


def test_an_unreachable_type(folder):
    """The merge of und is gone, and its type is still there."""
    dead = document([merge for merge in MERGES if merge not in ("un d", "Ġ und")])
    found = mg.doctor(folder(tokenizer__json=dead))
    [told] = [check for check in found.checks if check.name == "types that nothing forms"]
    assert (told.number, failed(found), differing(found)) == (2, {}, {})


def test_types_that_do_not_return(folder):
    lossy = document(decoder={"type": "Replace", "pattern": {"String": "u"}, "content": ""})
    assert "types that do not return from their own text" in failed(
        mg.doctor(folder(tokenizer__json=lossy))
    )


# --- hostile --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "held",
    [
        b"{",
        b"PK\x03\x04 no archive",
        {"model": {"type": "BPE", "vocab": {"a": "b"}, "merges": []}},
        {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a"]}},
        {"model": {"type": "Other"}},
    ],
    ids=["cut", "zip", "ids", "merges", "kind"],
)
def test_what_nothing_reads_is_refused(held, folder):
    with refused():
        mg.doctor(folder(tokenizer__json=held))


def test_nothing_at_all_is_refused(tmp_path):
    with refused():
        mg.doctor(tmp_path)
    with refused():
        mg.doctor(tmp_path / "none.json")


@pytest.mark.slow
def test_code_of_a_folder_is_not_run(folder, every_program, tmp_path):
    pytest.importorskip("transformers")
    settings = {"tokenizer_class": "Own", "auto_map": {"AutoTokenizer": ["own.Own", None]}}
    path = folder(tokenizer__json=document(), tokenizer_config__json=settings)
    (path / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: pass\n")
    mg.doctor(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("command", ["kill -SEGV $$", "sleep 60", "exit 0"])
def test_a_program_that_crashes_or_hangs(command, tmp_path, monkeypatch):
    package = tmp_path / "node_modules" / "node-llama-cpp"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"version": "9"}')
    (tmp_path / "bin").mkdir()
    (node := tmp_path / "bin" / "node").write_text(f"#!/bin/sh\n{command}\n")
    node.chmod(0o755)
    monkeypatch.setenv("NODE_PATH", str(package.parent))
    monkeypatch.setenv("PATH", str(node.parent), prepend=os.pathsep)
    monkeypatch.setenv("MORPHGRAPH_MAX_READING_SECONDS", "1")
    assert version_of(NODE) == "9"
    with pytest.raises(ProgramError):
        ids_by(NODE, Path("model.gguf"), {}, ["a"])


# --- by experiments -------------------------------------------------------------------------------


def test_stages_of_a_program_that_says_nothing_of_itself():
    """It gives a number a character, after a step that only its ids show."""
    plain = document()
    plain |= {"pre_tokenizer": byte_level(), "added_tokens": []}

    def ids(text):
        return [ord(character) for character in text]

    def side(change):
        return ProgramSide(lambda texts: [change(text) for text in texts], None)

    def joining(text):
        """A space inside is part of what is before it."""
        return [*ids(text), *[0] * text.strip().count(" ")]

    one = ProgramSide(lambda texts: [ids(text) for text in texts], plain)
    lower = {**plain, "normalizer": {"type": "Lowercase"}}
    lowering = ProgramSide(lambda texts: [ids(text.lower()) for text in texts], lower)
    assert stage_of("Do un", lowering, side(ids)) == "normaliser"
    assert stage_of("do", one, side(lambda text: ids(f" {text}"))) == "normaliser"
    assert stage_of("a b", one, side(joining)) == "split"
    assert stage_of("ab", one, side(lambda text: ids(text)[::-1])) == "model"
    marked = ProgramSide(one.ids, {**plain, "added_tokens": [special_token("<s>", 0)]})
    assert (
        stage_of("a<s>b", marked, side(lambda t: [0] if "<s>" in t else ids(t))) == "added tokens"
    )


def test_a_file_that_tokenizers_does_not_read(folder):
    """Ours reads a merge of three types, and then all types count, with none of the others."""
    tuples = document(added=())
    tuples["model"] |= {"type": "BTE", "merges": [["u", "n"], ["u", "n", "d"]]}
    found = mg.doctor(folder(tokenizer__json=tuples))
    assert found.reference.startswith("morphgraph")
    assert [v.program.split(" ")[0] for v in found.verdicts if "does not read" in v.problem] == [
        "tokenizers"
    ]


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def small_files(tmp_path, monkeypatch):
    """A tokeniser of letters that is as it should be, and one with a hole among its ids."""
    monkeypatch.chdir(tmp_path)
    merges = [("u", "n"), ("d", "o"), ("un", "do")]
    whole = small_document(merges, pre_tokenizer={"type": "WhitespaceSplit"})
    hole = json.loads(json.dumps(whole))
    hole["model"]["vocab"]["undo"] += 1
    for name, made in {"whole": whole, "hole": hole, "none": {"model": "x"}}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(made), encoding="utf-8")


@pytest.mark.parametrize(("name", "code"), [("whole", 0), ("hole", 1)])
def test_the_command_ends_with_1_where_something_is_wrong(name, code, small_files, morphgraph):
    run = morphgraph("doctor", f"{name}.json", "--json")
    found = mg.doctor(f"{name}.json")
    assert (run.code, run.json) == (code, json.loads(json.dumps(found.to_dict())))
    assert run.json["fine"] == (code == 0)
    shown = morphgraph("doctor", f"{name}.json")
    assert (shown.code, shown.out) == (code, f"{found}\n")


def test_the_command_refuses_what_nothing_reads(small_files, morphgraph):
    run = morphgraph("doctor", "none.json")
    assert run.code == 2
    expect(run.err)
