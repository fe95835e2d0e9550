"""Incidents inside the frameworks of others: one module each, which imports that framework and `warroom` only.

All of them are thin over `warroom.Chat`, so that they agree: what a seat is told, which tools it has, how a message
without a call is answered, that a seat whose part has ended idles to the end, and what is paid for it.
"""
