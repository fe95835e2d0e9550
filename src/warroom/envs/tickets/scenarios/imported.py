"""Tickets of your own on a knowledge base of your own, as `warroom import` brought them."""

from warroom.envs.tickets.scenario import imported_scenario

SCENARIO = imported_scenario(__name__, __doc__)
