"""`tagalong serve`: workspaces over HTTP."""
