"""Common parts of compiled models: saved state, the lock of threads, rows, sorting, label axes.

`state` declares how an object is saved, checked and restored; `label_axes` and `merging` are what
a state says of its labels, and of the sum of several models. `model_lock` lets threads share a
model. `rows` reads dense and CSR matrices; `sorting` and `thread_team` serve the loops. The names
below are what other rooms may take; compiled modules declare theirs in the `.pxd` files.
"""

from sklrank._compiled.label_axes import LABELS, LabelAxis, Relabeling
from sklrank._compiled.merging import (
    check_alike,
    check_kept,
    is_learned,
    merge_models,
    precision_of,
)
from sklrank._compiled.model_lock import (
    ExclusiveCalls,
    LockedModel,
    exclusive_call,
    part_of_call,
    shared_call,
)
from sklrank._compiled.rows import Rows
from sklrank._compiled.sorting import make_items
from sklrank._compiled.state import with_format, without_format
