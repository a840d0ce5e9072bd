"""`python -m bot` is `keyturn`."""

import sys

from bot.cli import main

sys.exit(main())
