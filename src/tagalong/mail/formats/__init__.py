"""Mail as items: MIME, mbox, Maildir, and the labels that folders give."""
