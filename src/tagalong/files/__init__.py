"""Files that are replaced, locked and moved without loss."""
