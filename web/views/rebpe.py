"""A run of ReBPE as a line, one word through it, and the effects of each phase."""

from collections import Counter
from typing import Any

import pandas as pd
import streamlit as st

from morphgraph.core.cache import Same
from morphgraph.core.text import counted, from_to, in_percent, percent, shortened, signed
from morphgraph.draw.charts import (
    changes_over_phases,
    phase_colour,
    phase_label,
    removed_by_origin,
    scores_over_phases,
)
from morphgraph.draw.fan import fan_around
from morphgraph.draw.word_lines import WordLine, line_in
from morphgraph.graph.view import type_key
from morphgraph.refine.rebpe_run import (
    MERGE_CHANGES,
    ChangedMerge,
    MergeChange,
    Phase,
    ReBPERun,
    ablation,
    changed_merges,
    edits_after,
    follow_phases,
)
from morphgraph.refine.study import ChangedWord, StudyState
from web.components import RunPoint, WordRows, is_playing, run_line
from web.components.fan import fan_graph
from web.edits import look_at
from web.scoreboard import MARKS
from web.state import Session
from web.text import code, sum_of
from web.views.type_panel import changed_table
from web.widgets import (
    attempt,
    button,
    chosen_row,
    right_aligned,
    set_value,
    show_table,
    value_now,
)

_MEANING: dict[MergeChange, str] = {
    "annealed": "Merges added: their parts stood side by side inside a morph nearly every time.",
    "removed": "Merges knocked out: at least θ of their joins were on a gold boundary.",
    "split": "Merges that used a removed type and now take its parts: tuple merges.",
    "repaired": "Tuple merges that could no longer apply, with the parts that are left for them.",
    "linked": "Pair merges that were there already, now used inside tuple merges.",
    "created": "Pair merges created inside tuple merges, just below the lowest of them.",
    "shortened": "Tuple merges in which a linked or created pair took the place of its parts.",
}
_LINE = "rebpe line"
_MOST = 2000
_LONGEST = 200
_HIGH = 300


def choose_phase(number: int | None) -> None:
    """Show a phase, by its index from 0; None for the last one."""
    st.session_state["rebpe phase on show"] = number


def _on_show(run: ReBPERun) -> int:
    """Return the phase shown: the chosen one, else the last completed."""
    chosen = st.session_state.get("rebpe phase on show")
    if chosen is not None and chosen < len(run.all_phases):
        return int(chosen)
    return len(run.phases) - 1


def phase_line(current: Session, run: ReBPERun, *, playing: bool) -> None:
    """Show the run as a line to play, and one word through it; during the run, only the line."""
    phases, done = run.all_phases, len(run.phases)
    points = [
        RunPoint(
            phase_label(phase),
            phase_colour(phase),
            phase.iteration,
            100 * phase.score.f1,
            _phase_message(phase, phases[number - 1] if number else None),
            undone=number >= done,
        )
        for number, phase in enumerate(phases)
    ]
    if playing:
        run_line(points, done - 1, key=_LINE, on_choose=choose_phase)
        return
    key = f"rebpe word {current.study_number}"
    examples = _examples(current)
    word = value_now(key, examples[0])

    def read(asked: str) -> str:
        return (asked.split() or [word])[0][:_LONGEST]

    asked = current.address.follow("word", word, reads=read, step=False)
    if asked != word:
        word = asked
        set_value(key, word)
    words: list[tuple[str, WordLine]] = []
    with attempt():
        lines = current.once(
            ("follow", word, done, Same(run)),
            lambda: follow_phases(run, lambda graph: line_in(current.study, word, graph)),
        )
        words = [(phase_label(run.phases[n]), line) for n, line in enumerate(lines)]

    def choose_word(typed: str) -> None:
        set_value(key, (typed.split() or examples)[0][:_LONGEST])

    run_line(
        points,
        _on_show(run),
        WordRows(word, examples, words),
        key=_LINE,
        on_choose=choose_phase,
        on_word=choose_word,
    )


def follow_phase(current: Session, run: ReBPERun) -> None:
    """Synchronise the phase shown with the address, which wins on arrival."""
    labels, shown = [phase_label(phase) for phase in run.all_phases], _on_show(run)
    here = labels[shown]
    step = not is_playing(_LINE)
    asked = current.address.follow("phase", here, among=labels, step=step)
    if asked != here:
        choose_phase(labels.index(asked))


def _examples(current: Session) -> list[str]:
    """Return words worth following: those that changed most, or the worst."""
    study = current.study
    changed, _ = study.changed_words(study.start, limit=100)
    found = [word.word for word in changed or study.worst_words(100)]
    return list(dict.fromkeys(found)) or list(study.benchmark.words.texts[:1])


def _phase_message(phase: Phase, before: Phase | None) -> str:
    """Describe what a phase did, in a line."""
    score = f"F1 {in_percent(phase.score.f1, 1)}"
    if before is not None:
        gain = 100 * (phase.score.f1 - before.score.f1)
        score = f"F1 {from_to(before.score.f1, phase.score.f1, 1)} ({signed(gain)})"
    counts = [f"{number:,} {kind}" for kind, number in phase.counts.items()]
    if before is not None and not counts:
        counts = ["nothing to change"]
    return " · ".join([score, *counts, f"{phase.vocabulary_size:,} types"])


