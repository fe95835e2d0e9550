"""How the paperwork of a fleet is worded: frames with slots, a renderer, and an inverse that reads what it wrote."""
