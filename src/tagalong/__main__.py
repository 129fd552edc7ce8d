"""Entry point of ``python -m tagalong``, which runs the command ``tagalong``."""

import sys

from tagalong.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
