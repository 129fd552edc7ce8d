"""The content of the trust view: figures in plain words, as charts and as tables."""

from tagalong.server.page.trust.overview import TrustFacts, trust_facts

__all__ = ["TrustFacts", "trust_facts"]
