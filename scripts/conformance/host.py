"""What a case's host program does, read from its C++ text.

A case comes with `main.cpp` (allocate, read files, copy, launch, copy back, write files) and `launch.cpp` (a wrapper for each
kernel with its `<<<blocks, …>>>` call). Both are written to one pattern, so that the calls can be read without a C++
compiler. What does not fit the pattern is an error, never a guess.
"""

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

SIZES = {
    "float": 4, "double": 8, "half": 2, "__fp16": 2, "aclFloat16": 2, "bfloat16_t": 2, "bf16_storage_t": 2,
    "char": 1, "unsigned char": 1, "signed char": 1, "bool": 1, "short": 2, "unsigned short": 2, "int": 4,
    "unsigned": 4, "unsigned int": 4, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4,
    "uint32_t": 4, "int64_t": 8, "uint64_t": 8, "size_t": 8,
}
SCALARS = {
    "int8_t": "i8", "int16_t": "i16", "int32_t": "i32", "int": "i32", "int64_t": "i64", "uint8_t": "i8",
    "uint16_t": "i16", "uint32_t": "i32", "uint64_t": "i64", "float": "f32",
}


class HostError(Exception):
    """The host program does something that is not understood."""


@dataclass
class Read:
    """Bytes of a file come into a device buffer; a file larger than `capacity` is not read at all. `ReadFile` leaves the
    size of what it has read in the variable `size`, if it is given one.
    """
    device: str
    file: str
    capacity: int
    size: str | None = None


@dataclass
class Launch:
    """A kernel runs on `blocks` blocks. Each argument is ("buffer", device name) or ("scalar", "3:i64")."""
    kernel: str
    blocks: int
    args: list


@dataclass
class Write:
    """The first `size` bytes of a device buffer go to a file; or as many as the variable `variable` says, if a read has set it."""
    device: str
    file: str
    size: int
    variable: str | None = None


@dataclass
class Program:
    """Device buffers with their sizes in bytes, and what happens in order."""
    buffers: dict = field(default_factory=dict)
    steps: list = field(default_factory=list)


def read_program(case: Path) -> Program:
    """The host program of a case."""
    wrappers = read_wrappers(case / "launch.cpp")
    text = strip_comments((case / "main.cpp").read_text())
    start = re.search(r"\bint\s+main\s*\(", text)
    if start is None:
        raise HostError("main.cpp has no main")
    helpers, body = text[:start.start()], text[start.start():]
    readers = {"ReadFile"} | helpers_that_call("ReadFile", helpers)
    writers = {"WriteFile"} | helpers_that_call("WriteFile", helpers)
    names = constants(text)
    program = Program()
    source = {}  # host variable -> (file, capacity)
    back = {}    # host variable -> device variable
    for name, args in calls(body, readers | writers | {"aclrtMalloc", "aclrtMemcpy"} | set(wrappers)):
        if name == "aclrtMalloc":
            variable = re.search(r"&\s*\(?(\w+)", args[0])
            if variable is None:
                raise HostError(f"cannot read the allocation `{args[0]}`")
            program.buffers[variable.group(1)] = number(args[1], names)
        elif name in readers:
            # ReadFile(path, size, host, capacity), or a helper (path, host, size)
            path, host, capacity = (args[0], args[2], args[3]) if name == "ReadFile" else args
            size = args[1] if name == "ReadFile" else None
            source[host] = (file_name(path), number(capacity, names), size)
        elif name == "aclrtMemcpy" and "HOST_TO_DEVICE" in args[4]:
            if args[2] in source:
                program.steps.append(Read(args[0], *source[args[2]]))
        elif name == "aclrtMemcpy":
            back[args[0]] = args[2]
        elif name in writers:
            path, host, size = args
            if host not in back:
                raise HostError(f"{file_name(path)} is written from `{host}`, which nothing was copied to")
            program.steps.append(Write(back[host], file_name(path), number(size, names), size))
        else:
            program.steps.append(wrappers[name](args, program.buffers, names))
    if not any(isinstance(step, Launch) for step in program.steps):
        raise HostError("main.cpp launches nothing that launch.cpp defines")
    return program


def read_wrappers(path: Path) -> dict:
    """The wrappers of launch.cpp by name, each a function from the caller's arguments to a `Launch`."""
    text = strip_comments(path.read_text())
    wrappers = {}
    for match in re.finditer(r"\bvoid\s+(Launch\w*)\s*\(", text):
        params, end = arguments(text, match.end())
        opening = re.match(r"\s*\{", text[end:])
        if opening is None:
            continue  # a declaration
        body = text[end + opening.end():]
        call = re.search(r"(\w+)\s*<<<\s*([^,]+),[^>]*>>>\s*\(", body)
        if call is None:
            raise HostError(f"{match.group(1)} launches nothing")
        passed, _ = arguments(body, call.end())
        wrappers[match.group(1)] = wrapper(call.group(1), call.group(2), params, passed)
    return wrappers


