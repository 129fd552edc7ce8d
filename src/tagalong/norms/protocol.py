r"""The protocol of a norm.

Predtron adds its steps to a matrix :math:`\theta` of dual variables, one row per score and one
column per feature, and predicts with weights :math:`W = \nabla G(\theta)`. :math:`G` is the convex
dual of a potential :math:`F(W) = |W|^2 / 2`. If the weights of the best competitor are small in
this norm, and the steps are small in the dual norm, the loss is small: see `LossCertificate`.
"""

import inspect
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["MEMBERS", "Matrix", "Norm", "Vector", "as_norm", "norm_to_json"]

Matrix: TypeAlias = npt.NDArray[np.float64]
Vector: TypeAlias = npt.NDArray[np.float64]

NORMS = ("l2", "l1", "group", "trace")
MEMBERS = ("potential", "dual", "weights", "radius")


class Norm(Protocol):
    """The members that Predtron needs of a norm; `check_norm` tests them.

    Learning uses ``weights`` and ``radius``, the check all four. With a constant feature, matrices
    have one more column, the last one.
    """

    def potential(self, weights: Matrix) -> float:
        """Return F, half the squared norm of a matrix of weights."""

    def dual(self, theta: Matrix) -> float:
        r"""Return :math:`G(\theta) = \max_W \langle\theta, W\rangle - F(W)`."""

    def weights(self, theta: Matrix) -> Matrix:
        """Return the weights of dual variables: the gradient of ``dual``, the inverse link."""

    def radius(self, x: Vector) -> float:
        r"""Return R(x), which bounds how much a step along an example curves the dual.

        :math:`G(\theta + a x^\top) \le G(\theta) + \langle W, a x^\top\rangle + |a|^2 R(x)^2/2`
        must hold for every :math:`\theta`, its weights W, and every vector a.
        """


def as_norm(norm: Any) -> Any:
    """Return the name of a built-in norm, or a custom norm; raise ValueError otherwise."""
    if isinstance(norm, str) and norm in NORMS:
        return norm
    absent = object()
    missing = [name for name in MEMBERS if inspect.getattr_static(norm, name, absent) is absent]
    if not missing and not isinstance(norm, type):
        return norm
    names = ", ".join(map(repr, NORMS))
    reason = "" if isinstance(norm, (str, type)) else f", which has no {missing[0]}"
    raise ValueError(
        f"norm must be one of {names}, or an object with the members of tagalong.norms.Norm, got "
        f"{norm!r}{reason}"
    )


def norm_to_json(norm: Any) -> str:
    """Return a norm as the value of a model file: its name; ValueError for a custom norm."""
    if isinstance(norm, str):
        return norm
    raise ValueError(
        f"{norm!r} cannot be saved: a model file holds no code, so only built-in norms can be "
        "saved. Pickle the learner instead"
    )
