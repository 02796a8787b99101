"""What each phase of ReBPE did, and one word through a whole run."""

from collections import Counter
from typing import Any

import pandas as pd
import streamlit as st

from morphgraph.core.text import counted, percent, shortened
from morphgraph.draw.charts import (
    changes_over_phases,
    phase_label,
    removed_by_origin,
    scores_over_phases,
)
from morphgraph.draw.explore import view_around
from morphgraph.graph.view import type_key
from morphgraph.refine.ablation import ablation
from morphgraph.refine.rebpe_run import Phase, ReBPERun
from morphgraph.refine.tracing import (
    MERGE_CHANGES,
    ChangedMerge,
    FollowedWord,
    changed_merges,
    follow,
)
from morphgraph.tokeniser.preprocess import shown_token
from web.components import merge_graph
from web.edits import look_at
from web.session import Session
from web.text import code, plain, sum_of
from web.views.trees import word_trees
from web.views.type_panel import changed_table
from web.widgets import attempt, button, chosen_row, right_aligned, show_table

_MEANING = {
    "annealed": "Merges added: their parts stood side by side inside a morph nearly every time.",
    "removed": "Merges knocked out: at least θ of their joins were on a gold boundary.",
    "split": "Merges that used a removed type and now take its parts: tuple merges.",
    "repaired": "Tuple merges that could no longer apply, with the parts that are left for them.",
    "linked": "Pair merges that were there already, now used inside tuple merges.",
    "created": "Pair merges created inside tuple merges, just below the lowest of them.",
    "shortened": "Tuple merges in which a linked or created pair took the place of its parts.",
}
_MOST = 2000
_LONGEST = 200


def phase_changes(current: Session, run: ReBPERun) -> None:
    """The merges that the phase on show changed; one of them in the graph, and in words.

    Where it changed none, as at the end of a run, those of the last phase that did.
    """
    last = run.phases[-1]
    if last.kind == "start":
        st.info("Nothing has been done yet. Run a phase, and see here what it did.")
        return
    phase = next((p for p in reversed(run.phases) if not p.change.is_empty), None)
    if phase is None:
        st.info(f"“{phase_label(last)}” found nothing to change, nor did any phase before it.")
        return
    if phase is not last:
        st.info(
            f"“{phase_label(last)}” found nothing to change. "
            f"Below is what the last phase that did, “{phase_label(phase)}”, changed."
        )
    graph = current.study.graph
    edits = _edits_of(current, run)
    entries = changed_merges(current.graph_after(edits), phase.change)
    counts = Counter(entry.kind for entry in entries)
    kinds = [kind for kind in MERGE_CHANGES if counts[kind]]
    atoms = phase.counts.get("atoms", 0)
    if atoms:
        st.caption(
            counted(atoms, "character of the reference was", "characters of the reference were")
            + " added to the alphabet first."
        )
    if not kinds:
        st.info(f"“{phase_label(phase)}” changed no merge.")
        return
    kind = st.segmented_control(
        f"What “{phase_label(phase)}” did",
        kinds,
        default=kinds[0],
        required=True,
        format_func=lambda name: f"{name} {counts[name]:,}",
        key=f"rebpe kind {phase_label(phase)} {kinds}",
    )
    st.caption(_MEANING[kind or kinds[0]])
    chosen = [entry for entry in entries if entry.kind == kind]
    row = chosen_row(
        _frame(current, phase, chosen[:_MOST]),
        330,
        key=f"rebpe merges {current.study_number} {graph.revision} {kind}",
        column_config={
            "rank": st.column_config.NumberColumn("rank", format="localized"),
            "R": st.column_config.NumberColumn("R", format="%.3f", help="Blame before this phase."),
        },
    )
    if len(chosen) > _MOST:
        st.caption(f"The first {_MOST:,} of {len(chosen):,} are shown.")
    if row is None:
        st.caption("Select a row to see the graph around it, and words before and after.")
    else:
        _one_merge(current, run, chosen[row])


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
        columns["N"] = [applied for applied, _ in known]
        columns["B"] = [crossed for _, crossed in known]
        columns["R"] = [crossed / n if n else None for n, crossed in known]
        columns["origin"] = [study.graph.origin(entry.merge) for entry in entries]
    return pd.DataFrame(columns)


def _edits_of(current: Session, run: ReBPERun) -> int:
    """How many edits the graph has right after the phase on show."""
    history = current.study.graph.history
    done = [id(phase.change) for phase in run.phases if not phase.change.is_empty]
    places = {id(change): number for number, change in enumerate(history, start=1)}
    return places[done[-1]] if done else run.edits_before


