"""Numbers as people read them."""

import math

UNDEFINED = "n/a"


def percent(value: float, digits: int = 2) -> str:
    """A share as percent.

    >>> percent(0.5), percent(float("nan"))
    ('50.00', 'n/a')
    """
    return UNDEFINED if math.isnan(value) else f"{100 * value:.{digits}f}"


def ratio_text(value: float) -> str:
    """A ratio as it is.

    >>> ratio_text(2 / 3), ratio_text(float("nan"))
    ('0.67', 'n/a')
    """
    return UNDEFINED if math.isnan(value) else f"{value:.2f}"


def count_text(value: float) -> str:
    """A count with separators.

    >>> count_text(1234567.0), count_text(float("nan"))
    ('1,234,567', 'n/a')
    """
    return UNDEFINED if math.isnan(value) else f"{value:,.0f}"


def signed(value: float, digits: int = 2, unit: str = "") -> str:
    """A difference with its sign; n/a if undefined.

    >>> signed(0.5), signed(-1.25), signed(float("nan"))
    ('+0.50', '−1.25', 'n/a')
    """
    if value != value:
        return "n/a"
    return f"{value:+,.{digits}f}{unit}".replace("-", "−")
