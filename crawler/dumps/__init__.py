"""Articles from dumps: XML files, on this machine or on a server. Below: the keys of their
identity."""

DUMP_FILES = "dump"
"""The paths or the addresses of a dump's files."""
VERSIONS = "versions"
"""The versions of the files on a server, as the server names them."""
BASE = "base"
"""The address of the wiki's main page, as its dump states it."""
SCHEDULE = "schedule"
"""The order of reading, a `wikitopics.crawler.dumps.schedule.Schedule`."""
OLD_ORDER = "order"
"""The order of reading in sessions of wikitopics 1.0 and 1.1, which was a different one."""
