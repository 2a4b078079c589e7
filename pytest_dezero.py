"""pytest's entry to ``dezero.testing``: the option ``--dezero-cases``.

It is loaded into every pytest run where DeZero is installed. So it stands outside the
package, whose import would bring NumPy, and imports nothing before the option is used.
"""

from typing import Any


def pytest_addoption(parser: Any) -> None:
    """Add the option."""
    parser.getgroup("dezero").addoption(
        "--dezero-cases",
        action="append",
        default=[],
        metavar="MODULE",
        help="prove the functions of MODULE.CASES, a list of dezero.testing.Case: one "
        "test for each case and property. Without further arguments these tests alone "
        "are run. May be given several times.",
    )


def pytest_configure(config: Any) -> None:
    """Load the cases, if the option is given."""
    if config.getoption("dezero_cases"):
        from dezero.testing.pytest_cases import CasesPlugin

        config.pluginmanager.register(CasesPlugin(config), "dezero-cases")
