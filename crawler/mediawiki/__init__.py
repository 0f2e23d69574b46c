"""Articles of a MediaWiki: by its Action API, by rendered pages, or by recent changes."""
