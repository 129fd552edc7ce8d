"""Code shared by all learners: contract, labels, examples, batches, certificates, model files."""
