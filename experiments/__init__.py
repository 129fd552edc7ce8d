"""The papers' tables and figures, reproduced; README.md says how to add one."""
