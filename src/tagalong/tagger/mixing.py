"""`mix`: one model from several that have learnt the parts of a stream."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

from tagalong import parameters
from tagalong.online.label_ranker.learner import LabelRanker
from tagalong.online.label_ranker.mixing import mix_rankers
from tagalong.tagger.history import LabelHistory
from tagalong.tagger.tagger import Tagger
from tagalong.tagger.targets import LabelTargets
from tagalong.text.mixing import mix_features

__all__ = ["How", "mix", "mixing_factors"]

Model = TypeVar("Model", LabelRanker, Tagger)
How = Literal["average", "sum"] | Sequence[float]


def mix(rankers: Iterable[Model], how: How = "average", base: Model | None = None) -> Model:
    r"""Return one model from several that have learnt the parts of a stream.

    The result is a model like the others: it predicts, explains, is saved, and goes on learning.
    Average and sum rank labels alike, but the weights of a sum are larger.

    Parameters
    ----------
    rankers : sequence of LabelRanker, or of Tagger
        The models: single learners (``race=None``) with equal settings, in the Euclidean or the
        adaptive geometry, without learnt relevances of features. Each has learnt other rounds.
        Labels are aligned by name. So are features that have names. Features that are numbers must
        mean the same in all models; hashed features do if they have equally many buckets.
    how : "average", "sum" or sequence of float, default "average"
        The factor of each model, from 0 to 1: ``1/K`` for K models, or 1, or as given.
    base : LabelRanker or Tagger, optional
        The model that all of them have started from, as it was then. It counts once.

    Returns
    -------
    LabelRanker or Tagger
        The mixture. Cut-off and confidence start anew, since they depend on the scores: no
        suggestion is sure, and ``predict`` returns no labels of a multi-label model, until
        predictions have been judged again.

    Raises
    ------
    ValueError
        The models cannot be mixed; the message says why.

    Notes
    -----
    **The weights.** With dual vectors :math:`\theta_k`, linear parts :math:`L_k` of the dual value
    and scales :math:`S_k`, and the factors :math:`f_k`, the mixture has

    .. math:: \theta = \theta_b + \sum_k f_k (\theta_k - \theta_b), \quad
              L = L_b + \sum_k f_k (L_k - L_b), \quad S = S_b + \sum_k (S_k - S_b),

    where :math:`\theta_b`, :math:`L_b` and :math:`S_b` are those of `base`; without it 0, 0 and 1.
    The means of the weights over the rounds, and the choice between them and the current weights,
    are mixed likewise.

    **The dual value.** ``certificate_.dual`` is :math:`D = L - G_S(\theta)`. For every fixed
    :math:`w` it is at most :math:`F_S(w) + C\,\mathrm{loss}(w)` over all rounds of all models.
    Proof: a round whose coefficients were :math:`\alpha` takes part with :math:`f_k\alpha`. The
    coefficients that a round allows are a convex set that contains 0, so these are allowed. Its
    part of L is a concave function of the coefficients which is 0 at 0, so at least :math:`f_k`
    times what it was. Thus D is at most the dual value of allowed coefficients, which weak duality
    bounds, for any positive scales. A label that a model did not know was not among the pairs of
    its rounds; more pairs can only increase the loss. The proof needs rounds that are disjoint: if
    models were copied from one that had learnt, give it as `base`. Averages are lower bounds even
    without, as their factors sum to 1.

    For the average, D is at least the mean of the models' dual values, because G is convex and
    decreases in S (unless the certificate of `base` was restarted). A larger dual value does not
    mean a better ranking.

    **The mistakes.** ``certificate_.mistakes`` and ``loss`` are sums over the models. With
    :math:`\lambda` the least gain of a mistake, :math:`\lambda M_k \le D_k`, so for models that
    learnt from scratch

    .. math:: \lambda \sum_k M_k \le \sum_k D_k \le K F_S(w) + C\,\mathrm{loss}(w),

    where :math:`F_{S_k} \le F_S`. The bound of one learner does not hold. A second bound also holds
    with a base and while the mixture goes on learning: the dual value that was lost by mixing,
    :math:`P = \max(0, \sum_k D_k - D)`, is part of ``certificate_.penalty``, later mistakes
    increase D by :math:`\lambda` each, and so :math:`\lambda M \le D + P \le F_S(w) +
    C\,\mathrm{loss}(w) + P` over the rounds of all models and all later ones. With a base,
    :math:`P = \max(0, D_b + P_b + \sum_k (D_k + P_k - D_b - P_b) - D)`.
    ``certificate_.bound`` returns the smaller of the bounds that hold.

    If the certificate of a model was restarted (a label was forgotten, features were pruned) after
    it left the base, or without a base, then so is that of the mixture, and ``restarted`` says why.

    Entropic models are refused, since features that appear change their :math:`F`; so are
    learnt relevances, since both inequalities above need the smallest relevance that any model has
    learnt for a feature, which would forget the others.

    Of taggers, features know the words of all; the counts of labels are those of all streams, one
    after the other; a label has the strictest precision that some tagger requires for it; notes
    are kept if they are equal in all.

    Mixing the same models in the same order gives the same bits. No model may learn meanwhile.

    Examples
    --------
    >>> from tagalong import LabelRanker, mix
    >>> shards = [
    ...     [({"invoice": 1}, ["money"]), ({"flight": 1}, ["travel"])],
    ...     [({"bank": 1, "invoice": 1}, ["money"]), ({"hotel": 1}, ["travel"])],
    ... ]
    >>> rankers = []
    >>> for shard in shards:
    ...     ranker = LabelRanker(race=None).add_labels(["money", "travel"])
    ...     for x, y in shard:
    ...         _ = ranker.learn_one(x, y)
    ...     rankers.append(ranker)
    >>> mixed = mix(rankers)
    >>> mixed.rank_one({"bank": 1}, k=1), mixed.rank_one({"flight": 1}, k=1)
    (['money'], ['travel'])
    >>> mixed.certificate_.rounds
    4
    """
    models: list[Any] = list(rankers)
    given = [*models, *([] if base is None else [base])]
    for number, model in enumerate(given):
        if not isinstance(model, (LabelRanker, Tagger)):
            raise ValueError(
                f"models to be mixed must be LabelRankers or Taggers, got {type(model).__name__}"
            )
        if isinstance(model, Tagger) != isinstance(given[0], Tagger):
            raise ValueError("a LabelRanker and a Tagger cannot be mixed")
        if number < len(models) and any(model is other for other in models[:number]):
            raise ValueError(f"model {number} was given twice: rounds must be disjoint")
    factors = mixing_factors(how, len(models))
    join: Any = _mix_taggers if isinstance(given[0], Tagger) else mix_rankers
    mixed: Model = join(models, factors, base)
    return mixed


def mixing_factors(how: How, models: int) -> list[float]:
    """Return the factor of each model; ValueError if they are invalid.

    Parameters
    ----------
    how : "average", "sum" or sequence of float
        As for `mix`.
    models : int
        Number of models.
    """
    if models == 0:
        raise ValueError("there must be at least one model to mix")
    if isinstance(how, str):
        chosen = parameters.choice(how, "how", ("average", "sum"))
        return [1 / models if chosen == "average" else 1.0] * models
    try:
        factors = [parameters.real(factor, "how") for factor in how]
    except TypeError:
        raise ValueError(
            f"how must be 'average', 'sum' or a sequence of factors, got {how!r}"
        ) from None
    if len(factors) != models:
        raise ValueError(f"how must have one factor per model, {models}, got {len(factors)}")
    for factor in factors:
        if not (math.isfinite(factor) and 0 <= factor <= 1):
            raise ValueError(f"how must have factors from 0 to 1, got {factor!r}")
    return factors


def _mix_taggers(
    taggers: Sequence[Tagger], factors: Sequence[float], base: Tagger | None
) -> Tagger:
    given = [*taggers, *([] if base is None else [base])]
    for tagger in given:
        if not isinstance(tagger.learner, LabelRanker):
            raise ValueError(
                "only taggers whose learner is a LabelRanker can be mixed, got "
                f"{type(tagger.learner).__name__}"
            )
        if tagger.audit != given[0].audit:
            raise ValueError(
                "taggers must have the same audit to be mixed, got "
                f"{given[0].audit!r} and {tagger.audit!r}"
            )
    learners = [tagger.learner for tagger in given if isinstance(tagger.learner, LabelRanker)]
    features, numbers = mix_features(
        [tagger.features for tagger in taggers], None if base is None else base.features
    )
    learner = mix_rankers(
        learners[: len(taggers)], factors, None if base is None else learners[-1], numbers, "tagger"
    )
    mixed = Tagger(learner, features, audit=given[0].audit, min_precision=_strictest(given))
    mixed.history = _joined_history(mixed, taggers, base)
    mixed.notes = {
        name: value
        for name, value in given[0].notes.items()
        if all(name in tagger.notes and tagger.notes[name] == value for tagger in given)
    }
    return mixed


def _strictest(taggers: Sequence[Tagger]) -> LabelTargets:
    targets = LabelTargets()
    for tagger in taggers:
        given = LabelTargets(tagger.min_precision)
        for label, target in given.items():
            if given.required(label, 0.0) > targets.required(label, 0.0):
                targets.set(label, target)
    return targets


def _joined_history(mixed: Tagger, taggers: Sequence[Tagger], base: Tagger | None) -> LabelHistory:
    """Return the counts of labels as if the taggers' streams had come one after the other."""
    joined = LabelHistory()
    joined.extend_to(len(mixed.labels))
    number = mixed.learner.labels.number
    before = LabelHistory() if base is None else base.history
    if base is not None:
        at = [number[label] for label in base.labels]
        joined.items = before.items
        joined.count[at] += before.count
        joined.last[at] = before.last
    known = joined.count.copy()
    for place, tagger in enumerate(taggers):
        history = tagger.history
        at = [number[label] for label in tagger.labels]
        if history.items < before.items or (history.count < known[at]).any():
            raise ValueError(
                f"tagger {place} has not started from base: it has learnt fewer items, or a label "
                "less often"
            )
        joined.count[at] += history.count - known[at]
        later = np.where(history.last > before.items, history.last - before.items + joined.items, 0)
        joined.last[at] = np.maximum(joined.last[at], later)
        joined.items += history.items - before.items
    return joined
