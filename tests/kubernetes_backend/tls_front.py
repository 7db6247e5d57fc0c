"""TLS in front of a stand-in that speaks http. Words: PEM (certificate and key) and its port.

Prints its own port; ends with its input."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))
from tests.fake_kube import TlsFront  # noqa: E402

front = TlsFront(f"127.0.0.1:{sys.argv[2]}", sys.argv[1])
print(front.address, flush=True)
sys.stdin.read()
front.close()
