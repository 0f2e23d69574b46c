"""How time, memory and disk grow, and what whole Wikipedias would take."""
