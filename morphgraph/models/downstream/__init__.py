"""The downstream tasks by name."""

from __future__ import annotations

from collections.abc import Mapping

from morphgraph.models.downstream.language_models import CAUSAL_LM, MASKED_LM, TRANSPLANT_CURVES
from morphgraph.models.downstream.task import DownstreamTask, TaskMetric
from morphgraph.models.downstream.tasks import CLASSIFICATION, TAGGING, TRANSLATION

DOWNSTREAM: Mapping[str, DownstreamTask] = {
    task.name: task
    for task in (CLASSIFICATION, TAGGING, CAUSAL_LM, MASKED_LM, TRANSLATION, TRANSPLANT_CURVES)
}
"""The tasks, by name."""


def downstream_metrics() -> dict[str, TaskMetric]:
    """Return every metric of the tasks by key."""
    return {metric.key: metric for task in DOWNSTREAM.values() for metric in task.metrics}
