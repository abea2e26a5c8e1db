"""What is to go is said, once where it is used, and works as before."""

from __future__ import annotations

import warnings

import pytest

from spanloom.base.deprecation import deprecated, renamed_settings, warn_deprecated
from spanloom.base.errors import ParameterError


@deprecated(instead="add", since="0.2", gone="1.0")
def plus(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


def test_a_deprecated_function_does_what_it_did_and_keeps_its_name() -> None:
    with pytest.warns(
        DeprecationWarning, match=r"^plus is deprecated since spanloom 0\.2 and goes with 1\.0; use add$"
    ):
        assert plus(2, b=3) == 5
    assert (plus.__name__, plus.__doc__) == ("plus", "Add.")


def test_the_warning_names_the_line_of_the_user() -> None:
    """Python shows warnings of this kind only where the user's own file triggers them, so the place must be right."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        plus(1)
        warn_deprecated("x", instead="y", since="0.2", gone="1.0", level=1)
        renamed_settings({"c2": 1}, {"c2": "l2"}, since="0.2", gone="1.0", level=1)
    assert [one.filename for one in said] == [__file__] * 3


def test_settings_come_under_their_names_of_today() -> None:
    with pytest.warns(DeprecationWarning, match="the setting 'c2' is deprecated .*; use 'l2'"):
        assert renamed_settings({"c2": 0.5, "seed": 1}, {"c2": "l2"}, since="0.2", gone="1.0") == {"l2": 0.5, "seed": 1}


def test_a_setting_under_both_names_is_refused() -> None:
    with pytest.warns(DeprecationWarning, match="c2"), pytest.raises(ParameterError, match="'l2' is given twice"):
        renamed_settings({"l2": 1, "c2": 2}, {"c2": "l2"}, since="0.2", gone="1.0")
