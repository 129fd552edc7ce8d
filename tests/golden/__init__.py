"""Fixed runs of every learner, whose results are hashed and compared with digests on file."""
