"""Boosted histogram trees: the ranker, the race of settings, the linear start, files of trees."""

from sklrank.boosting._hist_gradient_boosting.parts import (
    check_tree_ranker,
    divide_rows,
    fit_blocks,
    fit_parts,
    place_rows,
)
