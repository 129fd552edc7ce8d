"""Online learners: one package per learner, and their base classes."""
