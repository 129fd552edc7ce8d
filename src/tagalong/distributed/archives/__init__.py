"""Suggestions for whole archives: one task per shard, one output file per task."""
