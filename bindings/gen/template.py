"""Templates are real files with holes: @NAME@ alone or inside a line, filled with text that may have several lines."""
import re
from pathlib import Path

FOLDER = Path(__file__).parent / "templates"


def fill(name, **holes):
    """The text of templates/<name> with every hole filled; a hole without value, or a value without hole, is an error."""
    text = (FOLDER / name).read_text()
    wanted = set(re.findall(r"@([A-Z_]+)@", text))
    if wanted != set(holes):
        raise ValueError(f"template {name}: holes {sorted(wanted)} but values for {sorted(holes)}")
    return re.sub(r"@([A-Z_]+)@", lambda hole: holes[hole[1]], text)


def write_if_changed(path, text):
    """Keeps the time stamp of a file whose contents stay the same, so that nothing is compiled again for nothing."""
    path = Path(path)
    if path.exists() and path.read_text() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return True
