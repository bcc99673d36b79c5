# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The rounds of online boosting: the loop that all algorithms of this subpackage share.

A round follows Algorithm 1 of Jung & Tewari (2018), which is also the template of the algorithms of
Raman et al. (2020). The vote h_i of learner i for the sample x is a distribution over the labels.
Expert j scores the labels by s_j = alpha_1 h_1 + ... + alpha_j h_j. Then the feedback (see
`_pair_feedback`) reveals pairs of a relevant and an irrelevant label, and the model is updated:

- Learner i learns from the costs c of a vote given s_{i-1} (see `_costs`): each known relevant
  label l has the importance weight max(c) - c[l].
- If the cost rule learns weights, it updates alpha_i by the gradient c(s_i) . h_i (Algorithm 3,
  line 9).
- If Hedge chooses the expert, the log weight of each expert decreases by its loss (Algorithm 3,
  line 13; Algorithm 3, line 14 of Raman et al.).

Comments that name an algorithm refer to Jung & Tewari, unless they name other authors.

Once the votes are known, the updates of the learners do not depend on each other. In both phases of
a round, voting and learning, each thread works on a block of consecutive learners. The loop runs
without the GIL; a learner written in Python acquires it for its own calls.
"""

import numpy as np

from sklrank._compiled.rows cimport Row, Rows, find_column, first_largest, select_entries
from sklrank._compiled.state cimport Archive, Persistent
from sklrank._compiled.thread_team cimport ThreadTeam
from sklrank._online.learner cimport LabelFeedback, OnlineLearner, softmax
from sklrank.online_boosting._costs cimport COST_SCRATCH, CostRule, LabelPairs
from sklrank.online_boosting._pair_feedback cimport PairFeedback

cdef enum Phase:
    VOTE = 0            # the learners vote, and may cache results for learning the sample
    LEARN = 1           # the learners learn the sample

cdef enum:
    # Positions of the vectors (n_labels,) in the working memory of a thread in the phase LEARN: the
    # costs, the importance weights, and the scratch memory of the rule.
    COSTS = 0
    LABEL_WEIGHTS = 1
    RULE_SCRATCH = 2
    N_VECTORS = RULE_SCRATCH + COST_SCRATCH


cdef class RoundCounter(Persistent):
    """Number of rounds of a model. A handler of signals may save a model before `play` returns."""

    cdef readonly Py_ssize_t n_rounds
    cdef readonly bint is_in_round          # whether some learners may have learned the last sample

    def __init__(self):
        self.start()

    cdef int exchange(self, Archive archive) except -1:
        cdef RoundCounter saved = archive.source
        self.n_rounds = archive.count("n_rounds", saved.n_rounds)
        self.is_in_round = archive.flag("is_in_round", saved.is_in_round)
        return 0

    _merge_rules = {"n_rounds": "total", "is_in_round": "first"}


cdef class Rounds(ThreadTeam):
    """The loop over the rounds of a booster.

    The state of a model is stored in the learners and in the arguments of the methods. This object
    stores only working memory. `columns` are those of X that each learner uses, in increasing
    order.
    """

    cdef RoundCounter counter
    cdef list learners
    cdef CostRule rule
    cdef Py_ssize_t n_learners, n_labels, n_columns
    cdef Py_ssize_t[::1] addresses          # addresses of the learners, used without the GIL
    cdef list columns                       # arrays of the columns of each learner
    cdef Py_ssize_t[::1] column_addresses   # addresses of their entries; 0 if they are 0, 1, ...
    cdef Py_ssize_t[::1] starts             # (n_learners + 1,) sums of the numbers of columns
    # The current round.
    cdef Row x                              # the sample
    cdef double sample_weight
    cdef char[::1] seen_memory
    cdef Row* seen                          # (n_learners,) the sample in the columns of a learner
    cdef double[::1] values                 # memory of these rows, at `starts`
    cdef int[::1] indices                   # the same
    cdef double[:, ::1] votes               # (n_learners, n_labels) h_1, h_2, ...
    cdef double[:, ::1] scores              # (n_learners + 1, n_labels) s_0, s_1, ...
    cdef LabelPairs pairs                   # the known pairs of labels
    cdef double[::1] gradients              # (n_learners,) c(s_i) . h_i
    cdef double[::1] losses                 # (n_learners,) loss of each expert, for Hedge
    cdef double[::1] chances                # (n_learners,) Pr[expert i is drawn], for Hedge
    cdef double[:, ::1] edge_sums           # (2, n_learners), see `play`
    cdef bint hedge
    cdef double[:, :, ::1] scratch          # (n_threads, N_VECTORS, n_labels)

    def __init__(
        self, list learners not None, list columns not None, CostRule rule not None,
        RoundCounter counter not None, Py_ssize_t n_threads=1,
    ):
        cdef Py_ssize_t i
        rule.require_ready()
        counter.require_ready()
        self.allocate(max(1, min(n_threads, len(learners))))
        self.learners = list(learners)
        self.counter = counter
        self.rule = rule
        self.n_labels = rule.n_labels
        self.addresses = np.empty(len(learners), dtype=np.intp)
        for i, learner in enumerate(self.learners):
            if not isinstance(learner, OnlineLearner):
                raise TypeError(f"learner {i} is not an OnlineLearner: {learner!r}")
            (<OnlineLearner>learner).require_ready()
            if learner.n_features != len(columns[i]) or learner.n_classes != self.n_labels:
                raise ValueError(f"learner {i} has other numbers of features or labels")
            self.addresses[i] = <Py_ssize_t><void*>learner
        if not rule.n_learners == len(learners) == len(columns):
            raise ValueError("learners, columns and rule differ in number")
        self.columns = [np.ascontiguousarray(part, dtype=np.intp) for part in columns]
        self.column_addresses = np.array([checked_address(part) for part in self.columns], np.intp)
        self.n_columns = max([part[len(part) - 1] + 1 for part in self.columns])
        self.starts = np.cumsum([0] + [len(part) for part in columns], dtype=np.intp)
        self.seen_memory = np.zeros(len(columns) * sizeof(Row), dtype=np.int8)
        self.seen = <Row*>&self.seen_memory[0]
        self.values = np.empty(self.starts[len(columns)])
        self.indices = np.empty(self.starts[len(columns)], dtype=np.intc)
        self.votes = np.empty((len(learners), self.n_labels))
        self.scores = np.zeros((len(learners) + 1, self.n_labels))
        self.gradients = np.empty(len(learners))
        self.losses = np.empty(len(learners))
        self.chances = np.empty(len(learners))
        self.scratch = np.empty((self.n_members, N_VECTORS, self.n_labels))
        # The number is set last: the methods refuse to run if it is 0.
        self.n_learners = len(learners)

    def predict(
        self, X not None, const double[::1] weights not None, Py_ssize_t n_used,
        const double[::1] log_expert_weights=None, const double[::1] draws=None,
    ):
        """Return the scores `(n_samples, n_labels)` by the first `n_used` learners.

        If `draws` are given, as in `play`, they are those by the expert that is drawn instead.
        """
        cdef Rows rows = self.checked_rows(X, weights, log_expert_weights, draws)
        cdef double[:, ::1] out = np.zeros((rows.n_rows, self.n_labels))
        cdef Py_ssize_t t, i, l
        if not 0 <= n_used <= self.n_learners:
            raise ValueError(f"{n_used} of {self.n_learners} learners")
        with nogil:
            if draws is not None:
                softmax(&log_expert_weights[0], self.n_learners, &self.chances[0])
            for t in range(rows.n_rows):
                rows.read(t, &self.x)
                if draws is not None:
                    n_used = 1 + draw_expert(self.chances, draws[t])
                self.vote(0, n_used, False)
                for i in range(n_used):
                    for l in range(self.n_labels):
                        out[t, l] += weights[i] * self.votes[i, l]
        return np.asarray(out)

    def play(
        self, X not None, PairFeedback pair_feedback not None,
        const double[::1] sample_weight not None, double[::1] weights not None,
        double[::1] log_expert_weights, const double[::1] draws, double[:, ::1] out,
        double[:, ::1] edge_sums not None, double[:, ::1] best_out not None, learn_sets not None,
    ):
        """Play one round for each sample.

        Parameters
        ----------
        X, sample_weight : array or CSR matrix, and weights that multiply those of the pairs
            A sample of weight zero is not a round.
        pair_feedback : PairFeedback
        weights : (n_learners,) alpha, changed in place if the rule learns them
        log_expert_weights : (n_learners,) up to a constant, changed in place, or None for no Hedge
        draws : (n_samples,) random numbers in [0, 1), or None
            They draw the expert that scores the labels. If None, the last expert does.
        out, best_out : (n_samples, n_labels), the first one or None
            Outputs: the scores of each sample before it is learned, by this expert and by that of
            the largest weight (without Hedge, the last one).
        edge_sums : (2, n_learners)
            For the costs c and the vote h of learner i in each round, ``mean(c) - c @ h`` is added
            to ``edge_sums[0, i]``, and the sum of ``mean(c) - c[l]`` over the relevant labels l to
            ``edge_sums[1, i]``.
        learn_sets : callable
            Called as ``learn_sets(n_samples=n)`` after the rounds of the first n samples, also if
            the next round raises. No interrupt can separate it from the rounds.
        """
        cdef Rows rows = self.checked_rows(X, weights, log_expert_weights, draws)
        cdef Py_ssize_t t, n_samples = rows.n_rows, l, size, best, n_played = 0
        cdef const double* scores
        if (pair_feedback.n_samples, pair_feedback.n_labels) != (n_samples, self.n_labels):
            raise ValueError("pair_feedback does not match X or the labels")
        if sample_weight.shape[0] != n_samples:
            raise ValueError("sample_weight does not match X")
        if (best_out.shape[0], best_out.shape[1]) != (n_samples, self.n_labels) or (
            out is not None and (out.shape[0], out.shape[1]) != (n_samples, self.n_labels)
        ):
            raise ValueError("out or best_out does not match X or the labels")
        if (edge_sums.shape[0], edge_sums.shape[1]) != (2, self.n_learners):
            raise ValueError("edge_sums do not match the learners")
        self.edge_sums = edge_sums
        self.hedge = log_expert_weights is not None
        for t in range(n_samples):
            size = pair_feedback.baseline_size(t)
            if size > 0:
                self.rule.prepare(size)
        try:
            with self, nogil:
                for t in range(n_samples):
                    rows.read(t, &self.x)
                    scores = self.score(weights, log_expert_weights, draws, t)
                    if out is not None:
                        for l in range(self.n_labels):
                            out[t, l] = scores[l]
                    best = self.best_expert(log_expert_weights)
                    for l in range(self.n_labels):
                        best_out[t, l] = self.scores[best, l]
                    if sample_weight[t] != 0.0:
                        self.counter.n_rounds += 1
                        self.counter.is_in_round = True
                        self.sample_weight = sample_weight[t]
                        if pair_feedback.reveal(t, scores, sample_weight[t], &self.pairs):
                            self.rule.start_round(&self.pairs)
                            self.run_phase(LEARN)
                            self.update(weights, log_expert_weights)
                        self.counter.is_in_round = False
                    n_played = t + 1
        finally:
            learn_sets(n_samples=n_played)

    cdef Rows checked_rows(
        self, X, const double[::1] weights, const double[::1] log_expert_weights=None,
        const double[::1] draws=None,
    ):
        # Return the samples. Raise if the loops would read the arrays out of bounds.
        if not self.n_learners:
            raise ValueError("there are no learners")
        cdef Rows rows = Rows(X)
        if rows.n_features < self.n_columns:
            raise ValueError(f"X has {rows.n_features} columns; the learners see {self.n_columns}")
        if weights.shape[0] != self.n_learners:
            raise ValueError("weights do not match the learners")
        if log_expert_weights is not None and log_expert_weights.shape[0] != self.n_learners:
            raise ValueError("log_expert_weights do not match the learners")
        if draws is not None and (log_expert_weights is None or draws.shape[0] != rows.n_rows):
            raise ValueError("draws do not match X, or there are no experts to draw")
        return rows

    cdef const double* score(
        self, const double[::1] weights, const double[::1] log_expert_weights,
        const double[::1] draws, Py_ssize_t t,
    ) except NULL nogil:
        # Algorithm 1, lines 4 to 7: gather the votes, compute the scores of all experts, and return
        # the scores (n_labels,) of the chosen expert.
        cdef Py_ssize_t expert = self.n_learners
        self.run_phase(VOTE)
        self.add_votes(weights)
        if draws is not None:
            softmax(&log_expert_weights[0], self.n_learners, &self.chances[0])
            expert = 1 + draw_expert(self.chances, draws[t])
        return &self.scores[expert, 0]

    cdef Py_ssize_t best_expert(self, const double[::1] log_expert_weights) noexcept nogil:
        # The number of learners of the expert with the largest weight. Equal weights: the first.
        if log_expert_weights is None:
            return self.n_learners
        return 1 + first_largest(&log_expert_weights[0], self.n_learners)

    cdef int run_share(self, int phase, Py_ssize_t member) except -1 nogil:
        cdef Py_ssize_t first = self.n_learners * member // self.n_members
        cdef Py_ssize_t last = self.n_learners * (member + 1) // self.n_members
        if phase == LEARN:
            return self.learn(first, last, member)
        return self.vote(first, last, True)

    cdef int vote(self, Py_ssize_t first, Py_ssize_t last, bint to_learn) except -1 nogil:
        # Algorithm 1, line 4: gather the votes of learners first, ..., last - 1.
        cdef Py_ssize_t i, best, l
        cdef double* h
        for i in range(first, last):
            self.see(i)
            h = &self.votes[i, 0]
            if to_learn:
                (<OnlineLearner><void*>self.addresses[i]).predict_cached(self.seen + i, h)
            else:
                (<OnlineLearner><void*>self.addresses[i]).predict(self.seen + i, h)
            if self.rule.single_label:
                # The whole vote is given to the label with the largest vote. If votes are equal, it
                # is given to the first of these labels.
                best = first_largest(h, self.n_labels)
                for l in range(self.n_labels):
                    h[l] = 1.0 if l == best else 0.0
        return 0

    cdef void see(self, Py_ssize_t i) noexcept nogil:
        # Write the sample in the columns of learner i into `seen`.
        cdef const Row* x = &self.x
        cdef Row* seen = self.seen + i
        cdef Py_ssize_t start = self.starts[i], n = self.starts[i + 1] - start, j, k
        cdef const Py_ssize_t* columns = <const Py_ssize_t*><void*>self.column_addresses[i]
        cdef double* values = &self.values[start]
        seen.n = seen.n_features = n
        seen.constant, seen.columns, seen.values = 0.0, NULL, values
        if x.columns == NULL and columns == NULL:
            seen.values = x.values
        elif x.columns == NULL:
            for j in range(n):
                values[j] = x.values[columns[j]]
        elif not (<OnlineLearner><void*>self.addresses[i]).reads_sparse:
            for j in range(n):
                values[j] = 0.0
            for j in range(x.n):
                k = find_column(columns, n, x.columns[j])
                if k >= 0:
                    values[k] = x.values[j]
        elif n == x.n_features:
            seen[0] = x[0]
        else:
            seen.columns = &self.indices[start]
            seen.n = select_entries(x, columns, n, values, &self.indices[start])

    cdef void add_votes(self, const double[::1] weights) noexcept nogil:
        # Algorithm 1, line 5: compute the scores of each expert.
        cdef Py_ssize_t i, l
        for i in range(self.n_learners):
            for l in range(self.n_labels):
                self.scores[i + 1, l] = self.scores[i, l] + weights[i] * self.votes[i, l]

    cdef int learn(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t member) except -1 nogil:
        # Algorithm 1, lines 10 to 12: compute the costs and update learners first, ..., last - 1.
        # Compute also the gradients and the losses that `update` uses.
        cdef double* costs = &self.scratch[member, COSTS, 0]
        cdef double* label_weights = &self.scratch[member, LABEL_WEIGHTS, 0]
        cdef double* scratch = &self.scratch[member, RULE_SCRATCH, 0]
        cdef const LabelPairs* pairs = &self.pairs
        cdef double max_cost, mean_cost, vote_cost, relevant_costs
        cdef LabelFeedback feedback
        cdef Py_ssize_t i, j, l
        feedback.n_relevant = pairs.n_known_relevant
        feedback.relevant = pairs.known_relevant
        feedback.n_irrelevant = pairs.n_known_irrelevant
        feedback.irrelevant = pairs.known_irrelevant
        feedback.weights = label_weights
        feedback.relevance = NULL
        feedback.sample_weight = self.sample_weight
        feedback.costs = costs
        for i in range(first, last):
            if i == first or not self.rule.learns_weights:
                self.rule.costs(i, &self.scores[i, 0], pairs, costs, scratch)
            summarize(costs, &self.votes[i, 0], self.n_labels, &max_cost, &mean_cost, &vote_cost)
            relevant_costs = 0.0
            for j in range(pairs.n_known_relevant):
                label_weights[j] = max_cost - costs[pairs.known_relevant[j]]
                relevant_costs += costs[pairs.known_relevant[j]]
            self.edge_sums[0, i] += mean_cost - vote_cost
            self.edge_sums[1, i] += pairs.n_known_relevant * mean_cost - relevant_costs
            (<OnlineLearner><void*>self.addresses[i]).learn_cached(self.seen + i, &feedback)
            if self.rule.learns_weights:
                # The costs at s_i are the gradient for alpha_i and the costs of the next learner.
                # They sum to 0. With differences of votes, an untrained learner, whose vote is
                # uniform, has the gradient 0 exactly, and rounding errors rank no labels.
                self.rule.costs(i, &self.scores[i + 1, 0], pairs, costs, scratch)
                self.gradients[i] = 0.0
                for l in range(1, self.n_labels):
                    self.gradients[i] += costs[l] * (self.votes[i, l] - self.votes[i, 0])
            if self.hedge:
                self.losses[i] = self.rule.expert_loss(&self.scores[i + 1, 0], pairs, scratch)
        return 0

    cdef void update(
        self, double[::1] weights, double[::1] log_expert_weights
    ) noexcept nogil:
        # Algorithm 3, lines 9 and 13: update the weights of the learners and of the experts.
        cdef Py_ssize_t i
        for i in range(self.n_learners):
            if self.rule.learns_weights:
                weights[i] = self.rule.next_weight(
                    weights[i], self.gradients[i], self.counter.n_rounds
                )
            if self.hedge:
                log_expert_weights[i] -= self.losses[i]


cdef Py_ssize_t checked_address(const Py_ssize_t[::1] columns) except -1:
    # Return the address of the columns, or 0 if they are 0, 1, 2, ...
    cdef Py_ssize_t j
    for j in range(columns.shape[0]):
        if columns[j] <= (columns[j - 1] if j else -1):
            raise ValueError("columns must increase, and must not be negative")
    return 0 if columns[columns.shape[0] - 1] == columns.shape[0] - 1 else <Py_ssize_t>&columns[0]


cdef inline void summarize(
    const double* costs, const double* votes, Py_ssize_t n, double* max_cost, double* mean_cost,
    double* vote_cost,
) noexcept nogil:
    # Compute the maximum and the mean of the costs, and the cost of the votes. With two partial
    # results each, an operation does not wait for the result of the previous one.
    cdef double maximum = costs[0], other_maximum = costs[0]
    cdef double cost_sum = 0.0, other_sum = 0.0, product = 0.0, other_product = 0.0
    cdef Py_ssize_t i
    for i in range(0, n - 1, 2):
        maximum = costs[i] if costs[i] > maximum else maximum
        other_maximum = costs[i + 1] if costs[i + 1] > other_maximum else other_maximum
        cost_sum += costs[i]
        other_sum += costs[i + 1]
        product += costs[i] * votes[i]
        other_product += costs[i + 1] * votes[i + 1]
    if n % 2:
        maximum = max(maximum, costs[n - 1])
        cost_sum += costs[n - 1]
        product += costs[n - 1] * votes[n - 1]
    max_cost[0] = max(maximum, other_maximum)
    mean_cost[0] = (cost_sum + other_sum) / n
    vote_cost[0] = product + other_product


cdef Py_ssize_t draw_expert(const double[::1] chances, double draw) noexcept nogil:
    # Algorithm 3, line 6: draw expert i with probability chances[i].
    cdef Py_ssize_t i
    for i in range(chances.shape[0]):
        draw -= chances[i]
        if draw < 0.0:
            return i
    return chances.shape[0] - 1
