"""Fixed runs of every learner; their results are hashed and compared with recorded digests."""
