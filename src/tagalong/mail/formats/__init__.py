"""Conversion of mail to items: MIME, mbox, Maildir, and labels from folders."""
