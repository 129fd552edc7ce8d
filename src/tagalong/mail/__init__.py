"""Mail: its file formats, and the filing of a Maildir."""
