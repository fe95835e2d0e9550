"""Which components write lines about failing resources, how often, and what such a line tells.

The lines of a failure of nature rise with the harm, from its onset on. So that nobody wins by words alone, every
component also writes lines about other resources at a steady rate on any day, and behind every harm the strain on
other resources rises: later, and less.
"""
