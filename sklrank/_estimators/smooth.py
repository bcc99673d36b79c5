"""Minimization of smooth functions."""

from scipy.optimize import minimize


def minimize_smooth(loss, start, bounds=None, **options):
    """Minimize a function that returns its value and gradient, by L-BFGS-B with these options."""
    return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
