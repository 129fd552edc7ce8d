"""Everything about mail: its formats, and the filing of a Maildir."""
