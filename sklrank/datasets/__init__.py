"""Data sets: readers of benchmark files, downloads, synthetic data and streams.

For multilabel ranking, :func:`load_arff_multilabel` and, with very many labels,
:func:`load_extreme_multilabel` read files, :func:`fetch_multilabel` downloads benchmark data sets,
and :func:`make_multilabel_ranking_stream` generates streams with concept drift.

For label ranking, :func:`load_preflib` reads votes, :func:`make_sparse_label_ranking`,
:func:`sample_mallows` and :func:`sample_plackett_luce` draw rankings,
:func:`label_ranking_from_classification` and :func:`label_ranking_from_regression` convert other
data, :func:`hide_labels` makes rankings incomplete, and :func:`tie_labels` makes them partial. All
rankings are positions: a smaller one is better, and NaN marks a label that is not ranked.

For document ranking, :func:`load_letor` reads files of relevance grades, features and query ids,
:func:`make_recommender` draws users who rated few items, with the scores of a collaborative filter,
:func:`make_subset_ranking` draws queries whose documents are ranked perfectly by a linear score,
and :func:`make_clicks` simulates the clicks of users on ranked documents.

For bandits, :func:`load_vowpal_wabbit` reads logs of actions, costs and probabilities.
"""

from sklrank.datasets._arff import load_arff_multilabel
from sklrank.datasets._clicks import make_clicks
from sklrank.datasets._conversions import (
    label_ranking_from_classification,
    label_ranking_from_regression,
)
from sklrank.datasets._extreme import load_extreme_multilabel
from sklrank.datasets._fetch import fetch_multilabel
from sklrank.datasets._incomplete import hide_labels, tie_labels
from sklrank.datasets._letor import load_letor
from sklrank.datasets._preflib import load_preflib
from sklrank.datasets._ranking_noise import sample_mallows, sample_plackett_luce
from sklrank.datasets._recommender import make_recommender
from sklrank.datasets._sparse_label_ranking import make_sparse_label_ranking
from sklrank.datasets._streams import make_multilabel_ranking_stream
from sklrank.datasets._subset_ranking import make_subset_ranking
from sklrank.datasets._vowpal_wabbit import load_vowpal_wabbit

__all__ = [
    "fetch_multilabel",
    "hide_labels",
    "label_ranking_from_classification",
    "label_ranking_from_regression",
    "load_arff_multilabel",
    "load_extreme_multilabel",
    "load_letor",
    "load_preflib",
    "load_vowpal_wabbit",
    "make_clicks",
    "make_multilabel_ranking_stream",
    "make_recommender",
    "make_sparse_label_ranking",
    "make_subset_ranking",
    "sample_mallows",
    "sample_plackett_luce",
    "tie_labels",
]
