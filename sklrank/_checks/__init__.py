"""Checks of what users pass: samples, targets, numbers, queries, rankings and scores.

Functions without an estimator and without a state. Each raises a ValueError that names the argument
and the cure, or returns the checked value. The names below are what other rooms may take.
"""

# ruff: noqa: F401

from sklrank._checks.numbers import (
    as_numbers,
    check_exact,
    check_finite,
    check_level,
    check_random_state,
    check_scalar,
    check_weights,
    is_integer,
    is_number,
    look_up,
)
from sklrank._checks.queries import (
    GAINS,
    Queries,
    call_on_array,
    check_label_relevance,
    check_qid,
    check_query_weights,
    check_relevance,
    check_something_to_learn,
    counted_from_least,
    gain_by_order,
    gains_of,
    group_starts,
    has_exponential_gains,
    is_qid_given,
    places,
    qid_argument,
    sort_keys,
    sums_of_queries,
    warn_of_steep_gains,
)
from sklrank._checks.rankings import (
    check_pair_proba,
    check_positions,
    check_two_rankings,
    close_ranks,
    invert_orderings,
    listed_labels,
    relative_positions,
    stored_positions,
    strict_positions,
)
from sklrank._checks.samples import (
    MAX_FACTOR,
    check_entries,
    check_given,
    check_known,
    check_numeric,
    check_outputs,
    check_rows,
    check_sparse,
    input_tags_of,
    is_frame,
    is_missing,
    plain,
)
from sklrank._checks.scores import (
    as_label_columns,
    as_relevant,
    check_relevance_and_scores,
    check_scores,
    label_scores,
)
from sklrank._checks.targets import (
    Target,
    as_names,
    check_available,
    check_classes,
    check_columns,
    check_k,
    check_label_names,
    check_no_collections,
    check_row_labels,
    check_same_order,
    check_target,
    column_names,
    find_labels,
    in_declared_order,
    indices_of,
    labels_of_columns,
    names_of,
    only_available,
    relevance_lists,
    sorted_classes,
    sorted_labels,
    with_reject_label,
)
