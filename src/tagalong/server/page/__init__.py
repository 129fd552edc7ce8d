"""The page for people: filing, trust, labels, history, start and settings."""
