"""Run tasks on dask.distributed, skipping those whose results are stored."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from morphgraph.batch.cluster import lost_worker_message
from morphgraph.batch.progress import ProgressFile, Remaining, RunProgress, stop_path
from morphgraph.batch.tasks import (
    Store,
    Task,
    TaskFailure,
    TaskResult,
    code_version,
    run_task,
)
from morphgraph.core.errors import MorphGraphError
from morphgraph.core.text import counted
from morphgraph.models.downstream.training import steps_in

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger("morphgraph.batch")

Ended = Literal["done", "failed", "not run"]
_LOOK_FOR_STOP = 0.25
_COUNT_WORKERS = 10.0
_LOOK_AT_TRAINING = 2.0


@dataclass(frozen=True)
class TaskReport:
    """How a task ended. ``from_store``: it was finished by an earlier start of the run."""

    task: Task
    state: Ended
    facts: dict[str, str] = field(default_factory=dict)
    from_store: bool = False
    message: str = ""

    def row(self) -> dict[str, Any]:
        """Return its row of the table of tasks (`TASK_COLUMNS`)."""
        numbers = ("seconds", "cpu_seconds", "peak_memory")
        return {
            "key": self.task.key,
            "kind": self.task.kind,
            "label": self.task.label,
            "state": self.state,
            **{name: float(self.facts[name]) for name in numbers if name in self.facts},
            "worker": self.facts.get("worker", ""),
            "from_store": self.from_store,
            "message": self.message,
        }


@dataclass(frozen=True)
class RunOutcome:
    """How all tasks ended, in order. ``stopped``: an early end was requested.

    >>> RunOutcome(reports=(), failures=(), stopped=False)
    <RunOutcome: 0 tasks, 0 failed>
    """

    reports: tuple[TaskReport, ...]
    failures: tuple[TaskFailure, ...]
    stopped: bool

    def __repr__(self) -> str:
        """One line."""
        tasks = f"{counted(len(self.reports), 'task')}, {len(self.failures):,} failed"
        return f"<RunOutcome: {tasks}{', stopped' if self.stopped else ''}>"


def missing_tasks(tasks: Sequence[Task], store: Store) -> list[Task]:
    """Return the tasks without a stored result, and missing ones that they need.

    Counts and tokenisers that only finished tasks need are left out.
    """
    return _missing(tasks, _kept(tasks, store))


def _kept(tasks: Sequence[Task], store: Store) -> dict[str, dict[str, str]]:
    """Return what finished tasks report about themselves, reading each file once."""
    found = ((task.key, store.facts(task.key)) for task in tasks)
    return {key: facts for key, facts in found if facts is not None}


def _missing(tasks: Sequence[Task], kept: Mapping[str, object]) -> list[Task]:
    by_key = {task.key: task for task in tasks}
    needed = {need for task in tasks for need in task.needs}
    wanted = {task.key for task in tasks if task.key not in kept and task.key not in needed}
    waiting = list(wanted)
    while waiting:
        for need in by_key[waiting.pop()].needs:
            if need not in kept and need not in wanted:
                wanted.add(need)
                waiting.append(need)
    return [task for task in tasks if task.key in wanted]


def warm_up_worker(client: Client) -> None:
    """Load what every cell needs in all workers at the same time."""
    # If this fails, tasks on the worker will tell.
    client.run(_load, on_error="ignore")


def _load() -> None:
    """Load the library and its kernels by measuring very small cells."""
    from morphgraph.batch.cell_rows import result_rows
    from morphgraph.batch.cells import method_result
    from morphgraph.reference.entry import Entry, Reference
    from morphgraph.score.gold_set import GoldSet
    from morphgraph.segment.bte import Bte, tokeniser_of_types

    entries = (Entry("abab", ("ab", "ab")), Entry("aba", ("a", "ba")))
    gold_set = GoldSet.of(Reference("warm-up", "plain", entries, (), "0" * 12))
    base = Bte(tokeniser_of_types("warm-up", ["a", "b", "ab", "aba"], ["ab", ("ab", "a")]))
    scored: dict[str, Any] = {
        "metrics": ["f1", "morph_f1", "distance"],
        "scopes": ["morphemic"],
        "weightings": ["types"],
        "intervals": True,
        "vocabulary": [],
        "held_out": None,
    }
    methods: tuple[tuple[str, int | None, dict[str, Any]], ...] = (
        ("standard", None, {}),
        ("dropout", 0, {"p": 0.5}),
        ("flota", None, {"k": 0}),
        ("knockout", 0, {}),
        ("rebpe", 0, {"reify": True}),
    )
    for method, seed, parameters in methods:
        spec = {"method": method, "parameters": parameters, "seed": seed, **scored}
        made = method_result(spec, base, gold_set, None)
        list(result_rows(spec, base, made, gold_set.reference, None, base))
    code_version()


def run_tasks(
    tasks: Sequence[Task],
    store: Store,
    client: Client | None,
    progress: ProgressFile,
    tell: Callable[[RunProgress], None] = lambda _: None,
) -> RunOutcome:
    """Run missing tasks and store each result as it arrives.

    A failed task only stops those that need it. A file called ``stop`` in the run's folder ends the
    run early. If nothing is missing, no client is needed. `MorphGraphError` if results cannot be
    stored, or the scheduler is lost.
    """
    run = _Run(tasks, store, client, progress, tell)
    try:
        run.submit()
        run.collect()
    finally:
        run.cancel()
    return run.outcome()


def _itself(result: TaskResult) -> TaskResult:
    """Return a stored result as the result of a task."""
    return result


class _Run:
    """One start of a run."""

    def __init__(
        self,
        tasks: Sequence[Task],
        store: Store,
        client: Any,
        progress: ProgressFile,
        tell: Callable[[RunProgress], None],
    ) -> None:
        self.tasks, self.store, self.client = tasks, store, client
        self.progress, self.tell = progress, tell
        known = _kept(tasks, store)
        self.missing = _missing(tasks, known)
        self.by_key = {task.key: task for task in self.missing}
        self.reports: dict[str, TaskReport] = {}
        self.failures: list[TaskFailure] = []
        self.futures: dict[str, Any] = {}
        self.stopped = False
        workers = self._count_workers()
        self.remaining = Remaining(self.missing, min(workers, len(self.missing)))
        self._counted = self._looked = time.monotonic()
        for task in tasks:
            if task.key not in self.by_key:
                facts = known.get(task.key)
                # Without facts it is a count or tokeniser that no task needs.
                state: Ended = "not run" if facts is None else "done"
                self.reports[task.key] = TaskReport(task, state, facts or {}, True)
        kept = len(self.reports)
        progress.update(
            force=True, state="running", total=len(tasks), done=kept, kept=kept, workers=workers
        )
        log.info("%d tasks, %d of them kept, %d workers", len(tasks), kept, workers)

    def submit(self) -> None:
        """Send all missing tasks to the scheduler, each with its dependencies."""
        code = code_version()
        at_hand: dict[str, Any] = {}
        for place, task in enumerate(self.missing):
            needs = []
            for need in task.needs:
                if need in self.futures:
                    needs.append(self.futures[need])
                    continue
                if need not in at_hand:
                    # Part of the graph, not scattered: data lost with a worker are sent again.
                    result = TaskResult(self.store.data(need))
                    at_hand[need] = self.client.submit(_itself, result, pure=False)
                needs.append(at_hand[need])
            self.futures[task.key] = self.client.submit(
                run_task,
                task,
                code,
                *needs,
                folder=str(self.store.checkpoints(task.key).resolve()) if task.resumes else None,
                # A unique key: a scheduler may still know a task of an earlier run.
                key=f"{task.kind}-{task.key}-{time.time_ns()}",
                priority=-place,
                pure=False,
            )

    def collect(self) -> None:
        """Store results as they arrive, until all have or a stop is requested."""
        from queue import Empty, SimpleQueue

        ended: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        for key, future in self.futures.items():
            future.add_done_callback(lambda found, key=key: ended.put((key, found)))
        needed = {need for task in self.missing for need in task.needs}
        left = set(self.futures)
        while left and not self._asked_to_stop():
            try:
                key, future = ended.get(timeout=_LOOK_FOR_STOP)
            except Empty:
                self._check_scheduler()
                self._look_for_workers()
                self._update_progress(**self._in_training())
                continue
            left.discard(key)
            self._take(self.by_key[key], self._result_of(key, future))
            if key not in needed:
                future.release()
                self.futures.pop(key, None)
        self._update_progress(force=True)

    def _asked_to_stop(self) -> bool:
        self.stopped = self.stopped or stop_path(self.store.folder).exists()
        return self.stopped

    def _check_scheduler(self, error: Exception | None = None) -> None:
        lost = error is not None and "connection-lost" in str(error)
        if lost or self.client.status not in ("running", "connecting"):
            raise MorphGraphError(
                "The connection to the scheduler was lost. Start the same command again: it "
                "resumes where it stopped."
            )

    def _result_of(self, key: str, future: Any) -> TaskResult:
        """Return the result of a task, which is a failure if its worker died."""
        task = self.by_key[key]
        try:
            found: TaskResult = future.result(timeout=120)
            return found
        except Exception as error:
            self._check_scheduler(error)
            message = lost_worker_message(error) or f"{type(error).__name__}: {error}"
            return TaskResult(b"", TaskFailure(task.label, message, repr(error)))

    def _take(self, task: Task, result: TaskResult) -> None:
        if result.failure is None:
            self.store.keep(task.key, result.data)
            self.reports[task.key] = TaskReport(task, "done", dict(result.facts))
            log.info("done: %s (%s s)", task.label, result.facts.get("seconds", "?"))
        else:
            failure = result.failure
            self.failures.append(failure)
            facts = dict(result.facts)
            self.reports[task.key] = TaskReport(task, "failed", facts, message=failure.message)
            log.error("failed: %s: %s\n%s", task.label, failure.message, failure.traceback)
        seconds = result.facts.get("seconds")
        self.remaining.done(task, None if seconds is None else float(seconds))
        self._update_progress(last=task.label)

    def _look_for_workers(self) -> None:
        """Update the number of workers, which varies on a cluster, for the time estimate."""
        if time.monotonic() - self._counted > _COUNT_WORKERS:
            self._counted = time.monotonic()
            workers = self._count_workers()
            self.remaining.workers = max(1, workers)
            self.progress.update(workers=workers)

    def _in_training(self) -> dict[str, Any]:
        """Return the progress of models in training, if their checkpoints are visible here."""
        if time.monotonic() - self._looked < _LOOK_AT_TRAINING:
            return {}
        self._looked = time.monotonic()
        told = []
        for task in self.missing:
            if task.resumes and task.key not in self.reports:
                found = steps_in(self.store.checkpoints(task.key))
                if found is not None:
                    told.append(f"{task.label}: step {found[0]:,} of {found[1]:,}")
        return {"last": "; ".join(told)} if told else {}

    def _count_workers(self) -> int:
        return 0 if self.client is None else len(self.client.scheduler_info(-1)["workers"])

    def _update_progress(self, *, force: bool = False, **changes: Any) -> None:
        failed = len(self.failures)
        self.tell(
            self.progress.update(
                force=force,
                done=len(self.reports) - failed,
                failed=failed,
                remaining=self.remaining.seconds,
                failures=tuple(f"{f.label}: {f.message}"[:500] for f in self.failures[-20:]),
                **changes,
            )
        )

    def cancel(self) -> None:
        """Cancel what is no longer needed."""
        left = list(self.futures.values())
        if self.client is not None and self.client.status == "running":
            self.client.cancel(left)

    def outcome(self) -> RunOutcome:
        """Return how all tasks ended."""
        reports = [self.reports.get(task.key) or TaskReport(task, "not run") for task in self.tasks]
        return RunOutcome(tuple(reports), tuple(self.failures), self.stopped)
