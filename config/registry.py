"""The registry of parameters as ashlar_info tells it."""
import json
import os
import subprocess
import tempfile


def registry(info):
    """Every parameter of the kernel and of the components beside `info`, with nothing set anywhere."""
    with tempfile.TemporaryDirectory() as home:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("ASHLAR", "XDG_"))}
        environment["HOME"] = home
        done = subprocess.run([os.path.abspath(info), "--json", "--params", "--level", "developer-all"], capture_output=True,
                              text=True, cwd=home, env=environment, check=True)
    return json.loads(done.stdout)