def _one_merge(current: Session, run: ReBPERun, entry: ChangedMerge) -> None:
    study = current.study
    name = study.tokeniser.readable_types[entry.result]
    with st.container(key="wide-merge"):
        left, right = st.columns([1, 1])
    with left:
        edits = _edits_of(current, run)
        is_last = edits == len(study.graph.history)
        when = "after this phase" if is_last else "as it is now, after your later edits"
        st.markdown(f"The graph around {code(shortened(name))} {when}")
        view = view_around(study, entry.result, up=1, down=2, limit=40)
        merge_graph(
            view.scene.to_dict(),
            key="rebpe graph",
            view_key=f"rebpe {current.study_number} {study.graph.revision} {entry.result}",
            selected=type_key(entry.result),
            height=380,
        )
        label = "Open it in the merge graph"
        button(label, "hub", _open, current, entry.result, key="rebpe open")
        if st.session_state.pop("rebpe opens graph", False):
            st.switch_page("pages/1_Merge_graph.py")
    with right:
        first, then = study.state_after(edits - 1), study.state_after(edits)
        words, total = study.words_of_merge(entry.merge, first, then)
        if not words:
            st.info("No word of the reference uses this merge, before or after.")
            return
        st.markdown("Words that use it, before and after this phase")
        changed_table(words, total, 330)


def _open(current: Session, number: int) -> None:
    look_at(current, number)
    st.session_state["rebpe opens graph"] = True


def charts(run: ReBPERun) -> None:
    """Scores, changes and origins over the phases, and the log as a table."""
    phases = run.all_phases
    if len(phases) == 1:
        st.info("Run a phase, and its scores are plotted here.")
        return
    st.plotly_chart(scores_over_phases(phases, len(run.phases)), key="rebpe scores")
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
    """Annealing off and on, reification off and on: how each of the four runs ends."""
    study = current.study
    st.write(
        "What is each half worth? Four runs with these settings, from where this run began: "
        "without and with annealing, without and with reification."
    )
    key = ("ablation", run.settings, study.graph.recipe_checksum(run.edits_before))
    if key not in current.computed:
        place = st.empty()
        if not place.button("Compute the four runs", icon=":material/table_chart:"):
            return
        bar = place.progress(0.0, "Running …")
        steps = [dict(change.step) for change in study.graph.history[: run.edits_before]]

        def advance(share: float) -> None:
            bar.progress(share, "Running …")

        current.computed[key] = ablation(
            study.tokeniser, study.benchmark, run.settings, steps, advance
        )
        place.empty()
    cells = current.computed[key]
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


def followed_word(current: Session, run: ReBPERun) -> None:
    """The tokens of one word after each phase, and its merge trees at two of them."""
    study = current.study
    text = _word(current)
    if not text:
        return
    number = study.number_of(text)
    words = None
    with attempt():
        words = study.benchmark.words if number is not None else study.tokeniser.encode([text])
    if words is None:
        return
    followed = current.once(
        ("follow", text, len(run.phases), id(run)), lambda: follow(run, words, number or 0)
    )
    tokens = [
        " ".join(shown_token(study.tokeniser.token_text(words, *end)) for end in entry.tokens)
        for entry in followed
    ]
    if number is not None:
        st.markdown(f"Gold: **{plain(study.gold_text(number))}**")
    show_table(
        {
            "phase": [phase_label(entry.phase) for entry in followed],
            "tokens": tokens,
            "changed": ["" if i == 0 or t == tokens[i - 1] else "●" for i, t in enumerate(tokens)],
        },
        300,
    )
    _trees(current, text, followed)


def _word(current: Session) -> str:
    study = current.study
    left, right = st.columns([1, 1])
    typed = left.text_input(
        "Follow a word",
        key=f"rebpe word {current.study_number}",
        placeholder="any word",
        max_chars=_LONGEST,
    ).strip()
    worst = [word.word for word in study.worst_words(100)]
    picked = right.selectbox(
        "or one of the worst",
        worst,
        index=None,
        key=f"rebpe worst {current.study_number}",
        placeholder="choose a word",
        disabled=bool(typed),
    )
    if typed and len(typed.split()) > 1:
        st.warning("Give one word, without spaces.")
        return ""
    if typed or picked:
        return typed or str(picked)
    changed, _ = study.changed_words(study.start, limit=1)
    if changed:
        return changed[0].word
    return worst[0] if worst else study.benchmark.words.texts[0]


def _trees(current: Session, word: str, followed: list[FollowedWord]) -> None:
    """The merge trees after two of the phases, side by side: the start and now, at first."""
    states = [(phase_label(entry.phase), entry.edits) for entry in followed]
    if len(states) == 1:
        word_trees(current, word, [("now", len(current.study.graph.history))], "rebpe tree")
        return
    left, right = st.columns(2)
    key = f"{current.study_number} {len(states)}"
    places = range(len(states))

    def choose(place: Any, label: str, first: int, key: str) -> int:
        number: int = place.select_slider(
            label, places, first, format_func=lambda number: states[number][0], key=key
        )
        return number

    before = choose(left, "Merge tree after", 0, f"rebpe tree a {key}")
    after = choose(right, "beside the one after", places[-1], f"rebpe tree b {key}")
    word_trees(current, word, [states[i] for i in dict.fromkeys((before, after))], "rebpe tree")
