"""Suggestions as flat tables: the columns, and writers of CSV, JSON lines and Parquet."""
