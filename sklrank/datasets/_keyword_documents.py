"""Synthetic documents whose classes have keywords: the data sets SynSep and SynNonSep."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from sklrank._validation import check_random_state, check_scalar

__all__ = ["make_keyword_documents"]

# A class has from MIN_KEYWORDS to MAX_KEYWORDS keywords. A document lacks N_MISSING of the keywords
# of its class, and it contains N_OTHERS words that are not keywords.
MIN_KEYWORDS, MAX_KEYWORDS = 20, 40
N_MISSING = 5
N_OTHERS = 20
# Documents are drawn in blocks, so that temporary arrays are small compared with the result.
BLOCK_SIZE = 4096


def make_keyword_documents(
    n_samples: int = 10_000,
    n_features: int = 400,
    n_classes: int = 9,
    *,
    n_keywords: int = 120,
    label_noise: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[sparse.csr_array, np.ndarray]:
    r"""Generate bags of words: the data sets SynSep and SynNonSep of the Banditron paper.

    For each class, 20 to 40 of the first `n_keywords` words are drawn as keywords. Classes may have
    keywords in common. The class of a document is drawn uniformly. The document contains all but 5
    of the keywords of its class, and 20 of the words that cannot be keywords. Each label is
    replaced with probability `label_noise` by a label drawn uniformly from all classes.

    The default parameters generate SynSep, and ``label_noise=0.05`` generates SynNonSep [1]_. The
    paper uses a million documents. Without noise, a linear model can classify all documents
    correctly if any two classes differ in more than ten keywords: let the 0/1 vector :math:`v_k`
    mark the keywords of class k; then the score

    .. math:: 2 \langle v_k, x \rangle - |v_k|

    is largest for the class of the document x.

    Parameters
    ----------
    n_samples : int, default=10_000
        Number of documents.
    n_features : int, default=400
        Number of words in the vocabulary, at least 20 more than `n_keywords`.
    n_classes : int, default=9
        Number of classes, at least 2.
    n_keywords : int, default=120
        Number of words that may be keywords, at least 40. They are the first words.
    label_noise : float, default=0.0
        Probability, from 0 to 1, that the label of a document is replaced by a random label.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of keywords, words and labels. Pass an int for reproducible
        output.

    Returns
    -------
    X : csr_array of shape (n_samples, n_features), float64
        Documents. Entries are 1 for the words that a document contains, otherwise 0.
    y : ndarray of shape (n_samples,), int64
        Classes of the documents, from 0 to ``n_classes - 1``.

    Raises
    ------
    TypeError or ValueError
        If a parameter has the wrong type or is out of its range.

    See Also
    --------
    sklrank.linear_model.BanditronClassifier : Learns such data from bandit feedback.

    References
    ----------
    .. [1] S. M. Kakade, S. Shalev-Shwartz and A. Tewari, "Efficient bandit algorithms for online
       multiclass prediction", ICML 2008.

    Examples
    --------
    >>> from sklrank.datasets import make_keyword_documents
    >>> X, y = make_keyword_documents(1000, random_state=0)
    >>> X.shape, len(set(y.tolist()))
    ((1000, 400), 9)
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    check_scalar(n_classes, "n_classes", Integral, min_val=2)
    check_scalar(n_keywords, "n_keywords", Integral, min_val=MAX_KEYWORDS)
    check_scalar(n_features, "n_features", Integral, min_val=n_keywords + N_OTHERS)
    check_scalar(label_noise, "label_noise", Real, min_val=0, max_val=1)

    random = check_random_state(random_state)
    is_keyword = np.zeros((n_classes, n_keywords), dtype=bool)
    for keywords in is_keyword:
        n_own = random.randint(MIN_KEYWORDS, MAX_KEYWORDS + 1)
        keywords[random.choice(n_keywords, n_own, replace=False)] = True

    y = random.randint(n_classes, size=n_samples)
    blocks = []
    for block in gen_batches(n_samples, BLOCK_SIZE):
        own = is_keyword[y[block]]
        missing = _draw_each(random, own, N_MISSING)
        others = _draw_each(
            random, np.ones((len(own), n_features - n_keywords), dtype=bool), N_OTHERS
        )
        blocks.append(sparse.csr_array(np.hstack([own & ~missing, others]).astype(np.float64)))
    X = sparse.vstack(blocks, format="csr")

    noisy = random.random_sample(n_samples) < label_noise
    y[noisy] = random.randint(n_classes, size=noisy.sum())
    return X, y


def _draw_each(random, allowed, n_drawn):
    """Draw `n_drawn` of the allowed entries of each row; return a mask of the drawn entries."""
    order = np.where(allowed, random.random_sample(allowed.shape), 2.0)
    drawn = np.zeros_like(allowed)
    np.put_along_axis(drawn, np.argpartition(order, n_drawn - 1)[:, :n_drawn], True, axis=1)
    return drawn
