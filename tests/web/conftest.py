"""Makes the app's own modules importable: they are not part of the installed library."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2]))
