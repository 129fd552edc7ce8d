"""The command ``tagalong``: thin commands over the library.

``parser`` says what can be written on the command line, every command has a file with a ``run``,
and ``main`` brings them together. Nothing but the parser is imported before a command runs.
"""
