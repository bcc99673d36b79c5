# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The rounds of online boosting: the one loop behind every algorithm of this subpackage.

A round follows Algorithm 1 of Jung & Tewari (2018), which is the template of Raman et al. (2020)
too. For the row x, learner i votes h_i, a distribution over the labels; expert j scores the labels
by s_j = alpha_1 h_1 + ... + alpha_j h_j. Then, from the pairs (relevant, irrelevant) that a source
(see _pair_sources) reveals of the row,

- learner i is taught with the costs c of a vote given s_{i-1} (a cost rule, see _costs): each
  relevant label l that is known with the importance weight max(c) - c[l];
- where the rule learns weights, alpha_i takes a step of rate / sqrt(t) down the gradient
  c(s_i) . h_i, projected on [-2, 2] (Algorithm 3, line 9; Algorithm 3, line 13 of Raman et al.);
- where an expert is drawn by Hedge, the logarithm of its weight falls by its rank loss (Algorithm
  3, line 13; Algorithm 3, line 14 of Raman et al.).

The algorithms that comments name are those of Jung & Tewari.

Once the votes are in, one learner's feedback does not depend on another's: both phases of a round,
voting and teaching, are shared out over threads, a block of learners each. The loop runs without
the GIL; a learner written in Python takes it for itself.
"""

from libc.math cimport exp, sqrt

import numpy as np

from sklrank._online_learner cimport LabelFeedback, OnlineLearner
from sklrank.feedback._sampler cimport TopKSampler
from sklrank.online_boosting._costs cimport COST_SCRATCH, CostRule, Pairs, rank_loss
from sklrank.online_boosting._pair_sources cimport PairSource
from sklrank.online_boosting._thread_team cimport ThreadTeam

cdef enum Phase:
    VOTE = 0            # the learners vote, and will be taught
    VOTE_ONLY = 1       # they vote, and nothing more comes of the row
    TEACH = 2

cdef enum:
    # What a thread writes into while it teaches, in vectors (n_labels,): the costs, the weights of
    # the feedback, and the scratch of the rule.
    COSTS = 0
    LABEL_WEIGHTS = 1
    RULE_SCRATCH = 2
    N_VECTORS = RULE_SCRATCH + COST_SCRATCH

cdef double MAX_LEARNER_WEIGHT = 2.0


cdef class Rounds(ThreadTeam):
    """Plays rounds with weak learners; what outlives a call lives in them and in the arguments.

    Parameters
    ----------
    learners : list of OnlineLearner
        The weak learners, all of them for the same labels.
    columns : list of ndarray of shape (n_features_i,), dtype intp
        The columns of a row that each learner sees.
    rule : CostRule
        How votes are priced.
    n_threads : int
        Threads that share the learners.
    n_rounds : int
        Rounds that they have played before.
    tie_loss : float
        What a pair of equal scores costs an expert.
    """

    cdef public Py_ssize_t n_rounds
    cdef list learners
    cdef CostRule rule
    cdef Py_ssize_t n_learners, n_labels, n_columns
    cdef Py_ssize_t[::1] addresses          # of the learners, for use without the GIL
    cdef const Py_ssize_t[::1] columns      # of all learners, one after the other
    cdef Py_ssize_t[::1] starts             # (n_learners + 1,) where each learner's columns start
    # The round under way.
    cdef const double* row
    cdef double row_weight                  # its sample weight
    cdef double[::1] values                 # the row's values in those columns
    cdef double[:, ::1] votes               # (n_learners, n_labels) h_1, h_2, ...
    cdef double[:, ::1] scores              # (n_learners + 1, n_labels) s_0, s_1, ...
    cdef Pairs pairs                        # what is known of the row
    cdef double[::1] gradients              # (n_learners,) c(s_i) . h_i
    cdef double[::1] losses                 # (n_learners,) rank loss of each expert, for Hedge
    cdef bint hedge
    cdef double tie_loss
    cdef double[:, :, ::1] scratch          # (n_threads, N_VECTORS, n_labels)

    def __init__(
        self, list learners, list columns, CostRule rule, Py_ssize_t n_threads=1,
        Py_ssize_t n_rounds=0, double tie_loss=0.5,
    ):
        cdef Py_ssize_t i
        self.learners = learners
        self.n_rounds = n_rounds
        self.tie_loss = tie_loss
        self.rule = rule
        self.n_learners = len(learners)
        self.n_labels = rule.n_labels
        self.addresses = np.empty(self.n_learners, dtype=np.intp)
        for i, learner in enumerate(learners):
            if not isinstance(learner, OnlineLearner):
                raise TypeError(f"learner {i} is no OnlineLearner: {learner!r}")
            if learner.n_features != len(columns[i]) or learner.n_classes != self.n_labels:
                raise ValueError(f"learner {i} is made for other columns or labels")
            self.addresses[i] = <Py_ssize_t><void*>learner
        if self.n_learners != rule.n_learners or self.n_learners != len(columns):
            raise ValueError("learners, columns and rule differ in number")
        self.columns = np.concatenate(columns).astype(np.intp, copy=False)
        self.n_columns = np.max(self.columns) + 1
        if np.min(self.columns) < 0:
            raise ValueError("columns are counted from 0")
        self.starts = np.cumsum([0] + [len(part) for part in columns], dtype=np.intp)
        self.values = np.empty(self.columns.shape[0])
        self.votes = np.empty((self.n_learners, self.n_labels))
        self.scores = np.zeros((self.n_learners + 1, self.n_labels))
        self.gradients = np.empty(self.n_learners)
        self.losses = np.empty(self.n_learners)
        self.allocate(max(1, min(n_threads, self.n_learners)))
        self.scratch = np.empty((self.n_members, N_VECTORS, self.n_labels))

    def decide(self, const double[:, ::1] X, const double[::1] weights, Py_ssize_t n_used):
        """Scores `(n_samples, n_labels)` of the expert that sums the first `n_used` learners."""
        cdef double[:, ::1] out = np.zeros((X.shape[0], self.n_labels))
        cdef Py_ssize_t t, i, l
        self.check(X, weights)
        if not 0 <= n_used <= self.n_learners:
            raise ValueError(f"{n_used} of {self.n_learners} learners")
        with nogil:
            for t in range(X.shape[0]):
                self.row = &X[t, 0]
                self.vote(0, n_used, False)
                for i in range(n_used):
                    for l in range(self.n_labels):
                        out[t, l] += weights[i] * self.votes[i, l]
        return np.asarray(out)

    def play(
        self,
        const double[:, ::1] X,
        PairSource source,
        const double[::1] sample_weight,
        double[::1] weights,
        double[::1] log_expert_weights,
        const double[::1] draws=None,
        double[:, ::1] out=None,
    ):
        """One round for each row of `X`.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        source : PairSource
            Tells what is known of each row, once its labels are scored.
        sample_weight : ndarray of shape (n_samples,)
            Factors on the weights of a row's pairs; a row of weight zero is no round.
        weights : ndarray of shape (n_learners,)
            The alpha; changed in place where the rule learns them.
        log_expert_weights : ndarray of shape (n_learners,) or None
            Changed in place by Hedge; None: the last expert decides.
        draws : ndarray of shape (n_samples,), optional
            A number from [0, 1) for each row, which draws the expert; none: the last one.
        out : ndarray of shape (n_samples, n_labels), optional
            Where to write the scores of each row, decided before it is learnt.

        The attribute `n_rounds` counts the rounds, those played before included.
        """
        cdef Py_ssize_t t, n_samples = X.shape[0], l
        cdef const double* decision
        self.check(X, weights, log_expert_weights, draws)
        if source.n_samples != n_samples or source.n_labels != self.n_labels:
            raise ValueError("the source of pairs does not fit the rows or the labels")
        if sample_weight.shape[0] != n_samples:
            raise ValueError("sample_weight does not fit the rows")
        if out is not None and (out.shape[0], out.shape[1]) != (n_samples, self.n_labels):
            raise ValueError("out does not fit the rows and labels")
        self.hedge = log_expert_weights is not None
        with self, nogil:
            for t in range(n_samples):
                decision = self.score(VOTE, &X[t, 0], weights, log_expert_weights, draws, t)
                if out is not None:
                    for l in range(self.n_labels):
                        out[t, l] = decision[l]
                if sample_weight[t] == 0.0:
                    continue
                self.n_rounds += 1
                self.row_weight = sample_weight[t]
                if source.reveal(t, decision, sample_weight[t], &self.pairs):
                    self.rule.start_round(&self.pairs)
                    self.together(TEACH)
                    self.update(weights, log_expert_weights)

    def explore(
        self,
        const double[:, ::1] X,
        TopKSampler sampler,
        const double[:, ::1] sampler_draws,
        const double[::1] weights,
        const double[::1] log_expert_weights,
        const double[::1] draws=None,
    ):
        """Draw what to show for each row of `X`, and learn nothing.

        Returns
        -------
        actions, propensities : ndarrays of shape (n_samples, k) and (n_samples, k, k)
        """
        cdef Py_ssize_t t, n_samples = X.shape[0]
        cdef Py_ssize_t[:, ::1] actions = np.empty((n_samples, sampler.k), dtype=np.intp)
        cdef double[:, :, ::1] propensities = np.empty((n_samples, sampler.k, sampler.k))
        self.check(X, weights, log_expert_weights, draws)
        if sampler.n_labels != self.n_labels or (
            sampler_draws.shape[0], sampler_draws.shape[1]
        ) != (n_samples, sampler.n_draws):
            raise ValueError("the sampler or its draws do not fit")
        with self, nogil:
            for t in range(n_samples):
                sampler.show(
                    self.score(VOTE_ONLY, &X[t, 0], weights, log_expert_weights, draws, t),
                    &sampler_draws[t, 0], &actions[t, 0], &propensities[t, 0, 0],
                )
        return np.asarray(actions), np.asarray(propensities)

    def check(
        self, const double[:, ::1] X, const double[::1] weights,
        const double[::1] log_expert_weights=None, const double[::1] draws=None,
    ):
        """Refuse arrays that the loops would follow out of bounds."""
        if X.shape[1] < self.n_columns:
            raise ValueError(f"X has {X.shape[1]} columns; the learners see {self.n_columns}")
        if weights.shape[0] != self.n_learners:
            raise ValueError("weights do not fit the learners")
        if log_expert_weights is not None and log_expert_weights.shape[0] != self.n_learners:
            raise ValueError("log_expert_weights do not fit the learners")
        if draws is not None and (log_expert_weights is None or draws.shape[0] != X.shape[0]):
            raise ValueError("draws do not fit the rows, or there are no experts to draw")

    cdef const double* score(
        self, int phase, const double* row, const double[::1] weights,
        const double[::1] log_expert_weights, const double[::1] draws, Py_ssize_t t,
    ) except NULL nogil:
        # Algorithm 1, lines 4 to 7: votes, experts, and the scores (n_labels,) of the expert that
        # decides.
        cdef Py_ssize_t expert = self.n_learners
        self.row = row
        self.together(phase)
        self.add_votes(weights)
        if draws is not None:
            expert = 1 + drawn_expert(log_expert_weights, draws[t])
        return &self.scores[expert, 0]

    cdef int run_share(self, int phase, Py_ssize_t member) except -1 nogil:
        cdef Py_ssize_t first = self.n_learners * member // self.n_members
        cdef Py_ssize_t last = self.n_learners * (member + 1) // self.n_members
        if phase == TEACH:
            return self.teach(first, last, member)
        return self.vote(first, last, phase == VOTE)

    cdef int vote(self, Py_ssize_t first, Py_ssize_t last, bint to_learn) except -1 nogil:
        # Algorithm 1, line 4: gather the weak predictions.
        cdef Py_ssize_t i, j, best, l
        cdef double* h
        for i in range(first, last):
            for j in range(self.starts[i], self.starts[i + 1]):
                self.values[j] = self.row[self.columns[j]]
            h = &self.votes[i, 0]
            if to_learn:
                (<OnlineLearner><void*>self.addresses[i]).predict_cached(&self.values[self.starts[i]], h)
            else:
                (<OnlineLearner><void*>self.addresses[i]).predict(&self.values[self.starts[i]], h)
            if self.rule.single_label:
                # The whole vote goes to the first of the learner's favourite labels.
                best = 0
                for l in range(1, self.n_labels):
                    if h[l] > h[best]:
                        best = l
                for l in range(self.n_labels):
                    h[l] = 1.0 if l == best else 0.0
        return 0

    cdef void add_votes(self, const double[::1] weights) noexcept nogil:
        # Algorithm 1, line 5: what each expert says.
        cdef Py_ssize_t i, l
        for i in range(self.n_learners):
            for l in range(self.n_labels):
                self.scores[i + 1, l] = self.scores[i, l] + weights[i] * self.votes[i, l]

    cdef int teach(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t member) except -1 nogil:
        # Algorithm 1, lines 10 to 12: teach the learners; and find what `update` needs for lines 9
        # and 13.
        cdef double* costs = &self.scratch[member, COSTS, 0]
        cdef double* label_weights = &self.scratch[member, LABEL_WEIGHTS, 0]
        cdef double* scratch = &self.scratch[member, RULE_SCRATCH, 0]
        cdef const Pairs* pairs = &self.pairs
        cdef double greatest
        cdef LabelFeedback feedback
        cdef Py_ssize_t i, j, l
        feedback.n_labels = pairs.n_relevant
        feedback.labels = pairs.relevant
        feedback.n_irrelevant = pairs.n_irrelevant
        feedback.irrelevant = pairs.irrelevant
        feedback.weights = label_weights
        feedback.row_weight = self.row_weight
        feedback.costs = costs
        for i in range(first, last):
            if i == first or not self.rule.learns_weights:
                self.rule.costs(i, &self.scores[i, 0], pairs, costs, scratch)
            greatest = costs[0]
            for l in range(1, self.n_labels):
                greatest = max(greatest, costs[l])
            for j in range(pairs.n_relevant):
                label_weights[j] = greatest - costs[pairs.relevant[j]]
            (<OnlineLearner><void*>self.addresses[i]).learn_cached(
                &self.values[self.starts[i]], &feedback
            )
            if self.rule.learns_weights:
                # The costs at s_i: the gradient for alpha_i, and the feedback of the next learner.
                self.rule.costs(i, &self.scores[i + 1, 0], pairs, costs, scratch)
                self.gradients[i] = 0.0
                for l in range(self.n_labels):
                    self.gradients[i] += costs[l] * self.votes[i, l]
            if self.hedge:
                self.losses[i] = rank_loss(&self.scores[i + 1, 0], pairs, self.tie_loss, scratch)
        return 0

    cdef void update(
        self, double[::1] weights, double[::1] log_expert_weights
    ) noexcept nogil:
        # Algorithm 3, lines 9 and 13: step the weights of the learners and of the experts.
        cdef double gradient, weight, clip = self.rule.gradient_clip
        cdef double step = self.rule.learning_rate / sqrt(<double>self.n_rounds)
        cdef Py_ssize_t i
        for i in range(self.n_learners):
            if self.rule.learns_weights:
                gradient = min(max(self.gradients[i], -clip), clip)
                weight = weights[i] - step * gradient
                weights[i] = min(max(weight, -MAX_LEARNER_WEIGHT), MAX_LEARNER_WEIGHT)
            if self.hedge:
                log_expert_weights[i] -= self.losses[i]


cdef Py_ssize_t drawn_expert(const double[::1] log_weights, double draw) noexcept nogil:
    # Algorithm 3, line 6: expert i with probability proportional to exp(log_weights[i]).
    cdef double greatest = log_weights[0], total = 0.0
    cdef Py_ssize_t i
    for i in range(1, log_weights.shape[0]):
        greatest = max(greatest, log_weights[i])
    for i in range(log_weights.shape[0]):
        total += exp(log_weights[i] - greatest)
    draw *= total
    for i in range(log_weights.shape[0]):
        draw -= exp(log_weights[i] - greatest)
        if draw < 0.0:
            return i
    return log_weights.shape[0] - 1
