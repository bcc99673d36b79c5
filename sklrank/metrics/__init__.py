"""Ranking losses and scores, and scorers for scikit-learn's tools.

If the target is the set of *relevant labels*, each loss is a sum over pairs of a relevant and an
irrelevant label; the relevant label should have the higher score. The losses differ in the cost of
a pair as a function of the difference between its two scores:

- :func:`rank_loss`: the cost is 1 if the irrelevant label has the higher score;
- :func:`hinge_rank_loss`: the cost increases linearly if the difference is below a margin of 1;
- :func:`logistic_rank_loss`: the cost is a smooth approximation of the hinge loss.

The target is either a 0/1 indicator matrix (multilabel) or an array of class labels (multiclass,
with one relevant label for each sample).

:func:`precision_at_k_score` and :func:`ndcg_score` below accept an indicator matrix too, in which
each sample is a query. :func:`propensity_scored_precision_at_k_score` is the precision at k with
larger weights of rare labels, by the propensities of :func:`label_propensities`.

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
- :func:`reciprocal_rank_score`: the reciprocal rank of the first relevant document.

For classifiers with a reject option, :func:`reject_loss` is the cost of errors and rejections.

The scorers are meant for the ``scoring`` parameter of scikit-learn's tools; losses and distances
are negated. The scorers for relevant labels (such as ``rank_loss_scorer``) use
``decision_function`` or ``predict_proba``. The scorers for rankings (such as
``kendall_tau_scorer``) use ``predict_ranks``, or a ``predict`` that returns positions. The scorers
for documents (such as ``ndcg_scorer``) use ``predict`` and obtain ``qid`` by metadata routing; see
the example of :class:`~sklrank.model_selection.QueryKFold`. To set parameters of the metrics, use a
copy, since the scorers are shared objects: ``clone(kendall_tau_scorer).set_params(variant="b")``,
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

from sklrank.metrics import _documents, _label_ranking, _multilabel, _pairwise_loss, _reject
from sklrank.metrics._documents import *
from sklrank.metrics._label_ranking import *
from sklrank.metrics._multilabel import *
from sklrank.metrics._pairwise_loss import *
from sklrank.metrics._reject import *

_MODULES = (_documents, _label_ranking, _multilabel, _pairwise_loss, _reject)
__all__ = sorted(name for module in _MODULES for name in module.__all__)
