"""How the rows of new types begin, apart from what makes them, which takes long to load."""

from typing import Literal, TypeAlias, TypedDict

from pydantic import Field

from morphgraph.segment.method import Parameters

RowInit: TypeAlias = Literal["mean", "length", "zeros", "normal", "hewitt"]
RowNorm: TypeAlias = Literal["median"]


class RowSettings(Parameters):
    """How the rows of new types begin, and how many rows there are."""

    init: RowInit = Field(
        "mean",
        description="The row of a new type. mean: of the rows of the old tokens of its string; "
        "length: the same, weighted by their characters; zeros; normal: drawn with the mean and "
        "standard deviation of each column; hewitt: drawn also with the covariance of columns.",
    )
    norm: RowNorm | None = Field(
        None,
        description="median scales new input rows to the median norm of old ones; refused where "
        "input and output are one matrix.",
    )
    seed: int = Field(0, ge=0, description="Seed of rows that are drawn.")
    pad_to_multiple_of: int = Field(
        1, ge=1, le=65_536, description="Add rows up to a multiple of this number."
    )


class RowOptions(TypedDict, total=False):
    """`RowSettings` as keywords."""

    init: RowInit
    norm: RowNorm | None
    seed: int
    pad_to_multiple_of: int


STANDS_OUT = 0.02
"""The share of types listed as under-trained, as in Land & Bartolo 2024."""
