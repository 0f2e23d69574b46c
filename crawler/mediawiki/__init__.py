"""Articles of a MediaWiki: by its Action API, by rendered pages, or by recent changes."""

FOUND_API = "api"
"""The key of a source's identity under which a session stores the address of the wiki's api.php."""
