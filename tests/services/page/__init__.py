"""Tests of the page in Chromium."""
