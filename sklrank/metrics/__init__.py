"""How far a ranking of labels is from the truth, and scorers that tell grid search.

Where the truth is which labels are *relevant*, a loss looks at pairs: a relevant label should be
scored above an irrelevant one. The three losses differ in what a pair costs, as a function of the
gap between its scores:

- :func:`rank_loss`: 1 if the irrelevant label is above, whatever the gap;
- :func:`hinge_rank_loss`: grows linearly as soon as the relevant label leads by less than 1;
- :func:`logistic_rank_loss`: the smooth form of the hinge.

Labels come as a 0/1 indicator (multilabel) or as class labels (multiclass: one relevant label a
row).

Where the truth is a *ranking*, both it and the prediction are positions: smaller is better, NaN
marks a label that is not ranked, equal numbers a tie, and only the order counts:

- :func:`kendall_tau_score`: pairs of labels in the right order less those in the wrong one, from
  -1 to 1;
- :func:`kendall_tau_distance`: the number of pairs in the wrong order;
- :func:`spearman_distance`: the sum of squared differences between positions.

Where the truth is the *graded relevance* of documents, those of a query are ranked against each
other, and ``qid`` says which rows these are:

- :func:`ndcg_score`, :func:`dcg_score`: the gain of the documents, discounted by rank;
- :func:`average_precision_score`: the precision at the places of the relevant ones.

Where a classifier may decline to decide, :func:`reject_loss` counts mistakes and rejections,
:func:`coverage_score` the rows decided, :func:`selective_accuracy_score` how many of these are
right.

The scorers are for the ``scoring`` parameter of scikit-learn's tools; losses and distances are
negated there. Those of relevant labels (``rank_loss_scorer`` and so on) ask an estimator for
``decision_function`` or ``predict_proba``; those of rankings (``kendall_tau_scorer`` and so on) for
``predict_ranks``, else for a ``predict`` that returns positions. For other parameters than the
default use scikit-learn's own, ``make_scorer(kendall_tau_score, variant="gamma")``.

``ndcg_scorer`` and ``average_precision_scorer`` ask for ``predict`` and, by metadata routing, for
``qid``; :class:`~sklrank.model_selection.QueryKFold` has an example. They take the parameters of
their metric on a copy, since a scorer is shared by all who import it:
``clone(ndcg_scorer).set_params(k=10, convention="letor")``. For weighted scores, too, request the
weights on a copy: ``clone(rank_loss_scorer).set_score_request(sample_weight=True)``.

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

Any regressor of positions ranks labels. Here they rank the measures of a flower by its species:

>>> from scipy.stats import rankdata
>>> from sklearn.linear_model import Ridge
>>> from sklearn.model_selection import KFold
>>> from sklrank.metrics import kendall_tau_scorer
>>> rankings = rankdata(-(X - X.mean(axis=0)) / X.std(axis=0), axis=1)
>>> folds = KFold(3, shuffle=True, random_state=0)
>>> cross_val_score(Ridge(), X, rankings, scoring=kendall_tau_scorer, cv=folds).round(2)
array([0.95, 0.85, 0.93])
"""

from sklrank.metrics._document_ranking import average_precision_score, dcg_score, ndcg_score
from sklrank.metrics._document_scorer import average_precision_scorer, ndcg_scorer
from sklrank.metrics._label_ranking import (
    kendall_tau_distance,
    kendall_tau_score,
    spearman_distance,
)
from sklrank.metrics._pairwise_loss import hinge_rank_loss, logistic_rank_loss, rank_loss
from sklrank.metrics._reject import coverage_score, reject_loss, selective_accuracy_score
from sklrank.metrics._scorer import (
    hinge_rank_loss_scorer,
    kendall_tau_distance_scorer,
    kendall_tau_scorer,
    logistic_rank_loss_scorer,
    rank_loss_scorer,
    spearman_distance_scorer,
)

__all__ = [
    "average_precision_score",
    "average_precision_scorer",
    "coverage_score",
    "dcg_score",
    "hinge_rank_loss",
    "hinge_rank_loss_scorer",
    "kendall_tau_distance",
    "kendall_tau_distance_scorer",
    "kendall_tau_score",
    "kendall_tau_scorer",
    "logistic_rank_loss",
    "logistic_rank_loss_scorer",
    "ndcg_score",
    "ndcg_scorer",
    "rank_loss",
    "rank_loss_scorer",
    "reject_loss",
    "selective_accuracy_score",
    "spearman_distance",
    "spearman_distance_scorer",
]
