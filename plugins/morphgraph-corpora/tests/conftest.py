"""A scheduler and a worker of somebody else."""

from tests.batch.test_cluster import scheduler, worker  # noqa: F401
