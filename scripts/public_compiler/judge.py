"""What slipring says of the texts that `keeper.py` kept: checked, run, and held against our own lowering of the
program."""

import ast
import dataclasses
import json
import pathlib
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

HEAD = re.compile(r"func\.func @(\w+)\((.*?)\)(?: attributes| ->| \{)")
TENSOR = re.compile(r"pl\.Tensor\[\[(.*?)\], pl\.(\w+)")
SCALAR = re.compile(r"pl\.Scalar\[pl\.(\w+)")
ELEMENTS = {
    "FP32": "f32", "FP16": "f16", "BF16": "bf16", "INT8": "i8", "INT16": "i16", "INT32": "i32", "INT64": "i64", "UINT8": "ui8",
    "UINT16": "ui16", "UINT32": "ui32", "UINT64": "ui64", "BOOL": "i1", "INDEX": "i64", "FP8E4M3FN": "f8E4M3FN", "FP8E5M2": "f8E5M2",
    "FP8E8M0": "f8E8M0FNU", "FP8E4M3": "f8E4M3FN",
}
LAUNCH = re.compile(r"__pypto_spmd_(block_idx|block_num|subblock_idx)$")
# Values that the compiler writes without their actual size, which only its runtime knows.
SLOTS = ("__gm_pipe_buffer", "zeros:f32[1048576]")
# Ops that are recognised by name and form, and rejected as unsupported.
NOT_MODELLED = ("unsupported:", "no-body:")
# Differences not caused by slipring: a regular expression of the text, and the explanation.
MEANT = (
    (r"pto\.tscatter ins\(%\w+, \{maskPattern", "the library's `TSCATTER` clears its tile first, and the text does not keep what the language keeps"),
)
# Reasons why a text is rejected or found wrong although the assembler's verifier accepts it: the beginning of the
# cause, and the explanation.
REASONS = (
    ("tile-space:", "pushes from L1 to the Vector cores, which the library's `TPUSH` refuses as it compiles"),
    ("extract-layout:", "takes a row-major window into a column, which the library's `TEXTRACT` refuses as it compiles"),
    ("barrier:", "waits for both kinds of core in a kernel that has one"),
    ("gm-slot-buffer:", "makes a pipe without the buffer in global memory that its platform needs"),
    ("pipe-missing:", "has a barrier for a pipe that its core does not have"),
    ("ring-shape:", "pushes as much from each lane of a split as is popped for both"),
    ("set-ffts:", "signals between cores without the base that its platform needs"),
    ("deadlock:", "waits for a signal of a core that the text does not have"),
    ("race:", "has a barrier set by hand, beside which slipring adds no flags"),
    ("sort-config:", "takes the length of its runs from the launch, where it is 1 here"),
    ("sources-disagree:", "has a temporary tile over its result, as the test means it: the public compiler refuses that elsewhere"),
    ("uninitialised-read:", "computes with rows of a tile that its program does not fill"),
    ("view-shape:", "loads a view of three dimensions by columns into rows"),
)
# The assembler's names of platforms.
ASSEMBLER = {"a5": "a5", "a2a3": "a3"}
# The value of an extent that the program leaves open, and of a number that a launch passes.
OPEN, NUMBER = 256, 1


@dataclasses.dataclass
class Text:
    """A text, and what is known of it."""

    path: pathlib.Path
    text: str
    note: dict
    outcome: str = ""
    why: str = ""
    ours: str = ""
    ours_why: str = ""
    # The answer of the public assembler's own verifier for a text accepted here, and the text printed for that
    # assembler.
    against: str = ""
    built: str = ""
    # True if the test or script that wrote it compares results with a golden, and our own lowering passes.
    golden: bool = False

    @property
    def platform(self):
        """The platform that the module names."""
        return re.search(r'pto\.target_arch = "(\w+)"', self.text).group(1)

    @property
    def name(self):
        """The test or file that wrote it, and its functions."""
        return f"{self.note['name']} @{','.join(own['name'] for own in self.note['functions'])}"


def texts(folder):
    """The texts of a folder, each once: the same text with other places is the same."""
    seen, found = set(), []
    for note in sorted(folder.rglob("*.json")):
        path = note.with_suffix(".pto")
        text = path.read_text(encoding="utf-8")
        plain = re.sub(r' loc\("[^"]*":\d+:\d+\)', "", text)
        if "func.func" in text and plain not in seen:
            seen.add(plain)
            found.append(Text(path, text, json.loads(note.read_text(encoding="utf-8"))))
    return found


