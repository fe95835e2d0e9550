"""Warroom: the gym where on-call agents learn who broke production, and the test that tells whether they did."""

__version__ = "0.1.0"
