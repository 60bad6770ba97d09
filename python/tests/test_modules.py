"""Functions of several modules in one program: what a name stands for is what Python finds in the function's own module."""

import importlib
import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import slipring

HEAD = "import slipring.language as pl\n\nT = pl.Tensor[[16, 64], pl.FP32]\n"
KERNEL = """

@pl.jit.incore
def scale(x: T, out: pl.Out[T]):
    return pl.store(pl.mul(pl.load(x, [0, 0], [16, 64]), FACTOR), [0, 0], out)
"""
MAIN = """

@pl.jit
def main(x: T, one: pl.Out[T], two: pl.Out[T]):
{body}
    return one, two
"""


def files(folder, main, **modules):
    """Writes modules, and the file that uses them, and gives the function of the file."""
    for name, text in {**modules, "program": main}.items():
        (folder / f"{name}.py").write_text(text)
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return importlib.import_module("program").main


def results(folder, function):
    """What is in the first element of the outputs, from the package and from the command line, which have to be the same."""
    x = np.ones((16, 64), np.float32)
    outs = [np.zeros_like(x) for _ in range(2)]
    function(x, *outs)
    words = ["--arg", "full:f32[16x64]=1", *["--arg", "zeros:f32[16x64]"] * 2]
    done = subprocess.run([sys.executable, "-m", "slipring", "run", "program.py", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if "f32[16x64]" in line]
    found = {row[0]: float(row[-2]) for row in rows}
    values = [float(out[0, 0]) for out in outs]
    assert [found.get(name, 0.0) for name in ("one", "two")] == values
    return values


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("first", "second", "program"):
        sys.modules.pop(name, None)


def program(body, imports="import first\nimport second\n"):
    return imports + HEAD + MAIN.format(body=textwrap.indent(textwrap.dedent(body).strip(), "    "))


def test_kernels_and_constants_of_one_name(folder):
    main = program("one = first.scale(x, one)\ntwo = second.scale(x, two)")
    function = files(folder, main, first=HEAD + "FACTOR = 2.0\n" + KERNEL, second=HEAD + "FACTOR = 5.0\n" + KERNEL)
    assert results(folder, function) == [2.0, 5.0]


def test_inline_functions_of_one_name(folder):
    inline = "@pl.inline\ndef more(tile):\n    return pl.add(tile, STEP)\n"
    text = """
    import first, second
    {head}
    STEP = 100.0

    @pl.jit.incore
    def both(x: T, one: pl.Out[T], two: pl.Out[T]):
        tile = pl.load(x, [0, 0], [16, 64])
        pl.store(first.more(tile), [0, 0], one)
        pl.store(pl.add(second.more(tile), STEP), [0, 0], two)

    @pl.jit
    def main(x: T, one: pl.Out[T], two: pl.Out[T]):
        both(x, one, two)
        return one, two
    """
    main = textwrap.dedent(text).format(head=HEAD)
    function = files(folder, main, first=HEAD + f"STEP = 1.0\n{inline}", second=HEAD + f"STEP = 2.0\n{inline}")
    assert results(folder, function) == [2.0, 103.0]


def test_helpers_of_python_read_names_of_their_own_module(folder):
    """A name that a function sets outside of it is refused, so what it stood for at first is what it stands for."""
    helper = "CALLS = {begin}\n\ndef calls():\n    return CALLS\n\ndef count():\n    global CALLS\n    CALLS += 1\n    return CALLS\n"
    main = """
    import first, second
    {head}
    CALLS = 5
    FACTOR = 3.0
    {kernel}

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(x: T, one: pl.Out[T], two: pl.Out[T]):
        if first.calls() == 1 and second.calls() == 10 and CALLS == 5:
            one = scale(x, one)
        {last}
        return one, two
    """
    modules = {name: helper.format(begin=begin) for name, begin in (("first", 1), ("second", 10))}
    main = textwrap.dedent(main)
    function = files(folder, main.format(head=HEAD, kernel=KERNEL, last="two = scale(one, two)"), **modules)
    assert results(folder, function) == [3.0, 9.0]
    function = files(folder, main.format(head=HEAD, kernel=KERNEL, last="if first.count() == 2:\n        two = scale(x, two)"), **modules)
    x = np.ones((16, 64), np.float32)
    with pytest.raises(slipring.KernelError, match="(?s)in a function that starts kernels.*global CALLS"):
        function(x, x.copy(), x.copy())


def test_a_dict_under_two_names_is_one(folder):
    first = "TABLE = {'step': 1.0}\n\ndef grow():\n    TABLE['step'] = TABLE['step'] + 1.0\n"
    second = "from first import TABLE as KNOWN\n\ndef step():\n    return KNOWN['step']\n"
    main = """
    import first, second
    {head}

    def make(factor):
        @pl.jit.incore
        def scale(x: T, out: pl.Out[T]):
            return pl.store(pl.mul(pl.load(x, [0, 0], [16, 64]), factor), [0, 0], out)
        return scale

    by = {{1.0: make(10.0), 2.0: make(20.0), 3.0: make(30.0)}}

    @pl.jit
    def main(x: T, one: pl.Out[T], two: pl.Out[T]):
        one = by[second.step()](x, one)
        first.grow()
        two = by[second.step()](x, two)
        return one, two
    """
    main = textwrap.dedent(main).format(head=HEAD)
    assert results(folder, files(folder, main, first=first, second=second)) == [10.0, 20.0]


def test_constant_parameters_are_those_of_the_function_that_is_called():
    @pl.jit.incore
    def other(x: T, out: pl.Out[T], FACTOR: pl.constexpr = 2.0):
        return pl.store(pl.mul(pl.load(x, [0, 0], [16, 64]), FACTOR), [0, 0], out)

    @pl.jit
    def main(x: T, one: pl.Out[T], two: pl.Out[T]):
        one = other(x, one)
        two = other(one, two)
        return one, two

    x = np.ones((16, 64), np.float32)
    outs = [np.zeros_like(x) for _ in range(2)]
    main(x, *outs)
    assert [float(out[0, 0]) for out in outs] == [2.0, 4.0]


def test_types_of_one_name_are_refused_where_they_differ(folder):
    other = HEAD.replace("[16, 64]", "[8, 64]")
    text = "\n\n@pl.jit.incore\ndef scale(x: T, out: pl.Out[T]):\n    return pl.store(pl.load(x, [0, 0], [8, 64]), [0, 0], out)\n"
    function = files(folder, program("one = first.scale(x, one)\ntwo = second.scale(x, two)"), first=other + text, second=HEAD + "FACTOR = 2.0\n" + KERNEL)
    x = np.ones((16, 64), np.float32)
    with pytest.raises(slipring.KernelError, match="`T` is the type .* Give one of them another name"):
        function(x, x.copy(), x.copy())


import slipring.language as pl  # noqa: E402

T = pl.Tensor[[16, 64], pl.FP32]


def test_what_is_wrong_is_shown_in_the_file_of_the_function(folder):
    kernel = KERNEL.replace("FACTOR", "WRONG")
    function = files(folder, program("one = first.scale(x, one)\ntwo = first.scale(one, two)", "import first\n"), first=HEAD + kernel)
    x = np.ones((16, 64), np.float32)
    with pytest.raises(slipring.KernelError) as error:
        function(x, x.copy(), x.copy())
    (finding,) = error.value.findings
    line = (folder / "first.py").read_text().splitlines().index("    return pl.store(pl.mul(pl.load(x, [0, 0], [16, 64]), WRONG), [0, 0], out)") + 1
    assert finding["file"].endswith("first.py") and finding["line"] == line
    assert f"first.py:{line}:58" in str(error.value)
    assert error.value.filename.endswith("first.py") and error.value.lineno == line
    for words in (["check"], ["run", "--arg", "full:f32[16x64]=1", *["--arg", "zeros:f32[16x64]"] * 2]):
        command = [sys.executable, "-m", "slipring", words[0], "program.py", *words[1:]]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 2 and f"first.py:{line}:58" in done.stderr, done.stderr
    command = [sys.executable, "-m", "slipring", "check", "program.py", "--sarif", "log.sarif"]
    subprocess.run(command, cwd=folder, capture_output=True)
    (result,) = json.loads((folder / "log.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("first.py") and place["region"]["startLine"] == line


def test_lines_of_a_function_are_those_of_its_module(folder):
    (folder / "first.py").write_text("import slipring.language as pl\n\n\n@pl.inline\ndef more(tile):\n    return pl.add(tile, 1.0)\n")
    (folder / "program.py").write_text(
        HEAD
        + textwrap.dedent("""
        from first import more

        @pl.incore
        def both(x: T, one: pl.Out[T]):
            tile = pl.load(x, [0, 0], [16, 64])
            pl.store(more(tile), [0, 0], one)
        """)
    )

    def asked(*words, given=None):
        command = [sys.executable, "-m", "slipring", *words]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, input=given)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    facts = json.loads(asked("run", "program.py", "--lines", "--json", "--trace", "trace.json"))
    places = {(line["line"], line.get("file"), line["text"]) for line in facts["lines"]}
    assert (6, "first.py", "return pl.add(tile, 1.0)") in places
    assert all(text in (folder / (file or "program.py")).read_text().splitlines()[line - 1] for line, file, text in places)
    assert (6, "first.py") in {(part.get("line"), part.get("file")) for part in facts["path"]["parts"]}
    work = [event["args"] for event in json.loads((folder / "trace.json").read_text())["traceEvents"] if event.get("name") == "pto.tadds"]
    assert [(args["line"], args["file"]) for args in work] == [(6, "first.py")]
    asked("report", "program.py", "--output", "page.html")
    assert "6 of first.py" in (folder / "page.html").read_text()
    placed = [line.split() for line in asked("build", "program.py", "--memory-map", "-", "-o", "program.pto").splitlines()]
    assert ("6", "of", "first.py") in {tuple(row[2:5]) for row in placed}
    assert "line 6 of first.py: return pl.add(tile, 1.0)" in asked("debug", "program.py", given="line first.py:6\nquit\n")
    x = np.ones((16, 64), np.float32)
    run = importlib.import_module("program").both.run(x, np.zeros_like(x))
    assert {event[-1] for event in run.timeline if event[3] == "pto.tadds"} == {6}
