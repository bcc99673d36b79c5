"""Data to learn from: readers of benchmark files, downloads and synthetic streams."""

from sklrank.datasets._arff import load_arff_multilabel
from sklrank.datasets._fetch import fetch_multilabel
from sklrank.datasets._streams import make_multilabel_ranking_stream

__all__ = ["fetch_multilabel", "load_arff_multilabel", "make_multilabel_ranking_stream"]
