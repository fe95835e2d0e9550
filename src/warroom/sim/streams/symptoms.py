"""Which components write lines about failing resources, how often, and what such a line tells.

The lines of a failure of nature rise with the harm, from its onset on. So that nobody wins by words alone, every
component also writes lines about other resources at a steady rate on any day, and behind every harm the strain on
other resources rises: later, and less.
"""

import re
from collections.abc import Iterator
from functools import cache
from math import fsum
from typing import NamedTuple

from warroom.core.rng import stream
from warroom.core.splits import Split
from warroom.sim.counts import USERS, MinuteCounts
from warroom.sim.family import Arena, Mechanism
from warroom.sim.streams.component import LineStream, StreamGroup, SymptomSource, line_stream
from warroom.sim.streams.symptom_lines import SYMPTOMS, Tells
from warroom.sim.streams.template import FIGURES, group
