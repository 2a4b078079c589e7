"""Three lines prove the operator; what its formula promises is a test of its own."""

import numpy as np
from cases import CASES
from softclip import softclip

from dezero.testing import cases_test, check_gradients

test_softclip = cases_test(CASES)


def test_gradients_at_chosen_points():
    """First and second order; on a failure the table is the message."""
    x = np.array([[-5.0, -0.3, 0.0], [0.1, 2.0, 40.0]])
    check_gradients(softclip, x, np.array([0.5, 1.0, 2.0])).assert_ok()


def test_it_clips():
    """Far away the limit, near 0 the identity."""
    y = softclip(np.array([-100.0, 0.0, 1e-3, 100.0]), 2.0)
    np.testing.assert_allclose(y.data, [-2.0, 0.0, 1e-3, 2.0], rtol=1e-6)
