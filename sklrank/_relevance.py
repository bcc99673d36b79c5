"""Checks of relevance, the target of rankers of documents or of graded labels.

*Relevance* is a number for each document of a query, in an array of shape `(n_samples,)`, or for
each label of a sample, in an array of shape `(n_samples, n_labels)`. The value 0 means not
relevant, and a higher value means more relevant. *Judgements* are relevance values for which only
the order matters. They may be any numbers, and they are NaN for documents that were not judged.
"""

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d

from sklrank._validation import as_numbers, check_finite, check_given, check_sparse

NUMBERS = "relevance, numbers of 0 or more"


def check_relevance(y, n_samples, *, judgements=False, signed=False, names=("y", "X")):
    """Check the relevance of documents; return it as float64 of shape `(n_samples,)`.

    If `judgements` is True, negative numbers and NaN are allowed; if `signed` is True, negative
    numbers. Error messages contain the `names` of the relevance and of the samples.
    """
    name, of_samples = names
    check_given(y)
    y = as_numbers(y, name, "numbers" if judgements or signed else NUMBERS)
    finite = "allow-nan" if judgements else True
    y = check_array(y, ensure_2d=False, ensure_all_finite=finite, input_name=name)
    y = column_or_1d(y, warn=True)
    if len(y) != n_samples:
        raise ValueError(
            f"{name} must have a value for each of the {n_samples} rows of {of_samples}, "
            f"got {len(y)}"
        )
    if np.isnan(y).all():
        raise ValueError(
            "y is NaN for all samples: nothing is judged; pass the relevance of some documents"
        )
    if not (judgements or signed):
        _check_not_negative(y, name)
    return y


def check_label_relevance(y, n_samples):
    """Check the relevance of labels; return it as float64 of shape `(n_samples, n_labels)`."""
    check_given(y)
    check_sparse(y, "y")
    y = as_numbers(y.toarray() if sparse.issparse(y) else y, "y", NUMBERS)
    if y.ndim != 2:
        raise ValueError(
            "y must be the relevance of labels, of shape (n_samples, n_labels); got the shape "
            f"{y.shape}. Reshape y: y.reshape(-1, 1) is one label; class labels are for "
            "PredtronClassifier"
        )
    y = check_array(y, input_name="y")
    if len(y) != n_samples:
        raise ValueError(f"y has {len(y)} rows and X has {n_samples}")
    _check_not_negative(y)
    return y


def check_relevance_of_metric(y_true):
    """Check that the relevance of documents or labels is finite; return it as a float64 array."""
    remedy = "leave out documents of unknown relevance"
    return check_finite(y_true, "y_true", "relevance", remedy)


def check_something_to_learn(y, queries, part="given", *, names=("y", "qid")):
    """Raise a ValueError if no query has documents of different relevance.

    The message calls the samples "the samples {part}", and contains the `names` of the relevance
    and of the query ids.
    """
    name, of_queries = names
    grouped = y[queries.order]
    first = queries.starts[:-1]
    if (np.maximum.reduceat(grouped, first) == np.minimum.reduceat(grouped, first)).all():
        raise ValueError(
            f"{name} has no query with documents of different relevance in the samples {part}: "
            f"there is nothing to learn from n_samples={len(y)} in {queries.n_queries} queries; "
            f"check {name}, and {of_queries}, which must be the same for the documents of a query"
        )


def _check_not_negative(y, name="y"):
    if y.min() < 0:
        raise ValueError(f"{name} must be relevance, 0 or more; got {y.min():g}")
