"""Counting on dask.distributed: tasks are paths and small numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from morphgraph.batch.cluster import lost_worker_message
from morphgraph.core.errors import MorphGraphError

if TYPE_CHECKING:
    from distributed import Client

    from morphgraph.corpus.counting import Runner


def runner_on(client: Client) -> Runner:
    """What applies functions to tasks on the workers of a client, for `corpus.counting`.

    What tasks have in common is sent to each worker once.
    """

    def run(function: Callable[..., Any], tasks: Sequence[Any], *common: Any) -> Iterator[Any]:
        from distributed import CancelledError, as_completed

        shared = client.map(_as_it_is, common, pure=False)
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


def _as_it_is(something: Any) -> Any:
    """A task, so that what is lost with a worker can be had again."""
    return something
