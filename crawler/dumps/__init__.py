"""Articles out of dumps: files of XML, on this machine or on a server."""
