"""What all learners share: the contract, labels, examples, batches, rounds, certificates, files."""
