"""Distributed counting with dask: its tasks are paths and small numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from morphgraph.batch.cluster import lost_worker_message
from morphgraph.core.errors import MorphGraphError

if TYPE_CHECKING:
    from distributed import Client

    from morphgraph.corpus.counting import Runner


def runner_on(client: Client) -> Runner:
    """Return a function that runs tasks on a client's workers, for `corpus.counting`.

    Data common to all tasks are sent to each worker once.
    """

    def run(function: Callable[..., Any], tasks: Sequence[Any], *common: Any) -> Iterator[Any]:
        from distributed import CancelledError, as_completed

        shared = client.map(_identity, common, pure=False)
        futures = client.map(function, tasks, *([one] * len(tasks) for one in shared), pure=False)
        try:
            for future in as_completed(futures, loop=client.loop):  # type: ignore[no-untyped-call]
                yield future.result()
                future.release()
        except MorphGraphError:
            raise
        except CancelledError as error:
            raise MorphGraphError(
                "The connection to the scheduler was lost. Start the same command again: it "
                "resumes where it stopped."
            ) from error
        except Exception as error:
            if (message := lost_worker_message(error)) is None:
                raise
            raise MorphGraphError(message) from error
        finally:
            if client.status == "running":
                client.cancel(futures)  # type: ignore[no-untyped-call]

    return run


def _identity(something: Any) -> Any:
    """Return a task unchanged, so that it can be recomputed if its worker is lost."""
    return something
