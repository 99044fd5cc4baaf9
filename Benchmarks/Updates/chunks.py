"""Small files as a bundler makes them, the same bytes at each run: nineteen of twenty are text like minified JavaScript, one is noise."""

import itertools, math, os, random

NAMES = ["state", "value", "index", "node", "list", "event", "props", "child", "style", "label", "query", "route", "token", "cache", "error",
         "entry", "scope", "width", "color", "theme", "panel", "graph", "model", "field", "group", "order", "price", "media", "frame", "input"]
VERBS = ["get", "set", "use", "create", "update", "remove", "render", "parse", "format", "handle", "on", "is", "has", "to", "from", "with"]


def words(source):
    """Words with weights that fall as in a text: marks and short names often, composed names and strings seldom."""
    short = [a + b for a in "etnraoisuclfdphmgvybwkxjqz" for b in ["", *"etnraois"]]
    marks = [",", "(", ")", ".", ";", "{", "}", "=", "=>", "&&", "?", ":", "return ", "const ", "let ", "if(", "===", "!==", "void 0", "null", "!0", "!1",
             "this.", "new ", "function(", "})", "});", "=>{", ".map(", ".push(", ".length", "Object.", "await ", "async ", "export{", "import", "throw "]
    composed = [verb + name.capitalize() + other.capitalize() for verb in VERBS for name in NAMES for other in ["", *NAMES]]
    strings = [f'"{name}-{source.randrange(1 << 20):x}"' for name in NAMES for _ in range(200)]
    source.shuffle(short), source.shuffle(composed)
    ordered = [word for group in itertools.zip_longest(marks, short[:40], composed[:20]) for word in group if word] + short[40:] + composed[20:] + strings
    return ordered, list(itertools.accumulate(1 / (rank + 4) for rank in range(len(ordered))))


def size_of(number):
    """1 kB to 40 kB, as many of each doubling."""
    return int(math.exp(random.Random(f"size {number}").uniform(math.log(1_000), math.log(40_000))))


def is_noise(number):
    return number % 20 == 13


def changed(count):
    """One of each hundred, at another place in each."""
    return [number for number in (hundred * 100 + hundred * 37 % 100 for hundred in range(count // 100)) if number < count]


def content(number, edition, vocabulary):
    size, source = size_of(number), random.Random(f"{edition} {number}")
    if is_noise(number):
        return source.randbytes(size)
    ordered, weights = vocabulary
    mine = [f"{source.choice(NAMES)}{source.randrange(1000)}" for _ in range(24)]
    text, length = [], 0
    while length < size:
        line = source.choices(ordered, cum_weights=weights, k=40)
        line[source.randrange(40)] = source.choice(mine)
        line[source.randrange(40)] = source.choice(mine)
        text += line
        length += sum(map(len, line))
    return "".join(text)[:size].encode()


def path_of(number):
    return f"static/{number // 250:02}/chunk{number:05}.{'woff2' if is_noise(number) else 'js'}" if number else "index.html"


def make(folder, count, edition, numbers):
    """Writes these of `count` files in an edition; a file that is there may be another version's too, and goes first."""
    vocabulary = words(random.Random("words"))
    for number in numbers:
        path = os.path.join(folder, path_of(number))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            os.remove(path)
        with open(path, "wb") as file:
            file.write(content(number, edition, vocabulary))
