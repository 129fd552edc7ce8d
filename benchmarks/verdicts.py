"""Goals beside what was measured, as lines of a report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """One goal: whether it is reached, and the figures behind that."""

    goal: str
    reached: bool
    measured: str

    def __str__(self) -> str:
        return f"- {'reached' if self.reached else '**missed**'}: {self.goal}; {self.measured}"
