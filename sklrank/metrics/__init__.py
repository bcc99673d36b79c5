"""Ranking losses and scores, and scorers for scikit-learn's tools.

If the target is the set of *relevant labels*, each loss is a sum over pairs of a relevant and an
irrelevant label; the relevant label should have the higher score. The losses differ in the cost of
a pair as a function of the difference between its two scores:

- :func:`rank_loss`: the cost is 1 if the irrelevant label has the higher score;
- :func:`hinge_rank_loss`: the cost increases linearly if the difference is below a margin of 1;
- :func:`logistic_rank_loss`: the cost is a smooth approximation of the hinge loss.

The target is either a 0/1 indicator matrix (multilabel) or an array of class labels (multiclass,
with one relevant label for each sample).

If the target is a *ranking* of the labels, the target and the prediction are positions. Labels with
smaller positions are better, labels with equal positions are tied, and NaN marks a label that is
not ranked. Only the order matters:

- :func:`kendall_tau_score`: a rank correlation from -1 to 1, which counts pairs of labels;
- :func:`kendall_tau_distance`: the number of pairs of labels in the wrong order;
- :func:`spearman_distance`: the sum of squared differences between positions;
- :func:`alpha_inconsistency`, :func:`beta_tau_gap`: the amount of noise in rankings.

If the target is the *graded relevance* of documents, the documents of a query are ranked against
each other. The parameter ``qid`` contains the query id of each sample:

- :func:`ndcg_score`, :func:`dcg_score`: the gain of the documents, discounted by rank;
- :func:`average_precision_score`: the mean precision at the ranks of the relevant documents;
- :func:`precision_at_k_score`, :func:`recall_at_k_score`, :func:`hit_rate_score`: the relevant
  documents among the first `k`;
- :func:`reciprocal_rank_score`, :func:`expected_reciprocal_rank_score`,
  :func:`rank_biased_precision_score`: models of users who go through the list from the top.

:func:`paired_test` tests whether two rankings of the same queries differ.

For classifiers with a reject option, :func:`reject_loss` is the cost of errors and rejections,
:func:`coverage_score` is the fraction of samples that are not rejected, and
:func:`selective_accuracy_score` is the accuracy on these samples.

The scorers are meant for the ``scoring`` parameter of scikit-learn's tools; losses and distances
are negated. The scorers for relevant labels (such as ``rank_loss_scorer``) use
``decision_function`` or ``predict_proba``. The scorers for rankings (such as
``kendall_tau_scorer``) use ``predict_ranks``, or a ``predict`` that returns positions. To set
parameters of these metrics, use scikit-learn's ``make_scorer(kendall_tau_score, variant="gamma")``.

The scorers for documents (such as ``ndcg_scorer``) use ``predict`` and obtain ``qid`` by metadata
routing; see the example of :class:`~sklrank.model_selection.QueryKFold`. To set parameters of
their metrics, use a copy, since the scorers are shared objects:
``clone(ndcg_scorer).set_params(k=10, convention="letor")``. To use sample weights, request them on
a copy: ``clone(rank_loss_scorer).set_score_request(sample_weight=True)``.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from sklearn.linear_model import LogisticRegression
>>> from sklearn.model_selection import cross_val_score
>>> from sklrank.metrics import rank_loss_scorer
>>> X, y = load_iris(return_X_y=True)
>>> model = LogisticRegression(max_iter=1000)
>>> cross_val_score(model, X, y, scoring=rank_loss_scorer, cv=3).round(2)
array([-0.01, -0.02, -0.01])

A regressor that predicts positions can rank labels. In this example the labels are the measurements
of a flower:

>>> from scipy.stats import rankdata
>>> from sklearn.linear_model import Ridge
>>> from sklearn.model_selection import KFold
>>> from sklrank.metrics import kendall_tau_scorer
>>> rankings = rankdata(-(X - X.mean(axis=0)) / X.std(axis=0), axis=1)
>>> folds = KFold(3, shuffle=True, random_state=0)
>>> cross_val_score(Ridge(), X, rankings, scoring=kendall_tau_scorer, cv=folds).round(2)
array([0.95, 0.85, 0.93])
"""

from sklrank.metrics._cascades import (
    expected_reciprocal_rank_score,
    hit_rate_score,
    reciprocal_rank_score,
)
from sklrank.metrics._document_ranking import average_precision_score, dcg_score, ndcg_score
from sklrank.metrics._label_ranking import (
    kendall_tau_distance,
    kendall_tau_score,
    spearman_distance,
)
from sklrank.metrics._label_ranking_report import label_ranking_report
from sklrank.metrics._noise_measures import alpha_inconsistency, beta_tau_gap
from sklrank.metrics._pair_probabilities import pair_brier_score
from sklrank.metrics._paired_test import paired_test
from sklrank.metrics._pairwise_loss import hinge_rank_loss, logistic_rank_loss, rank_loss
from sklrank.metrics._precision import (
    precision_at_k_score,
    rank_biased_precision_score,
    recall_at_k_score,
)
from sklrank.metrics._reject import coverage_score, reject_loss, selective_accuracy_score
from sklrank.metrics._scorers import (
    average_precision_scorer,
    expected_reciprocal_rank_scorer,
    hinge_rank_loss_scorer,
    hit_rate_scorer,
    kendall_tau_distance_scorer,
    kendall_tau_scorer,
    logistic_rank_loss_scorer,
    ndcg_scorer,
    precision_at_k_scorer,
    rank_biased_precision_scorer,
    rank_loss_scorer,
    recall_at_k_scorer,
    reciprocal_rank_scorer,
    spearman_distance_scorer,
)

__all__ = [
    "alpha_inconsistency",
    "average_precision_score",
    "average_precision_scorer",
    "beta_tau_gap",
    "coverage_score",
    "dcg_score",
    "expected_reciprocal_rank_score",
    "expected_reciprocal_rank_scorer",
    "hinge_rank_loss",
    "hinge_rank_loss_scorer",
    "hit_rate_score",
    "hit_rate_scorer",
    "kendall_tau_distance",
    "kendall_tau_distance_scorer",
    "kendall_tau_score",
    "kendall_tau_scorer",
    "label_ranking_report",
    "logistic_rank_loss",
    "logistic_rank_loss_scorer",
    "ndcg_score",
    "ndcg_scorer",
    "pair_brier_score",
    "paired_test",
    "precision_at_k_score",
    "precision_at_k_scorer",
    "rank_biased_precision_score",
    "rank_biased_precision_scorer",
    "rank_loss",
    "rank_loss_scorer",
    "recall_at_k_score",
    "recall_at_k_scorer",
    "reciprocal_rank_score",
    "reciprocal_rank_scorer",
    "reject_loss",
    "selective_accuracy_score",
    "spearman_distance",
    "spearman_distance_scorer",
]
