"""Generate bags of words: the data sets SynSep and SynNonSep of the Banditron paper."""

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state, gen_batches

# A class has from MIN_KEYWORDS to MAX_KEYWORDS keywords. A document lacks N_MISSING of the keywords
# of its class, and it contains N_OTHERS words that are not keywords.
MIN_KEYWORDS, MAX_KEYWORDS = 20, 40
N_MISSING = 5
N_OTHERS = 20
# Documents are drawn in blocks, so that temporary arrays are small compared with the result.
BLOCK_SIZE = 4096


def make_keyword_documents(
    n_samples=10_000,
    n_features=400,
    n_classes=9,
    *,
    n_keywords=120,
    label_noise=0.0,
    random_state=None,
):
    """Return documents, a CSR array of 0 and 1, and their classes.

    For each class, 20 to 40 of the first `n_keywords` words are drawn as keywords. The document of
    a class, which is drawn uniformly, contains all but 5 of its keywords, and 20 of the words that
    cannot be keywords. Each label is replaced with probability `label_noise` by one drawn uniformly
    from all classes. SynSep has no noise, and SynNonSep noise 0.05.
    """
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
