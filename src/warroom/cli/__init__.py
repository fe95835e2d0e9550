"""The command line: one module a verb, listed in `app`; `heavy` names what is imported only when it is used."""
