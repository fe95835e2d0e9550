"""The records of one incident in words, as the wordings of its split tell them; the same text in any order of asking."""
