# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Base class of the online linear learners.

A learner has a feature map, which computes the features f of a sample, and one or more models with
different parameters, such as different penalties. Model k has the weights W_k. The votes are
computed from the mean of the predictions W_k'f, in which model k has the share p_k. The shares are
those of Bayesian model averaging: p_k is proportional to the likelihood of all samples so far, each
of which was predicted by model k before model k learned it. Thus the parameter need not be known,
and the prediction follows the best model after a few samples. A model whose share is negligible
after 1000 samples is dropped, to save time. An earlier decision would be rash: the model that
learns fastest at first is often not the best one later.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc

import numpy as np

from sklrank._compiled.rows cimport Rows
from sklrank._compiled.state cimport Archive
from sklrank._online.learner cimport softmax

from sklrank._compiled import shared_call


# Models are dropped if, after MIN_SAMPLES samples, their share is less than exp(LOG_NEGLIGIBLE),
# about 1e-12, of the largest one.
cdef double LOG_NEGLIGIBLE = -27.6
cdef Py_ssize_t MIN_SAMPLES = 1000


cdef class LinearLearner(OnlineLearner):
    """Base class of the learners.

    A subclass has the weights of the models: it overrides `add_predictions`, `weights_of_models`
    and `learn_cached`, and `vote` if necessary. Its constructor calls `create`. `learn_cached`
    updates the weights and the feature map by the sample of the last call of `predict_models`, and
    may overwrite `model_predictions`.
    """

    cdef void create(self, FeatureMap feature_map, Py_ssize_t n_models, Py_ssize_t n_classes):
        self.feature_map, self.log_shares = feature_map, np.zeros(n_models)
        self.n_classes = n_classes

    cdef int exchange(self, Archive archive) except -1:
        cdef LinearLearner saved = archive.source
        self.feature_map = archive.part("feature_map", saved.feature_map, FeatureMap)
        self.log_shares = archive.floats("log_shares", saved.log_shares, (-1,))
        self.n_models, self.n_features = self.log_shares.shape[0], self.feature_map.n_features
        cdef Py_ssize_t n_indices
        self.n_classes = archive.label_count("n_classes", saved.n_classes)
        self.n_compared = archive.count("n_compared", saved.n_compared)
        archive.require(self.n_models > 0, "there are no models")
        self.reads_sparse = True
        if archive.loads:
            self.shares = np.empty(self.n_models)
            self.model_predictions = np.empty((self.n_models, self.n_classes))
            self.memory = np.empty(self.feature_map.memory_size(NULL, &n_indices))
            self.indices = np.empty(n_indices, dtype=np.intc)
            softmax(&self.log_shares[0], self.n_models, &self.shares[0])
        return 0

    cdef list locked_parts(self):
        return [self.feature_map] if self.is_ready else None

    cdef int predict(self, const Row* x, double* votes) except -1 nogil:
        self.predict_mean(x, votes)
        self.vote(votes)
        return 0

    cdef int predict_mean(self, const Row* x, double* predictions) except -1 nogil:
        # Each call allocates memory of its own, so that threads can share a fitted model.
        cdef Py_ssize_t n_indices, i, size = self.n_models * self.n_classes
        cdef Py_ssize_t n = self.feature_map.memory_size(x, &n_indices)
        cdef double* memory = <double*>malloc((n + size) * sizeof(double) + n_indices * sizeof(int))
        cdef Row features
        if memory == NULL:
            with gil:
                raise MemoryError
        self.feature_map.transform(x, &features, memory + size, <int*>(memory + n + size))
        for i in range(size):
            memory[i] = 0.0
        self.add_predictions(&features, memory)
        self.average(memory, predictions)
        free(memory)
        return 0

    cdef int learn(self, const Row* x, const LabelFeedback* feedback) except -1 nogil:
        self.predict_models(x)
        return self.learn_cached(x, feedback)

    cdef int predict_cached(self, const Row* x, double* votes) except -1 nogil:
        self.predict_models(x)
        self.average(&self.model_predictions[0, 0], votes)
        self.vote(votes)
        return 0

    cdef void predict_models(self, const Row* x) noexcept nogil:
        cdef Py_ssize_t i
        cdef double* predictions = &self.model_predictions[0, 0]
        self.feature_map.transform(x, &self.features, &self.memory[0], &self.indices[0])
        for i in range(self.n_models * self.n_classes):
            predictions[i] = 0.0
        self.add_predictions(&self.features, predictions)

    cdef void add_predictions(
        self, const Row* features, double* model_predictions
    ) noexcept nogil:
        pass

    cdef object weights_of_models(self):
        pass

    cdef void average(self, const double* model_predictions, double* predictions) noexcept nogil:
        cdef Py_ssize_t k, l
        cdef double share
        for l in range(self.n_classes):
            predictions[l] = self.shares[0] * model_predictions[l]
        for k in range(1, self.n_models):
            share = self.shares[k]
            model_predictions += self.n_classes
            for l in range(self.n_classes):
                predictions[l] += share * model_predictions[l]

    cdef void update_shares(self) noexcept nogil:
        cdef double greatest = self.log_shares[0]
        cdef Py_ssize_t k
        self.n_compared += 1
        if self.n_compared >= MIN_SAMPLES:
            for k in range(1, self.n_models):
                greatest = max(greatest, self.log_shares[k])
            for k in range(self.n_models):
                if self.log_shares[k] < greatest + LOG_NEGLIGIBLE:
                    self.log_shares[k] = -INFINITY
        softmax(&self.log_shares[0], self.n_models, &self.shares[0])

    cdef void vote(self, double* predictions) noexcept nogil:
        normalize(predictions, self.n_classes)

    # These methods and attributes read arrays that change when a booster learns in another thread.

    @shared_call
    def score_rows(self, X):
        """Return the scores `(n_samples, n_classes)` of the samples, linear in their features."""
        cdef Rows rows = self.rows_of(X)
        cdef double[:, ::1] scores = np.empty((rows.n_rows, self.n_classes))
        cdef Row x
        cdef Py_ssize_t i
        with nogil:
            for i in range(rows.n_rows):
                rows.read(i, &x)
                self.predict_mean(&x, &scores[i, 0])
        return np.asarray(scores)

    @shared_call
    def copy_shares(self):
        """Return a copy of the shares `(n_models,)` of the models in the mean."""
        self.require_ready()
        return np.array(self.shares)

    @property
    def weight_table(self):
        """Mean weights of the models `(n_outputs, n_classes)`, intercepts in the last row.

        The value of the last feature is the `intercept` of the feature map.
        """
        self.require_ready()
        self.begin_shared()
        try:
            return np.tensordot(self.shares, self.weights_of_models(), axes=1)
        finally:
            self.end_shared()


cdef void normalize(double* votes, Py_ssize_t n) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t l
    for l in range(n):
        total += votes[l]
    for l in range(n):
        votes[l] = votes[l] / total if total > 0.0 else 1.0 / n
