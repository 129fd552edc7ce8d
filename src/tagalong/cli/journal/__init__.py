"""``tagalong journal``: look after a workspace. One module per action, or for a few of them."""
