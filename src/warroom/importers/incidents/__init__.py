"""Recorded incidents of any source, in the layout that the log environment plays."""
