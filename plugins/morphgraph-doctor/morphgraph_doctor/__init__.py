"""Whether all programs that read a tokeniser give the same ids: ``mg.doctor``.

The names are loaded when they are first asked for.
"""

from typing import TYPE_CHECKING

from morphgraph.core.lazy import lazy_names

__all__ = ["Diagnosis", "doctor"]

if TYPE_CHECKING:
    from morphgraph_doctor.diagnosis import Diagnosis, doctor
else:
    __getattr__ = lazy_names(
        __name__, dict.fromkeys(("Diagnosis", "doctor"), "morphgraph_doctor.diagnosis")
    )


def __dir__() -> list[str]:
    return __all__
