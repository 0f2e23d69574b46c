"""Articles of a MediaWiki: from its Action API, as rendered pages, or from recent changes."""

FOUND_API = "api"
"""The key of a source's identity under which a session stores the address of the wiki's api.php."""
