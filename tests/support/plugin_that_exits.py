"""A plug-in that tries to end the app when it is loaded."""

import sys

sys.exit("not here")
