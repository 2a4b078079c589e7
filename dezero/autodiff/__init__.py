"""Derivatives as functions: gradients, Jacobians, Hessians and products with them.

They return what they find and touch no ``.grad``. :func:`grad` differentiates a graph
that is already there; the others take a function ``f`` from Variables to a Variable,
give it its arguments as Variables of their own, and differentiate the graph that it
builds, inside ``no_grad`` too.

A result is a constant unless ``create_graph=True``: then it is recorded, and can be
differentiated by whatever it was computed from.
"""

from dezero.autodiff.gradients import grad, value_and_grad
from dezero.autodiff.matrices import hessian, jacobian
from dezero.autodiff.products import hvp, jvp, vjp

__all__ = ["grad", "hessian", "hvp", "jacobian", "jvp", "value_and_grad", "vjp"]
