"""How it is written, a file each."""
