"""RankBoost: document ranking by boosting any classifier with weights of pairs of documents."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from sklrank._boosters import Objective, of_boosters
from sklrank.boosting._base import SupervisedDocumentRanker, of_document_rankers
from sklrank.boosting._pair_losses import GradedPairLoss, weighted_exp

# RankBoost stops when its loss, which starts at 1, is below this value. If scores grew further,
# they would be clipped to the distance above, and documents would be tied.
MIN_PAIR_LOSS = 1e-12


class PairObjective(Objective):
    r"""The loss of RankBoost.

    The mean of :math:`\exp(F_j - F_i)` over all pairs (i, j) of documents of the same query in
    which i is more relevant than j. The weight of a pair is the product of those of its documents
    and that of its query.
    """

    def __init__(self, target):
        self._target = target
        self._pairs = GradedPairLoss(target.y, target.queries)
        # The loss at scores of 0, where e^F and e^-F are 1.
        self._n_pairs, _ = self._pairs.loss_and_negative_gradient(
            target.all_weights, target.weights
        )

    def set_scores(self, scores):
        self._exp_scores = weighted_exp(scores, self._target)
        loss, negative_gradient = self._pairs.loss_and_negative_gradient(*self._exp_scores)
        self.value = loss / self._n_pairs
        self._set_gradient(negative_gradient)
        self.weights /= self._n_pairs
        if self.value < MIN_PAIR_LOSS:
            self.weights[:] = 0.0

    def step_weights(self, hypothesis):
        correct, incorrect = self._pairs.step_weights(*self._exp_scores, hypothesis)
        return correct / self._n_pairs, incorrect / self._n_pairs


@of_boosters
@of_document_rankers
class RankBoost(SupervisedDocumentRanker):
    r"""RankBoost document ranker: boosting of a classifier for the order of pairs of documents.

    RankBoost [1]_ minimizes the exponential loss of the scores :math:`F`,

    .. math:: \frac{1}{|P|} \sum_{(i, j) \in P} \exp(F_j - F_i),

    where :math:`P` is the set of all pairs (i, j) of documents of the same query in which i is more
    relevant than j. All pairs of all queries have the same weight.

    The negative gradient of a document is the loss of the pairs in which it is the more relevant
    one, minus that of the pairs in which it is the less relevant one. The document is labeled 1 if
    it is positive, that is, if its score should increase, else 0, and weighted by its absolute
    value. The step is :math:`\alpha = \frac{1}{2} \ln(W_+ / W_-)`, where :math:`W_+` and
    :math:`W_-` are the losses of the pairs that the weak learner ranks correctly and incorrectly.
    It decreases the objective by at least :math:`(\sqrt{W_+} - \sqrt{W_-})^2`. Sums over pairs are
    cumulative sums over the grades, a few operations for each document.

    Parameters
    ----------
    {stump_and_rounds}
    {boosting}

    See Also
    --------
    NDCGBoost : Document ranker whose weights of documents depend on their ranks.
    RankingRefiner : Document ranker whose loss also includes the order of a base ranker.

    References
    ----------
    .. [1] Y. Freund, R. Iyer, R. E. Schapire and Y. Singer, "An efficient boosting algorithm for
       combining preferences", Journal of Machine Learning Research 4, 2003.

    Examples
    --------
    {example}
    >>> from sklrank.boosting import RankBoost
    >>> RankBoost(n_estimators=10).fit(X, y, qid=qid).score(X, y, qid=qid)
    1.0
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        learning_rate: float = 1.0,
        weighting: Literal["auto", "resampling"] = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.weighting = weighting
        self.random_state = random_state

    def _make_objective(self, target):
        return PairObjective(target)
