"""`python -m openfelt` is the command `felt`."""

import sys

from openfelt.cli.app import main

sys.exit(main())