def return_button(run: ReBPERun) -> None:
    """Offer to undo or redo up to the phase shown, if that changes anything."""
    shown, done = _on_show(run), len(run.phases)
    if is_playing(_LINE) or all(
        p.change.is_empty for p in run.all_phases[min(shown + 1, done) : max(shown + 1, done)]
    ):
        return
    label, icon = ("Undo", "undo") if shown < done else ("Redo", "redo")
    button(
        f"{label} up to here",
        icon,
        run.go_to,
        shown + 1,
        key="rebpe return",
        help="The tokeniser becomes what it was after the phase on show.",
    )


def phase_changes(current: Session, run: ReBPERun) -> None:
    """Show the merges and words changed by the phase shown, and one merge in the graph."""
    shown = _on_show(run)
    phase = run.all_phases[shown]
    label = phase_label(phase)
    if shown >= len(run.phases):
        st.info(f"“{label}” is undone. Redo up to it to see what it changed.")
        return
    if phase.kind == "start":
        st.info("Nothing changes at the start. Run a phase, or choose one on the line.")
        return
    if phase.change.is_empty:
        so = " So the run has converged." if run.converged and phase is run.phases[-1] else ""
        st.info(f"“{label}” found nothing to change.{so}")
        return
    edits = edits_after(run)[shown]
    graph = current.study.graph
    entries = changed_merges(current.graph_after(edits), phase.change)
    counts = Counter(entry.kind for entry in entries)
    kinds = [kind for kind in MERGE_CHANGES if counts[kind]]
    left, right = st.columns([5, 4], gap="medium")
    with left:
        atoms = phase.counts.get("atoms", 0)
        if atoms:
            st.caption(
                counted(atoms, "character of the reference was", "characters of the reference were")
                + " added to the alphabet first."
            )
        chosen, row = _merges(current, phase, entries, counts, kinds, edits)
    with right:
        first, then = study_states(current, edits)
        words, total = current.once(
            ("words of phase", edits), lambda: current.study.changed_words(first, then, limit=100)
        )
        _words(words, total, f"{current.study_number} {graph.state} {edits}")
    if row is not None:
        _one_merge(current, chosen[row], edits)


def study_states(current: Session, edits: int) -> tuple[StudyState, StudyState]:
    """Return the states before and after an edit, by its index from 1."""
    return current.study.state_after(edits - 1), current.study.state_after(edits)


def _merges(
    current: Session,
    phase: Phase,
    entries: list[ChangedMerge],
    counts: Counter[MergeChange],
    kinds: list[MergeChange],
    edits: int,
) -> tuple[list[ChangedMerge], int | None]:
    """Show the merges of one kind as a table; return them and the selected one's number."""
    label = phase_label(phase)
    if not kinds:
        st.info(f"“{label}” changed no merge.")
        return [], None
    kind = st.segmented_control(
        f"What “{label}” did to merges",
        kinds,
        default=kinds[0],
        required=True,
        format_func=lambda name: f"{name} {counts[name]:,}",
        help="  \n".join(f"**{name}**: {_MEANING[name]}" for name in kinds),
        key=f"rebpe kind {label} {kinds}",
    )
    chosen = [entry for entry in entries if entry.kind == kind]
    row = chosen_row(
        _frame(current, phase, chosen[:_MOST]),
        _HIGH,
        key=f"rebpe merges {current.study_number} {edits} {current.study.graph.state} {kind}",
        column_config={
            "rank": st.column_config.NumberColumn("rank", format="localized"),
            "blame": st.column_config.NumberColumn(
                "blame", format="percent", help="The share of wrong joins, before this phase."
            ),
        },
    )
    if len(chosen) > _MOST:
        st.caption(f"The first {_MOST:,} of {len(chosen):,} are shown.")
    if row is None:
        st.caption("Select a row to see the graph around it, and the words that use it.")
    return chosen, row


def _words(words: list[ChangedWord], total: int, key: str) -> None:
    """Show the words that a phase changed most; the selected one is followed."""
    st.markdown(f"**Words that changed most** · {counted(total, 'word')}")
    if not words:
        st.caption("No word of the reference is segmented differently.")
        return
    frame = pd.DataFrame(words, columns=["before", "after", "gain"])
    show_table(frame, _HIGH, column_config={"gain": st.column_config.NumberColumn(format="%+d")})
    st.caption(MARKS)