def call(command, limit=120):
    """Exit code and output of a command."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return None, "", f"error[time]: no answer within {limit} s"


def cause(output):
    """The first error of an output, without the names of the file."""
    found = re.search(r"^(?:.*? )?(?:error|warning)(\[[\w-]+\])?: (.*)$", output, re.M)
    if not found:
        return (output.strip().splitlines() or ["no message"])[0][:120]
    code = f"{found.group(1).strip('[]')}: " if found.group(1) else ""
    return code + re.sub(r"`[^`]*`", "`…`", re.sub(r"[0-9]+", "N", found.group(2)))


def argument(ty, extents, seed):
    """An argument for a parameter of a type as the language writes it; `None` where no launch can pass one."""
    if tensor := TENSOR.search(ty):
        element = ELEMENTS.get(tensor.group(2))
        if element is None:
            return None
        shape = []
        for extent in filter(None, tensor.group(1).split(", ")):
            if not extent.isdigit():
                extents.setdefault(extent, OPEN)
            shape.append(extent if extent.isdigit() else str(extents[extent]))
        how = "zeros" if re.match(r"u?i\d", element) else "rand"
        return f"{how}:{element}[{'x'.join(shape)}]" + (f",seed={seed}" if how == "rand" else "")
    if scalar := SCALAR.search(ty):
        element = ELEMENTS.get(scalar.group(1))
        element = "index" if scalar.group(1) == "INDEX" else element
        return f"true" if element == "i1" else f"{NUMBER}:{element}" if element else None
    return None


def arguments(function, head):
    """The arguments of a launch: for the text, in order, and for our own lowering, by name; or why there are none."""
    extents, ours = {}, []
    for at, (name, ty) in enumerate(zip(function["parameters"], function["types"])):
        own = SLOTS[1] if name == SLOTS[0] else argument(ty, extents, at)
        if own is None:
            return None, f"a parameter of type `{re.split(r'[^.a-zA-Z]', ty)[0]}`"
        ours.append(own)
    # A text lists its buffers before its numbers.
    of_text = sorted(ours, key=lambda own: "[" not in own)
    by_name = dict(zip(function["parameters"], ours))
    # Our own lowering adds a slot buffer where needed.
    those = [name for name in function["parameters"] if name != SLOTS[0]]
    ours = [f"{named}={by_name[name]}" for named, name in zip(function.get("named", ()), those) if named != SLOTS[0]]
    rest = [own for own in re.split(r", (?=%)", head)[len(of_text):] if own]
    opened = list(extents.values())
    for parameter in rest:
        name, _, ty = parameter.partition(": ")
        if LAUNCH.search(name):
            continue
        if ty != "index" or not opened:
            return None, f"a parameter of the runtime: {name.strip('%')}"
        of_text.append(f"{opened.pop(0)}:index")
    return (of_text, ours), ""


def run(options, path, platform, function, given):
    """Exit code, the buffers that the run left, the cause of what is wrong, and all that was said."""
    command = [options.slipring, "run", "--json", "--no-color", "--arch", platform, *(["--func", function] if function else []), str(path)]
    code, out, said = call(command + [word for own in given for word in ("--arg", own)])
    buffers = [(own["elem"], own["hash"]) for own in json.loads(out).get("buffers", [])] if out.startswith("{") else []
    return code, buffers, cause(said) if code else "", said


def judge(text, options):
    """Fills in what comes of a text."""
    code, _, said = call([options.slipring, "check", "-q", "--no-color", "--arch", text.platform, str(text.path)])
    kinds = {own["kind"] for own in text.note["functions"]}
    if code is None or code == 2 or "error[" in said:
        text.outcome, text.why = refusal(text, cause(said), options)
    elif "initialize_pipe" in text.text and len(kinds) == 1:
        text.outcome, text.why = "only read", "the text has one half of a pair of functions"
    else:
        functions = text.note["functions"]
        heads = dict(HEAD.findall(text.text))
        is_pair = sorted(own["kind"] for own in functions) == ["AIC", "AIV"]
        outcomes = [launched(text, own, heads, options, is_pair) for own in (functions[:1] if is_pair else functions)]
        rank = ["refused", "refused by both", "not modelled", "findings", "findings in both", "only read", "clean"]
        text.outcome, text.why = min(((outcome, why) for outcome, why, _, _ in outcomes), key=lambda own: rank.index(own[0]))
        order = ["differs", "not lowered", "not compared", "same"]
        if text.outcome == "clean" and options.verifier:
            asked, _, said = asks(text, options)
            text.against = cause(said) if asked else ""
            text.built = built(text, options) if asked else ""
        text.ours, text.ours_why = min(((ours, why) for _, _, ours, why in outcomes), key=lambda own: order.index(own[0]))
    return text


def refusal(text, why, options):
    """What kind of a refusal it is: the public assembler's own verifier is asked."""
    if why.startswith(NOT_MODELLED):
        return "not modelled", why
    return ("refused by both" if options.verifier and asks(text, options)[0] else "refused"), why


def asks(text, options):
    """What the verifier of the public assembler says of a text."""
    return call([options.verifier, str(text.path), ASSEMBLER[text.platform]])


