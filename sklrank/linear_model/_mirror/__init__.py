"""Mirror maps, which turn dual weights into weights."""
