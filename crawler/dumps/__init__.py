"""Articles out of dumps: files of XML, on this machine or on a server. Here are their identity's keys."""

DUMP_FILES = "dump"
"""The paths or the addresses of a dump's files."""
VERSIONS = "versions"
"""The versions of the files on a server, as the server names them."""
BASE = "base"
"""The address of the wiki's main page, as its dump states it."""
