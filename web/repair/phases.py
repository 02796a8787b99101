"""A run of ReBPE as a line, one word through it, and the effects of each phase."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from morphgraph.core.cache import Same
from morphgraph.core.glossary import GLOSSARY
from morphgraph.core.text import counted, from_to, in_percent, percent, shortened, signed
from morphgraph.draw import charts as figures
from morphgraph.draw.word_lines import WordLine, line_in
from morphgraph.refine import rebpe_run as refining
from morphgraph.refine.rebpe_run import Phase, ReBPERun
from morphgraph.tables.edits import phases_table
from morphgraph.tables.model import table_of_texts
from web import widgets as ui
from web.aside import scored_words
from web.components import in_chart, is_playing, run_line, word_over_phases
from web.edits import open_in_graph, word_key
from web.state import Session
from web.views.trees import MARKS

_MEANING: dict[refining.MergeChange, str] = {
    "annealed": GLOSSARY["annealing"].meaning,
    "removed": "Merges knocked out: at least θ of their joins were on a gold boundary.",
    "split": "Merges that used a removed type and now take its parts: tuple merges.",
    "repaired": GLOSSARY["repair"].meaning,
    "linked": "Existing pair merges, now used inside tuple merges.",
    "created": "Pair merges created inside tuple merges, just below the lowest of them.",
    "shortened": "Tuple merges in which a linked or created pair replaced its parts.",
    "paired": "Tuple merges that became pair merges of the same type, which every library reads.",
    "chained": "Pair merges added just below those, through existing types.",
}
_LINE, _SHOWN = "rebpe line", "rebpe phase on show"
_MOST = 5_000
_LONGEST = 200
_RANK = {"rank": ui.NUMBER(format="localized", help=GLOSSARY["rank"].meaning)}
_ROWS = 7


def choose_phase(number: int | None) -> None:
    """Show a phase, by its index from 0; None for the last one."""
    st.session_state[_SHOWN] = number


def _on_show(run: ReBPERun) -> int:
    """Return the phase shown: the chosen one, else the largest step of a run that is over."""
    chosen = st.session_state.get(_SHOWN)
    if chosen is not None and chosen < len(run.all_phases):
        return int(chosen)
    scores = [phase.score.f1 for phase in run.phases]
    if run.upcoming is None and len(scores) > 1 and not math.isnan(scores[0]):
        return max(range(1, len(scores)), key=lambda n: scores[n] - scores[n - 1])
    return len(scores) - 1


def begins_to_play(run: ReBPERun) -> bool:
    """Return whether the line plays its first two phases."""
    return is_playing(_LINE) and _on_show(run) < 2


def follow_phase(current: Session, run: ReBPERun) -> None:
    """Synchronise the phase shown with the address, which wins on arrival."""
    labels = [figures.phase_label(phase) for phase in run.all_phases]
    here, step = labels[_on_show(run)], not is_playing(_LINE)
    asked = current.address.follow("phase", here, among=labels, step=step)
    if asked != here:
        choose_phase(labels.index(asked))


def phase_line(current: Session, run: ReBPERun, address: DeltaGenerator | None) -> None:
    """Show the run as a line to play, and one word through it.

    ``address``: where the word follows it; None during the run, when only the line is new.
    """
    phases, done, study = run.all_phases, len(run.phases), current.study
    points = [
        {
            "label": figures.phase_label(phase),
            "kind": figures.phase_colour(phase),
            "iteration": phase.iteration,
            "f1": in_chart(phase.score.f1),
            "value": percent(phase.score.f1, 1),
            "said": _phase_message(phase, before),
            "undone": number >= done,
            "beside": in_chart(seen),
        }
        for number, (before, phase, seen) in enumerate(
            zip([None, *phases[:-1]], phases, _seen(current, run), strict=True)
        )
    ]
    if address is None:
        run_line(points, done - 1, key=_LINE, on_choose=choose_phase)
        return
    key = f"rebpe word {current.study_number}"
    # Words worth following: those that changed most, or the worst.
    changed, _ = study.changed_words(study.start, limit=100)
    worth_following = [word.word for word in changed or study.worst_words(100)]
    examples = list(dict.fromkeys(worth_following)) or list(study.benchmark.words.texts[:1])

    def read(typed: str) -> str:
        return (typed.split() or examples)[0][:_LONGEST]

    with address:
        first = read(ui.value_now(word_key(current), ""))  # as on the Workbench
        word = current.address.remember("word", key, first, reads=read, step=False)
    words: list[tuple[str, WordLine]] = []
    with ui.attempt():
        lines = current.once(
            ("follow", word, done, Same(run)),
            lambda: refining.follow_phases(run, lambda graph: line_in(study, word, graph)),
        )
        words = [(figures.phase_label(run.phases[n]), line) for n, line in enumerate(lines)]
    run_line(
        points,
        _on_show(run),
        word_over_phases(word, examples, words),
        key=_LINE,
        on_choose=choose_phase,
        on_word=lambda typed: ui.set_value(key, read(typed)),
    )


def _seen(current: Session, run: ReBPERun) -> list[float]:
    """Return F1 on the words learned from after each phase; NaN where it is not known."""
    study, part = current.study, scored_words(current, learning=True).part
    usual = (run.settings.scope, run.settings.weighting) == ("morphemic", "types")
    if part is None or not usual:
        return [math.nan] * len(run.all_phases)
    f1 = study.f1_after_edits(part.other)
    return [f1[edits] for edits in refining.edits_after(run)]


def _phase_message(phase: Phase, before: Phase | None) -> str:
    score = f"F1 {in_percent(phase.score.f1, 1)}"
    counts = [f"{number:,} {kind}" for kind, number in phase.counts.items()]
    if before is not None:
        gain = 100 * (phase.score.f1 - before.score.f1)
        score = f"F1 {from_to(before.score.f1, phase.score.f1, 1)} ({signed(gain)})"
        counts = counts or ["nothing to change"]
    return " · ".join([score, *counts, f"{phase.vocabulary_size:,} types"])


def return_button(run: ReBPERun) -> None:
    """Offer to undo or redo up to the phase shown, if that changes anything."""
    shown, done = _on_show(run), len(run.phases)
    between = run.all_phases[min(shown + 1, done) : max(shown + 1, done)]
    if is_playing(_LINE) or all(phase.change.is_empty for phase in between):
        return
    label, icon = ("Undo", "undo") if shown < done else ("Redo", "redo")
    tip = "The tokeniser becomes what it was after the phase on show."
    ui.button(f"{label} up to here", icon, run.go_to, shown + 1, key="rebpe return", help=tip)


def phase_changes(current: Session, run: ReBPERun) -> None:
    """Show the merges and words changed by the phase shown, and one merge in the graph."""
    study, shown = current.study, _on_show(run)
    phase = run.all_phases[shown]
    label = figures.phase_label(phase)
    if shown >= len(run.phases):
        st.info(f"“{label}” is undone. Redo up to it to see what it changed.")
        return
    if phase.kind == "start":  # all of the run
        if len(run.all_phases) > 1:
            ui.show_model(phases_table(run.all_phases), key="rebpe phases")
        else:
            st.info("Run a phase, or all: what each changed stands here.")
        return
    if phase.change.is_empty:
        so = " So the run has converged." if run.converged and phase is run.phases[-1] else ""
        st.info(f"“{label}” found nothing to change.{so}")
        return
    edits = refining.edits_after(run)[shown]
    entries = refining.changed_merges(current.graph_after(edits), phase.change)
    left, right = st.columns([5, 4], gap="medium")
    with left:
        kinds = dict.fromkeys(entry.kind for entry in entries)
        tip = "  \n".join(f"**{kind}**: {_MEANING[kind]}" for kind in kinds)
        changed = counted(len(entries), "merge")
        st.markdown(f"**What “{label}” did to merges** · {changed}", help=tip or None)
        if atoms := phase.counts.get("atoms", 0):
            one, more = "character of the reference was", "characters of the reference were"
            st.caption(f"{counted(atoms, one, more)} added to the alphabet first.")
        key = f"rebpe merges {current.study_number} {edits} {study.graph.state}"
        options: dict[str, Any] = {"on_select": "rerun", "selection_mode": "single-row"}
        frame = _merges(current, phase, entries[:_MOST])
        event = ui.show_table(frame, _ROWS, key=key, column_config=_RANK, **options)
        for row in event.selection.rows:
            open_in_graph(current, entries[row].result)
        first = f"The first {_MOST:,} are shown. " if len(entries) > _MOST else ""
        st.caption(f"{first}Select a row to see its type in the Workbench.")
    with right:
        states = study.state_after(edits - 1), study.state_after(edits)
        words, total = current.once(
            ("words of phase", edits), lambda: study.changed_words(*states, limit=100)
        )
        st.markdown(f"**Words that changed most** · {counted(total, 'word')}")
        if words:
            frame = pd.DataFrame(words, columns=["before", "after", "gain"])
            ui.show_table(frame, _ROWS, column_config={"gain": ui.NUMBER(format="%+d")})
            st.caption(MARKS)
        else:
            st.caption("No word of the reference is segmented differently.")


def _merges(
    current: Session, phase: Phase, entries: Sequence[refining.ChangedMerge]
) -> pd.DataFrame:
    """Return merges as they were made, and as they are or how often one that went was wrong."""
    names = current.study.tokeniser.readable_types

    def now(entry: refining.ChangedMerge) -> str:
        if entry.kind != "removed":
            return ui.sum_of(names, entry.after)
        joins, wrong = phase.blame.get(entry.merge, (0.0, 0.0))
        return f"{wrong:,.0f} of {joins:,.0f} joins wrong"

    return pd.DataFrame(
        {
            "merge": [shortened(names[entry.result]) for entry in entries],
            "was made from": [ui.sum_of(names, entry.before) for entry in entries],
            "is made from": list(map(now, entries)),
            "how": [entry.kind for entry in entries],
            "rank": [entry.rank for entry in entries],
        }
    )


def ablation_table(current: Session, run: ReBPERun) -> None:
    """Show the final scores with annealing and reification each off and on."""
    study = current.study
    st.write(
        "What is each half worth? Four runs with these settings, from where this run began: "
        "without and with annealing, without and with reification."
    )
    asked = current.state(run.edits_before), ("ablation", run.settings, run.scored.parts)
    place = st.empty()
    is_known = asked in study.cache
    if not is_known and not place.button("Compute the four runs", icon=":material/table_chart:"):
        return
    steps = [dict(change.step) for change in study.graph.history[: run.edits_before]]
    what = (study.tokeniser, run.benchmark, run.settings, steps)
    advance: Any = partial(place.progress, text="Running …")
    cells = study.cache.get(*asked, lambda: refining.ablation(*what, advance, run.scored))
    place.empty()
    titles = ["annealing", "reification", "precision %", "recall %", "F1 %", "types", "iterations"]
    rows = [
        [
            *("on" if on else "off" for on in (cell.anneal, cell.reify)),
            *map(percent, (cell.score.precision, cell.score.recall, cell.score.f1)),
            f"{cell.vocabulary_size:,}",
            f"{cell.iterations}{'' if cell.converged else ', not converged'}",
        ]
        for cell in cells
    ]
    ui.show_model(table_of_texts(titles, rows, 2), key="rebpe ablation")
    if on := scored_words(current, learning=True).said:
        st.caption(f"Scores are on {on}.")
