"""The learners in other libraries' clothes; each module needs its library."""
