"""Tickets of your own on a knowledge base of your own, as `warroom import` brought them."""

from warroom.envs.tickets.scenario import IMPORTED, scenario

SCENARIO = scenario(__name__, __doc__, suites=(IMPORTED,))
