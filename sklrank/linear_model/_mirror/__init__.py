"""Mirror maps: from dual weights to weights."""
