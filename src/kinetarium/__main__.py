"""`python -m kinetarium`: the command line."""

import sys

from kinetarium.cli import main

sys.exit(main())
