"""Ranking losses and scores, and scorers for scikit-learn's tools.

- Of *relevant labels*, an indicator matrix or classes: :func:`rank_loss`, :func:`hinge_rank_loss`,
  :func:`logistic_rank_loss`, :func:`propensity_scored_precision_at_k_score`, and the metrics of
  documents, for which each row is a query.
- Of *rankings* of labels, positions: :func:`kendall_tau_score`, :func:`kendall_tau_distance`,
  :func:`spearman_distance`, :func:`pair_brier_score`, :func:`alpha_inconsistency`,
  :func:`beta_tau_gap`.
- Of the *graded relevance* of documents, by query: :func:`ndcg_score`, :func:`dcg_score`,
  :func:`average_precision_score`, :func:`precision_at_k_score`, :func:`recall_at_k_score`,
  :func:`hit_rate_score`, :func:`reciprocal_rank_score`.
- Of classes with a reject option: :func:`reject_loss`.

Scorers are values of the parameter ``scoring`` of scikit-learn's tools; losses and distances are
negated. Those of relevant labels (``rank_loss_scorer``) use ``decision_function`` or
``predict_proba``; those of rankings (``kendall_tau_scorer``) ``predict_ranks``, or a ``predict``
that returns positions; those of documents (``ndcg_scorer``) ``predict``, and ``qid`` by metadata
routing; see :class:`~sklrank.model_selection.QueryKFold`. To set parameters of the metrics, or to
use sample weights, use a copy: ``clone(ndcg_scorer).set_params(k=10, convention="letor")``,
``clone(rank_loss_scorer).set_score_request(sample_weight=True)``.

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
"""

from sklrank.metrics import _documents, _label_ranking, _multilabel, _pairwise_loss, _reject
from sklrank.metrics._documents import *
from sklrank.metrics._label_ranking import *
from sklrank.metrics._multilabel import *
from sklrank.metrics._pairwise_loss import *
from sklrank.metrics._reject import *

_MODULES = (_documents, _label_ranking, _multilabel, _pairwise_loss, _reject)
__all__ = sorted(name for module in _MODULES for name in module.__all__)