def _frame(current: Session, phase: Phase, entries: list[ChangedMerge]) -> pd.DataFrame:
    study = current.study
    names = study.tokeniser.readable_types
    columns: dict[str, list[Any]] = {
        "rank": [entry.rank for entry in entries],
        "type": [shortened(names[entry.result]) for entry in entries],
    }
    kind = entries[0].kind
    if kind not in ("annealed", "linked", "created"):
        columns["was made from"] = [sum_of(names, entry.before) for entry in entries]
    if kind != "removed":
        columns["is made from"] = [sum_of(names, entry.after) for entry in entries]
    if kind in ("linked", "created"):
        columns["tuple merges that use it"] = [entry.also for entry in entries]
    if kind == "removed":
        known = [phase.blame.get(entry.merge, (0.0, 0.0)) for entry in entries]
        columns["joins"] = [applied for applied, _ in known]
        columns["wrong"] = [crossed for _, crossed in known]
        columns["blame"] = [crossed / n if n else None for n, crossed in known]
        columns["origin"] = [study.graph.origin(entry.merge) for entry in entries]
    return pd.DataFrame(columns)


def _one_merge(current: Session, entry: ChangedMerge, edits: int) -> None:
    study = current.study
    name = study.tokeniser.readable_types[entry.result]
    with st.container(key="wide-merge"):
        left, right = st.columns([1, 1])
    with left:
        is_last = edits == len(study.graph.history)
        when = "after this phase" if is_last else "as it is now"
        st.markdown(f"The graph around {code(shortened(name))} {when}")
        fan_graph(
            fan_around(study, entry.result, rows=8),
            key="rebpe graph",
            view_key=f"rebpe {current.study_number} {study.graph.state} {entry.result}",
            selected=type_key(entry.result),
            height="380px",
        )
        label = "Open it in the merge graph"
        button(label, "hub", _open, current, entry.result, key="rebpe open")
        if st.session_state.pop("rebpe opens graph", False):
            st.switch_page("pages/1_Merge_graph.py")
    with right:
        words, total = study.words_of_merge(entry.merge, *study_states(current, edits))
        if not words:
            st.info("No word of the reference uses this merge, before or after.")
            return
        st.markdown("Words that use it, before and after this phase")
        changed_table(words, total, 330)


def _open(current: Session, number: int) -> None:
    look_at(current, number)
    st.session_state["rebpe opens graph"] = True


def charts(run: ReBPERun) -> None:
    """Show scores, changes and origins over the phases, and the log as a table."""
    phases = run.all_phases
    if len(phases) == 1:
        st.info("Run a phase, and its scores are plotted here.")
        return
    st.plotly_chart(scores_over_phases(phases, _on_show(run) + 1), key="rebpe scores")
    left, right = st.columns(2)
    left.markdown("**What each phase changed**")
    left.plotly_chart(changes_over_phases(phases), key="rebpe changes")
    right.markdown("**What the removed merges had been**")
    right.plotly_chart(removed_by_origin(phases), key="rebpe origins")
    rows = [
        {
            "phase": phase_label(phase),
            "types": phase.vocabulary_size,
            "merges": phase.merges,
            "precision %": percent(phase.score.precision),
            "recall %": percent(phase.score.recall),
            "F1 %": percent(phase.score.f1),
            **{kind: phase.counts.get(kind, 0) for kind in MERGE_CHANGES if kind != "shortened"},
            "seconds": phase.seconds,
        }
        for phase in phases
    ]
    show_table(
        pd.DataFrame(rows),
        column_config={
            **right_aligned(("precision %", "recall %", "F1 %")),
            "seconds": st.column_config.NumberColumn("seconds", format="%.3f"),
        },
    )


def ablation_table(current: Session, run: ReBPERun) -> None:
    """Show the final scores with annealing and reification each off and on."""
    study = current.study
    st.write(
        "What is each half worth? Four runs with these settings, from where this run began: "
        "without and with annealing, without and with reification."
    )
    asked = current.state(run.edits_before), ("ablation", run.settings)
    place = st.empty()
    is_known = asked in study.cache
    if not is_known and not place.button("Compute the four runs", icon=":material/table_chart:"):
        return
    steps = [dict(change.step) for change in study.graph.history[: run.edits_before]]

    def advance(share: float) -> None:
        place.progress(share, "Running …")

    cells = study.cache.get(
        *asked, lambda: ablation(study.tokeniser, study.benchmark, run.settings, steps, advance)
    )
    place.empty()
    rows = [
        {
            "annealing": "on" if cell.anneal else "off",
            "reification": "on" if cell.reify else "off",
            "precision %": percent(cell.score.precision),
            "recall %": percent(cell.score.recall),
            "F1 %": percent(cell.score.f1),
            "types": f"{cell.vocabulary_size:,}",
            "iterations": str(cell.iterations),
            "converged": "yes" if cell.converged else "no",
        }
        for cell in cells
    ]
    numbers = ("precision %", "recall %", "F1 %", "types", "iterations")
    show_table(pd.DataFrame(rows), column_config=right_aligned(numbers))
    grid = pd.DataFrame(
        [[percent(cells[2 * a + r].score.f1) for r in (0, 1)] for a in (0, 1)],
        index=["no annealing", "annealing"],
        columns=["no reification", "reification"],
    )
    st.markdown("**F1 %**")
    st.table(grid)
