"""The kinds of sources that are in this room: what each is called, takes, keeps and opens."""
