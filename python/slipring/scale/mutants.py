"""Mutants of texts: the synchronisation is changed in one place, or arbitrary characters are changed."""

import random
import re

SYNC = re.compile(
    r"^\s*\"?pto\.(set_flag|wait_flag|set_flag_dyn|wait_flag_dyn|barrier|pipe_barrier|get_buf|rls_buf|set_cross_core|wait_flag_dev|"
    r"set_intra_block|wait_intra_block|set_intra_core|wait_intra_core|sync\.set|sync\.wait|record_event|wait_event|mem_bar|"
    r"set_record_status|set_wait_status|tfree\w*)\b"
)
PIPES = ("PIPE_MTE2", "PIPE_V", "PIPE_MTE3", "PIPE_MTE1", "PIPE_M", "PIPE_FIX")


def _movable(line):
    text = line.strip()
    structural = not text or text.endswith("{") or text.startswith(("}", "//"))
    return not structural and "pto." in text and "pto.vecscope" not in text


def _depth(line):
    return len(line) - len(line.lstrip())


def changes(text):
    """All single-line changes of lines that synchronise or free a slot: `(class, line, lines of the changed text)`, in
    line order.

    The changed lines are computed on demand.
    """
    lines = text.splitlines()
    found = []

    def change(kind, at, make):
        found.append((kind, at + 1, make))

    def replaced(at, line):
        return lambda: lines[:at] + [line] + lines[at + 1 :]

    def moved(at, to):
        def make():
            rest = lines[:at] + lines[at + 1 :]
            return rest[:to] + [lines[at]] + rest[to:]

        return make

    for at, line in enumerate(lines):
        if not SYNC.match(line):
            continue
        change("dropped", at, lambda at=at: lines[:at] + lines[at + 1 :])
        if "tfree" not in line:
            change("doubled", at, lambda at=at: lines[: at + 1] + lines[at:])
        for step in (-1, 1):
            to = at
            for _ in range(4):
                other = to + step
                if not (0 <= other < len(lines) and _movable(lines[other]) and _depth(lines[other]) == _depth(line)):
                    break
                to = other
                if abs(to - at) in (1, 4):
                    change("moved", at, moved(at, to))
        for pipe in PIPES:
            for match in re.finditer(rf"{pipe}\b(?!_)", line):
                for other in PIPES:
                    if other != pipe and other not in line:
                        change("another pipe", at, replaced(at, line[: match.start()] + other + line[match.end() :]))
        for number in range(3):
            name = f"EVENT_ID{number}"
            if re.search(rf"{name}\b", line):
                change("another id", at, replaced(at, re.sub(rf"{name}\b", f"EVENT_ID{(number + 1) % 3}", line, count=1)))
    return found


def mutant(text, seed):
    """The change for a seed: class, line and text; `None` for a text without synchronisation. Seeds up to the number of
    changes enumerate all of them in shuffled order; larger seeds combine two changes."""
    found = changes(text)
    if not found:
        return None
    turn, which = divmod(seed, len(found))
    order = list(range(len(found)))
    random.Random(len(found)).shuffle(order)
    kind, line, make = found[order[which]]
    changed = "\n".join(make()) + "\n"
    if turn:
        more = changes(changed)
        if more:
            other, second, make = more[random.Random(seed).randrange(len(more))]
            return f"{kind}, {other}", f"{line}, {second}", "\n".join(make()) + "\n"
    return kind, str(line), changed


TOKEN = re.compile(r"[A-Za-z_%@!#][\w.%]*|\d+|\S")
NUMBERS = ("0", "-1", "1", "7", "63", "65536", "4294967296", "9223372036854775807", "18446744073709551616", "0x7fffffff")


def garbled(text, seed):
    """A text with some of its words, lines or characters changed."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        tokens = [match.span() for match in TOKEN.finditer(text)]
        if not tokens:
            return text
        (start, end), (first, last) = chance.choice(tokens), chance.choice(tokens)
        numbers = [span for span in tokens if text[span[0] : span[1]].isdigit()]
        way = chance.randrange(7)
        if way == 0 and numbers:
            start, end = chance.choice(numbers)
            text = text[:start] + chance.choice(NUMBERS) + text[end:]
        elif way == 1:
            text = text[:start] + text[end:]
        elif way == 2:
            text = text[:start] + text[first:last] + text[end:]
        elif way == 3:
            text = text[:end] + text[start:end] + text[end:]
        elif way == 4:
            lines = text.splitlines(keepends=True)
            line = lines.pop(chance.randrange(len(lines)))
            lines.insert(chance.randrange(len(lines) + 1), line * chance.randint(0, 2))
            text = "".join(lines)
        elif way == 5:
            at = chance.randrange(len(text))
            text = text[:at] + chr(chance.choice((0, 9, 10, 34, 40, 41, 91, 123, 125, 127, 0xE9, 0x2028, 0x1F600))) + text[at + 1 :]
        else:
            text = text[: chance.randrange(len(text))]
    return text
