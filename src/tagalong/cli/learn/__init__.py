"""``tagalong learn``: predict each item, then learn it."""

from tagalong.cli.learn.command import run

__all__ = ["run"]
