"""How the paperwork of a fleet is worded: frames with slots, and a renderer."""
