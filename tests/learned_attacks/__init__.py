"""Learned attacks: what classifiers can predict from observations that should not reveal the answer."""