def wrapper(kernel, blocks, params, passed):
    """How a wrapper passes its parameters on."""
    types, order = {}, []
    for param in params:
        ty, name = re.fullmatch(r"(.*?)(\w+)", param, re.S).groups()
        types[name] = " ".join(ty.split())
        order.append(name)

    def launch(args, buffers, names):
        given = dict(zip(order, (re.sub(r"^reinterpret_cast<[^>]*>\s*\((.*)\)$", r"\1", arg) for arg in args), strict=True))
        values = []
        for text in passed:
            name = re.sub(r"^\(.*?\)\s*", "", text, flags=re.S)  # without its cast
            actual, ty = given.get(name, name), types.get(name, "int64_t")
            if actual in buffers:
                values.append(("buffer", actual))
            elif ty in SCALARS:
                values.append(("scalar", f"{number(actual, names)}:{SCALARS[ty]}"))
            else:
                raise HostError(f"{kernel} is passed `{text}`, which is neither a buffer nor a number")
        return Launch(kernel, number(blocks, names | given), values)

    return launch


def strip_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)


def arguments(text: str, at: int):
    """The arguments of a call whose bracket opened just before `at`, and the place after its end."""
    depth, start, found = 0, at, []
    while at < len(text):
        char = text[at]
        if char in "([{":
            depth += 1
        elif char in ")]}" and depth > 0:
            depth -= 1
        elif char == '"':
            at = text.index('"', at + 1)
        elif (char == "," or char == ")") and depth == 0:
            found.append(" ".join(text[start:at].split()))
            if char == ")":
                return [arg for arg in found if arg], at + 1
            start = at + 1
        at += 1
    raise HostError("a call has no end")


def calls(text: str, wanted):
    """Calls of the wanted functions in the order of the text: name and arguments."""
    for match in re.finditer(r"\b(\w+)\s*\(", text):
        if match.group(1) in wanted:
            yield match.group(1), arguments(text, match.end())[0]


def helpers_that_call(function: str, text: str) -> set:
    """Helper functions before `main` that pass their arguments to `function`."""
    found = set()
    for match in re.finditer(r"\bbool\s+(\w+)\s*\([^)]*\)\s*\{(.*?)\n\}", text, re.S):
        if re.search(rf"\b{function}\s*\(", match.group(2)):
            found.add(match.group(1))
    return found


def constants(text: str) -> dict:
    """Constants and size variables: name to value. The first definition counts."""
    names = {}
    pattern = r"\b(?:constexpr\s+|const\s+|static\s+)*(?:size_t|int64_t|int|uint32_t)\s+(\w+)\s*=\s*([^;]+);"
    for match in re.finditer(pattern, text):
        try:
            names.setdefault(match.group(1), number(match.group(2), names))
        except HostError:
            pass
    return names


def number(text: str, names: dict) -> int:
    """Value of an expression of products, sums, sizes and known names."""
    def size_of(match):
        ty = " ".join(match.group(1).split())
        if ty not in SIZES:
            raise HostError(f"the size of `{ty}` is not known")
        return str(SIZES[ty])

    text = re.sub(r"static_cast<[^>]*>", "", re.sub(r"sizeof\s*\(([^)]*)\)", size_of, str(text)))
    text = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text)
    try:
        return evaluate(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, HostError) as error:
        raise HostError(f"`{text}` is not a number: {error}") from None


def evaluate(node, names: dict) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name) if name in names:
            value = names[name]
            return value if isinstance(value, int) else number(value, {})
        case ast.BinOp(left=a, op=ast.Mult(), right=b):
            return evaluate(a, names) * evaluate(b, names)
        case ast.BinOp(left=a, op=ast.Add(), right=b):
            return evaluate(a, names) + evaluate(b, names)
        case ast.BinOp(left=a, op=ast.Sub(), right=b):
            return evaluate(a, names) - evaluate(b, names)
        case ast.BinOp(left=a, op=ast.Div(), right=b):
            return evaluate(a, names) // evaluate(b, names)
        case ast.UnaryOp(op=ast.USub(), operand=a):
            return -evaluate(a, names)
    raise HostError("unknown name or operator")


def file_name(text: str) -> str:
    return Path(text.strip().strip('"')).name
