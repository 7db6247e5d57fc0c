"""Regular expressions of the API document, compiled to tables at build time.

A schema's pattern becomes a deterministic automaton over UTF-8 bytes, so that the server matches in one pass: no
backtracking, no stack, no lock, and nothing to compile at start. The subset is what such patterns use; anything else
fails the build.
"""

import sys
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import sre_constants as c
    import sre_parse

MAX_STATES = 4000
ANY = frozenset(range(256)) - {10}
SPACES = frozenset(b" \t\n\r\f\v")
CATEGORIES = {
    c.CATEGORY_DIGIT: frozenset(b"0123456789"),
    c.CATEGORY_SPACE: SPACES,
    c.CATEGORY_NOT_SPACE: frozenset(range(256)) - SPACES,
    c.CATEGORY_WORD: frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"),
}


class Nfa:
    """Thompson's construction: edges[state] = [(bytes or None for empty, target)]."""

    def __init__(self):
        self.edges = []
        self.final = self.state()

    def state(self):
        self.edges.append([])
        return len(self.edges) - 1

    def edge(self, source, symbols, target):
        self.edges[source].append((symbols, target))

    def literal(self, start, code):
        for byte in chr(code).encode():
            following = self.state()
            self.edge(start, frozenset([byte]), following)
            start = following
        return start

    def build(self, items, start):
        """Adds a sequence; returns its end."""
        for op, value in items:
            start = self.item(op, value, start)
        return start

    def item(self, op, value, start):
        if op is c.LITERAL:
            return self.literal(start, value)
        if op in (c.IN, c.ANY, c.NOT_LITERAL):
            end = self.state()
            symbols = ANY if op is c.ANY else char_set(value if op is c.IN else [(c.NEGATE, None), (c.LITERAL, value)])
            self.edge(start, symbols, end)
            return end
        if op is c.SUBPATTERN:
            return self.build(value[3], start)
        if op is c.BRANCH:
            end = self.state()
            for branch in value[1]:
                first = self.state()
                self.edge(start, None, first)
                self.edge(self.build(branch, first), None, end)
            return end
        if op is c.MAX_REPEAT:
            low, high, body = value
            for _ in range(low):
                start = self.build(body, start)
            if high is c.MAXREPEAT:
                loop = self.state()
                self.edge(start, None, loop)
                self.edge(self.build(body, loop), None, loop)
                return loop
            end = self.state()
            self.edge(start, None, end)
            for _ in range(high - low):
                start = self.build(body, start)
                self.edge(start, None, end)
            return end
        if op is c.AT and value is c.AT_END:
            self.edge(start, None, self.final)  # nothing leaves the final state
            return self.state()
        raise ValueError("unsupported in a pattern: %s" % op)


def char_set(items):
    negate, result = False, set()
    for op, value in items:
        if op is c.NEGATE:
            negate = True
        elif op is c.LITERAL and value < 128:
            result.add(value)
        elif op is c.RANGE and value[1] < 128:
            result.update(range(value[0], value[1] + 1))
        elif op is c.CATEGORY:
            result |= CATEGORIES[value]
        else:
            raise ValueError("unsupported in a character set: %s %s" % (op, value))
    return frozenset(set(range(256)) - result if negate else result)


def compile_pattern(text):
    """(class of each byte, rows of next states by class, accepting states); state 0 is dead, 1 the start."""
    parsed = list(sre_parse.parse(text))
    top = [list(b) for b in parsed[0][1][1]] if len(parsed) == 1 and parsed[0][0] is c.BRANCH else [parsed]
    nfa = Nfa()
    start = nfa.state()
    for items in top:
        first = nfa.state()
        nfa.edge(start, None, first)
        if items and items[0] == (c.AT, c.AT_BEGINNING):
            items = items[1:]
        else:
            nfa.edge(first, frozenset(range(256)), first)
        last = nfa.build(items, first)
        nfa.edge(last, None, nfa.final)
        rest = nfa.state()
        nfa.edge(last, None, rest)
        nfa.edge(rest, frozenset(range(256)), rest)
        nfa.edge(rest, None, nfa.final)
    return determinize(nfa, start)


def determinize(nfa, start):
    def closure(states):
        todo, seen = list(states), set(states)
        while todo:
            for symbols, target in nfa.edges[todo.pop()]:
                if symbols is None and target not in seen:
                    seen.add(target)
                    todo.append(target)
        return frozenset(seen)

    sets = {s for edges in nfa.edges for s, _ in edges if s is not None}
    signature = [tuple(sorted(i for i, s in enumerate(sorted(sets, key=sorted)) if b in s)) for b in range(256)]
    names = {}
    classes = [names.setdefault(s, len(names)) for s in signature]
    samples = [classes.index(k) for k in range(len(names))]
    numbers = {frozenset(): 0, closure([start]): 1}
    rows, todo = {0: [0] * len(names)}, [closure([start])]
    while todo:
        current = todo.pop()
        row = []
        for byte in samples:
            target = closure({t for s in current for symbols, t in nfa.edges[s] if symbols and byte in symbols})
            if target not in numbers:
                numbers[target] = len(numbers)
                todo.append(target)
                if len(numbers) > MAX_STATES:
                    raise ValueError("too many states")
            row.append(numbers[target])
        rows[numbers[current]] = row
    accepting = [0] * len(numbers)
    for states, number in numbers.items():
        accepting[number] = int(nfa.final in states)
    return classes, [rows[i] for i in range(len(rows))], accepting


def matches(automaton, text):
    classes, rows, accepting = automaton
    state = 1
    for byte in text.encode():
        state = rows[state][classes[byte]]
    return bool(accepting[state])


if __name__ == "__main__":
    print(matches(compile_pattern(sys.argv[1]), sys.argv[2]))
