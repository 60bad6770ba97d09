"""What the assembler says of programs of one op each."""

from collections.abc import Callable
from pathlib import Path

HEAD = "# op and form, platform, digest of its programs, the element types of which the assembler takes it (scripts/assembler --accepts)"


def ask_accepts(folder: Path, table: Path, accepts: Callable[[Path, str], bool], each: Callable) -> int:
    """Asks about the programs that the test `accepts` wrote into the folder, but for those of which the table knows the answer, and
    writes the table; how many it asked about."""
    lines = table.read_text().splitlines() if table.is_file() else []
    known = {tuple(row[:3]): row[3] for row in (line.split("\t") for line in lines if not line.startswith("#"))}
    forms = [tuple(line.split("\t")) for line in (folder / "digests.tsv").read_text().splitlines()]
    asked = {form[:2] for form in forms if form not in known}
    name = lambda path: (path.stem.split("@")[0].replace("+", "/"), path.stem.split("@")[1])
    files = [path for path in sorted(folder.glob("*.pto")) if name(path) in asked]
    taken: dict[tuple[str, str], list[str]] = {form: [] for form in asked}
    for path, yes in zip(files, each(accepts, files, [name(path)[1] for path in files])):
        if yes:
            taken[name(path)].append(path.stem.split("@")[2])
    rows = ["\t".join((*form, known[form] if form in known else " ".join(taken[form[:2]]))) for form in forms]
    table.write_text("\n".join([HEAD, *rows]) + "\n")
    return len(files)
