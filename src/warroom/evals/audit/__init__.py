"""Audits: what policies that ignore the evidence can score, whether observations leak the answer, certificates."""
