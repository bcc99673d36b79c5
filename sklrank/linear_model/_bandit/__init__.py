"""Learning from bandit feedback: models, the rounds that they play, the estimator around them."""
