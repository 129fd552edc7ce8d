"""Work on many machines: tag archives, fit batch models, learn streams in shards."""
