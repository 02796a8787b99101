"""A report of results made by hand, as a finished run writes it."""

from morphgraph.batch.configuration import Evaluation, EvaluationPart
from morphgraph.batch.plan import Plan
from morphgraph.batch.report import write_report

FACTS = {
    "command": ["morphgraph", "evaluate", "a b.yaml"],
    "versions": {"morphgraph": "0.1.0", "python": "3.11"},
    "machine": {"system": "Linux", "processor": "x86", "cores": 2},
    "started": "2026-01-02T03:04:05Z",
    "finished": "2026-01-02T03:05:06Z",
    "state": "done",
    "seconds": 61.0,
}


def write(folder, results, tasks=(), facts=FACTS, text="methods: [BPE]\n", tables=(), **asked):
    """Write it; ``asked``: fields of the configuration, which are not checked."""
    part = EvaluationPart.model_construct(tables=list(tables))
    evaluation = Evaluation.model_construct(**{"name": "x", **asked}, parts=[part])
    plan = Plan(text, evaluation, (), (), ())
    return write_report(plan, results, tasks, facts, folder)
