"""The command line program ``tagalong``: thin commands over the library.

``parser`` defines the command line, each command is a module with a ``run`` function, and ``main``
parses and dispatches. Only the parser is imported before a command runs.
"""
