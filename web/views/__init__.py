"""Parts of pages: each a function of the session, or of data and a key."""