def built(text, options):
    """What `build` makes of a text for that assembler: nothing, or what its verifier takes; else it is not explained."""
    command = [options.slipring, "build", "--no-color", "--arch", text.platform, "--for", "ptoas-0.60", str(text.path)]
    code, printed, _ = call(command)
    if code == 2:
        return "refused by `build --for ptoas-0.60`, too"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / text.path.name
        path.write_text(printed, encoding="utf-8")
        refused = call([options.verifier, str(path), ASSEMBLER[text.platform]])[0]
    return "not explained" if refused else "printed otherwise by `build --for ptoas-0.60`"


def launched(text, function, heads, options, is_pair):
    """What comes of one launch: outcome, why, what our own lowering comes to, why."""
    given, why = arguments(function, heads.get(function["name"], ""))
    if given is None:
        return "only read", why, "not compared", ""
    with tempfile.TemporaryDirectory() as folder:
        path = text.path
        if function.get("both_lanes"):
            # The program describes the launch, not its texts.
            path = pathlib.Path(folder) / text.path.name
            path.write_text(re.sub(r"(func\.func @\w+\(.*kernel_kind<vector>)\}", r"\1, dual_aiv_dispatch = true}", text.text), encoding="utf-8")
        code, buffers, why, of_text = run(options, path, text.platform, None if is_pair else function["name"], given[0])
    if code not in (0, 1):
        return *refusal(text, why, options), "not compared", ""
    has_own = "source" in function and function["stage"] != "as it is"
    own_code, own, own_why, said = lowered(text, function, given[1], options) if has_own else (None, [], "", "")
    if code == 1:
        # Our own lowering detects some out-of-bounds accesses to tensors before the run.
        same = own_why.partition(":")[0].removeprefix("memory-") == why.partition(":")[0].removeprefix("memory-")
        return "findings in both" if same else "findings", why, "not compared", ""
    if not has_own:
        return "clean", "", "not compared", "the program is not at hand as its author wrote it"
    if own_code != 0:
        return "clean", "", "not lowered", own_why
    # A scratch buffer of the text may be unnecessary in our own lowering.
    idle = [at for at, arg in enumerate(given[1]) if re.search(rf"\[no-effect\]: `{arg.partition('=')[0]}` ", said)]
    places = [at for at, arg in enumerate(own for own in given[1] if "[" in own)]
    differs = [at for at in places if at not in idle and own[at : at + 1] != buffers[at : at + 1]]
    if not differs:
        return "clean", "", "same", ""
    if "[uninitialised-output]" in of_text:
        return "clean", "", "not compared", "the program stores bytes that nobody wrote"
    meant = next((meant for pattern, meant in MEANT if re.search(pattern, text.text)), "")
    return "clean", "", "differs", meant or "not explained"


def lowered(text, function, given, options):
    """Our own lowering of the program of a function, run."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "own.py"
        # Elements that the kernel does not write keep the given contents in a text: in-out parameters have the same
        # effect here.
        source = ast.unparse(Untyped(function["source"]).visit(ast.parse(function["source"]))).replace("pl.Out[", "pl.InOut[")
        while True:
            path.write_text(source, encoding="utf-8")
            outcome = run(options, path, text.platform, function["of"], given)
            # A test of printed texts need not declare the outputs of its kernel.
            written = re.search(r"\[read-only\]: `(\w+)` is an input", outcome[3])
            marked = written and re.sub(rf"\b({written.group(1)}: )(pl\.Tensor\[\[[^\]]*\][^\]]*\])", r"\1pl.InOut[\2]", source, count=1)
            if not marked or marked == source:
                return outcome
            source = marked


class Untyped(ast.NodeTransformer):
    """Leaves out the types of names, which say what that compiler found of each value, and its notes to itself: our own
    lowering finds them for itself."""

    def __init__(self, text):
        self.has_lanes = "in pl.split_aiv(" in text

    def visit_Call(self, node):
        self.generic_visit(node)
        node.keywords = [keyword for keyword in node.keywords if keyword.arg != "attrs"]
        return node

    def visit_Expr(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "pl.func_attr" and self.has_lanes:
            # The use of lanes is explicit in the text, and is annotated at the function again.
            attrs = node.value.args[0]
            kept = [(key, own) for key, own in zip(attrs.keys, attrs.values) if not key.value.startswith("split")]
            attrs.keys, attrs.values = [key for key, _ in kept], [own for _, own in kept]
            return node if kept else None
        return node

    def visit_AnnAssign(self, node):
        if node.value is None:
            return node
        self.generic_visit(node)
        return ast.copy_location(ast.Assign([node.target], node.value, lineno=node.lineno), node)


def judged(found, options):
    """All of them."""
    with ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(lambda text: judge(text, options), found))
