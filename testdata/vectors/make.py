#!/usr/bin/env python3
"""Writes the expected bytes of each event in the vector files.

This is a second implementation of docs/format.md, written for readability. It
shares no code with package log, has no buffers, and tries every length when it
has to cut. It reads the input of each vector, as README.md defines it, and
writes the expected bytes beside it.

    python3 make.py           rewrites the files
    python3 make.py --check   lists the files that would change, and fails
"""

import base64
import decimal
import json
import math
import pathlib
import re
import struct
import sys
from bisect import bisect_right
from datetime import datetime, timedelta
from itertools import accumulate
from urllib.parse import unquote_to_bytes

FORMS = ["json", "json_v1", "ltsv", "human"]
LEVELS = {"fatal": 0, "error": 1, "warn": 2, "info": 3, "debug": 4}
USUAL_BOUND, LEAST_BOUND = 16384, 512
LEAST_CUT = 40
RESERVE = 176
MAX_FRAMES = 32
MAX_PATH = 128
REDACTED = "[redacted]"

# ---- values ----------------------------------------------------------------
# A value of an event is a str, a Literal (JSON other than a string), an Object
# or a list. Invalid bytes of UTF-8 are lone surrogates in a str, one for each
# byte.


class Literal(str):
    """A number, true, false or null, in JSON."""


class Object(list):
    """Pairs of key and value, in order; keys may be duplicates."""

    def get(self, key):
        return next((v for k, v in self if k == key), None)


def to_bytes(s):
    """The bytes of a text of the input."""
    if isinstance(s, str):
        return s.encode()
    if isinstance(s, list):
        return b"".join(map(to_bytes, s))
    if "hex" in s:
        return bytes.fromhex(s["hex"])
    return to_bytes(s["repeat"]) * s["times"]


def text(s):
    return to_bytes(s).decode("utf-8", "surrogateescape")


# ---- notations -------------------------------------------------------------

SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
LTSV_SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def steers_a_terminal(c):
    return (
        c < 0x20
        or 0x7F <= c <= 0x9F
        or c in (0x061C, 0x200E, 0x200F, 0x2028, 0x2029)
        or 0x202A <= c <= 0x202E
        or 0x2066 <= c <= 0x2069
    )


def is_invalid(char):
    return 0xD800 <= ord(char) <= 0xDFFF


def json_char(char):
    if char in SHORT:
        return SHORT[char]
    if is_invalid(char):
        return "\\ufffd"
    return f"\\u{ord(char):04x}" if steers_a_terminal(ord(char)) else char


def ltsv_char(char):
    if char in LTSV_SHORT:
        return LTSV_SHORT[char]
    if is_invalid(char):
        return "\ufffd"
    return f"\\u{ord(char):04x}" if steers_a_terminal(ord(char)) else char


def shown_char(char):
    """A text outside quotes in the human format."""
    return char if char in '"\\' else json_char(char)


def escaped(s, char):
    return "".join(map(char, s))


def to_json(value):
    if isinstance(value, Literal):
        return value
    if isinstance(value, str):
        return '"' + escaped(value, json_char) + '"'
    if isinstance(value, Object):
        return "{" + ",".join(to_json(k) + ":" + to_json(v) for k, v in value) + "}"
    return "[" + ",".join(map(to_json, value)) + "]"


def shortest_digits(f, narrow):
    """The digits and the exponent of the shortest decimal that parses as f, and of these the nearest."""
    for precision in range(1, 18):
        for rounding in (decimal.ROUND_HALF_EVEN, decimal.ROUND_UP, decimal.ROUND_DOWN):
            d = decimal.Context(prec=precision, rounding=rounding).create_decimal(decimal.Decimal(f))
            if (to_float32(float(d)) if narrow else float(d)) == f:
                return "".join(map(str, d.as_tuple().digits)), d.adjusted()


def to_float32(f):
    try:
        return struct.unpack("f", struct.pack("f", f))[0]
    except OverflowError:
        return math.copysign(math.inf, f)


def number(f, narrow=False):
    """A float as in encoding/json, which is the same as in ECMAScript, except for -0."""
    if math.isnan(f):
        return "NaN"
    if math.isinf(f):
        return "+Inf" if f > 0 else "-Inf"
    sign = "-" if math.copysign(1, f) < 0 else ""
    f = abs(f)
    if f == 0:
        return Literal(sign + "0")
    digits, exponent = shortest_digits(f, narrow)
    digits = digits.rstrip("0") or "0"
    if not -7 < exponent < 21:
        fraction = "." + digits[1:] if digits[1:] else ""
        return Literal(f"{sign}{digits[0]}{fraction}e{exponent:+d}")
    if exponent < 0:
        return Literal(sign + "0." + "0" * (-exponent - 1) + digits)
    whole, fraction = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return Literal(sign + whole + ("." + fraction if fraction else ""))


INSTANT = re.compile(r"(\d{4,})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")


def in_utc(s):
    """The second, in RFC 3339 without a zone, and the nine fractional digits."""
    year, month, day, hour, minute, second, fraction, zone = INSTANT.fullmatch(s).groups()
    year, shift = int(year), 0
    if zone != "Z":
        shift = int(zone[:3]) * 60 + int(zone[0] + zone[4:])
    # Python has no years after 9999. The Gregorian calendar repeats after 400 years.
    at = datetime(2000 + year % 400, int(month), int(day), int(hour), int(minute), int(second))
    at -= timedelta(minutes=shift)
    year += at.year - (2000 + year % 400)
    return year, at.strftime("-%m-%dT%H:%M:%S"), (fraction or "").ljust(9, "0")


def instant(s):
    year, rest, fraction = in_utc(s)
    if not 0 <= year <= 9999:
        return "!ERROR: year outside of 0 to 9999"
    fraction = fraction.rstrip("0")
    return f"{year:04}{rest}{'.' + fraction if fraction else ''}Z"


# ---- the calls of a vector -------------------------------------------------


def scalar(method, value):
    if method == "str":
        return text(value)
    if method == "bool":
        return Literal("true" if value else "false")
    if method in ("int", "uint", "dur"):
        return Literal(int(value))
    if method == "float64":
        return number(float(value))
    if method == "float32":
        return number(to_float32(float(value)), narrow=True)
    if method == "time":
        return instant(value)
    if method == "bytes":
        return base64.b64encode(to_bytes(value)).decode()
    if method == "hex":
        return to_bytes(value).hex()
    if method == "null":
        return Literal("null")
    if method == "fail":
        return "!ERROR: " + text(value)
    raise ValueError(f"unknown method {method}")


SLICES = {"strs": "str", "bools": "bool", "ints": "int", "uints": "uint", "float64s": "float64", "durs": "dur"}


def field(method, key, value=None):
    if method == "object":
        return text(key), fields(value)
    if method == "array":
        return text(key), [v for _, v in fields(value)]
    if method in SLICES:
        return text(key), [scalar(SLICES[method], v) for v in value]
    return text(key), scalar(method, value)


def fields(calls):
    return Object(field(*call) for call in calls)


def chain(error):
    while error:
        yield error
        error = error.get("cause")


def error_fields(error):
    if "fails" in error:
        return Object([("error", "!ERROR: " + text(error["fails"]))])
    return fields(error.get("data", []))


def frame(f):
    return Object([("file", text(f["file"])), ("line", Literal(f["line"])), ("function", text(f["function"]))])


def errors(error):
    """The objects of an error: one, or several for joined errors."""
    if "join" in error:
        return [e for one in error["join"] for e in errors(one)]
    out = Object([("message", text(error["message"]))])
    stacks = [e["stack"] for e in chain(error) if e.get("stack")]
    if stacks:
        out.append(("stack_trace", [frame(f) for f in stacks[-1][:MAX_FRAMES]]))
    data = Object(pair for e in chain(error) for pair in error_fields(e))
    if data:
        out.append(("data", data))
    return [out]


HTTP = {
    "status_code": Literal, "method": text, "scheme": text, "host": text, "port": Literal, "path": text,
    "query": text, "started_at": instant, "ended_at": instant, "duration": Literal,
    "response_content_length": Literal, "route": text, "client": text, "protocol": text, "user_agent": text,
    "referer": text, "request_content_length": Literal,
}  # fmt: skip


def http(h):
    """The object http: the status, and the other keys that are neither empty nor zero, in order."""
    given = Object((key, kind(h[key])) for key, kind in HTTP.items() if key in h)
    zero = lambda v: not v or isinstance(v, Literal) and v == "0"
    return Object((k, v) for k, v in given if k == "status_code" or not zero(v))


def event(vector):
    """The event as an object of shape v2."""
    own, data, errs = {}, Object(), []
    for method, *arguments in vector.get("with", []) + vector["calls"]:
        if method in ("trace_id", "span_id"):
            own[method] = text(arguments[0]) or own.get(method, "")
        elif method == "http":
            own[method] = http(arguments[0])
        elif method == "auth":
            own[method] = Object([("identity", text(arguments[0])), ("identity_type", text(arguments[1]))])
        elif method == "err":
            errs += errors(arguments[0])
        else:
            data.append(field(method, *arguments))
    tree = Object([
        ("created_at", instant(vector["created_at"])),
        ("namespace", text(vector["options"].get("namespace", ""))),
        ("event", text(vector["event"])),
        ("trace_id", own.get("trace_id", "")),
        ("span_id", own.get("span_id", "")),
        ("severity", Literal(LEVELS[vector["level"]])),
        ("http", own.get("http")),
        ("auth", own.get("auth")),
        ("data", data),
        ("errors", errs),
    ])  # fmt: skip
    return Object((k, v) for k, v in tree if v or k in ("namespace", "event"))


# ---- redaction -------------------------------------------------------------


def lower(key):
    """Only A to Z are folded, so that no language needs the tables of Unicode."""
    return "".join(c.lower() if c.isascii() else c for c in key)


def is_listed(key, listed):
    """A key with dots or brackets matches by its last part: token of user.token, user[token] and user[token][]."""
    if "." in key or "[" in key:
        key = re.split(r"[.\[]", key.rstrip("[]"))[-1]
    return lower(key) in listed


def redact_value(value, listed):
    if isinstance(value, Object):
        return Object((k, REDACTED if is_listed(k, listed) else redact_value(v, listed)) for k, v in value)
    if isinstance(value, list):
        return [redact_value(v, listed) for v in value]
    return value


def decodings(name):
    """A parameter's name: unchanged, decoded once and decoded twice."""
    name = name.encode("utf-8", "surrogateescape")
    for _ in range(3):
        yield name.decode("utf-8", "surrogateescape")
        name = unquote_to_bytes(name.replace(b"+", b" "))


def redact_query(query, listed):
    def cut(rest):
        begin = re.match("[^&;?#]*", rest)[0]
        name = begin.partition("=")[0]
        if "=" in begin and any(is_listed(n, listed) for n in decodings(name)):
            return name + "=" + REDACTED, re.sub("^[^&#]*", "", rest)
        return begin, rest[len(begin) :]

    shown, rest = cut(query)
    while rest:
        piece, rest, sign = *cut(rest[1:]), rest[0]
        shown += sign + piece
    return shown


REFERER = re.compile(r"([^?#]*?//)?([^/?#]*@)?([^?#]*)(.*)", re.DOTALL)


def redact_referer(referer, listed):
    scheme, user, rest, query = (part or "" for part in REFERER.fullmatch(referer).groups())
    if scheme and user:
        user = REDACTED + "@"
    return scheme + user + rest + redact_query(query, listed)


def redact(tree, listed):
    listed = set(map(lower, listed))
    if not listed:
        return tree

    def part(key, value):
        if key == "data":
            return redact_value(value, listed)
        if key == "errors":
            return [Object((k, part(k, v)) for k, v in e) for e in value]
        if key == "http":
            return Object((k, part(k, v)) for k, v in value)
        if key == "query":
            return redact_query(value, listed)
        if key == "referer":
            return redact_referer(value, listed)
        return value

    return Object((k, part(k, v)) for k, v in tree)


# ---- bounds ----------------------------------------------------------------


class Cut:
    """A text that can be cut between its characters. An escape is one character."""

    def __init__(self, s, char):
        self.s = s
        self.ends = list(accumulate(len(char(c).encode()) for c in s))
        self.bytes = self.ends[-1] if s else 0

    def at(self, most):
        return self.s[: bisect_right(self.ends, most)]


def greatest_length(cuts, fits):
    """The greatest length for all cuts so that fits(length), or None.

    It assumes that each is cut to exactly that length, although most have a
    character's boundary slightly before it.
    """
    for length in range(max((c.bytes for _, c in cuts), default=0), LEAST_CUT - 1, -1):
        if fits(length):
            return length
    return None


def strings(value, path=""):
    """Each string of a value with its path."""
    if isinstance(value, Literal):
        return
    if isinstance(value, str):
        yield path, Cut(value, json_char)
        return
    pairs = value if isinstance(value, Object) else [(str(i), v) for i, v in enumerate(value)]
    for key, v in pairs:
        yield from strings(v, f"{path}.{key}" if path else key)


def map_strings(value, change):
    if isinstance(value, Literal):
        return value
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Object):
        return Object((k, map_strings(v, change)) for k, v in value)
    return [map_strings(v, change) for v in value]


def bounded_json(tree, bound):
    """The tree, with its strings cut if necessary for a line of bound bytes."""
    whole = len(to_json(tree).encode()) + 1
    if whole <= bound:
        return tree
    cuts = list(strings(tree))

    def truncated(length):
        return ("truncated", [path for path, c in cuts if c.bytes > length])

    def fits(length):
        saved = sum(c.bytes - length for _, c in cuts if c.bytes > length)
        member = to_json(Object([truncated(length)]))
        return whole - saved + len(member.encode()) - 1 <= bound  # without its braces, but with a comma

    length = greatest_length(cuts, fits)
    if length is None:
        return Curtailed(bound).event(tree)
    cut = map_strings(tree, lambda s: Cut(s, json_char).at(length))
    return Object(cut + [truncated(length)])


class Curtailed:
    """An event that is still too long after its strings were cut.

    All strings are cut to LEAST_CUT bytes. Members are added in their order,
    and one is left out if the line so far, with each open bracket closed,
    would be longer than the bound less RESERVE. The event's own members are
    kept, even if they are empty; RESERVE is for them.
    """

    def __init__(self, bound):
        self.budget, self.parts = bound - RESERVE, []

    def event(self, tree):
        kept, used = Object(), 1
        for key, value in tree:
            used += len(kept[-1:]) + len(to_json(key).encode()) + 1
            value, used = self.value(value, used, 1, key)
            kept.append((key, value))
        return Object(kept + [("truncated", self.parts)])

    def cut_in(self, part):
        if part not in self.parts:
            self.parts.append(part)

    def value(self, value, used, depth, part):
        """The shortened value, and the length of the line after it; used is the length before it."""
        if isinstance(value, Literal):
            return value, used + len(value)
        if isinstance(value, str):
            c = Cut(value, json_char)
            if c.bytes > LEAST_CUT:
                self.cut_in(part)
            cut = c.at(LEAST_CUT)
            return cut, used + len(to_json(cut).encode())
        named = isinstance(value, Object)
        kept, used, depth = type(value)(), used + 1, depth + 1
        for member in value:
            key, inner = member if named else (None, member)
            before = used + len(kept[-1:]) + (len(to_json(key).encode()) + 1 if named else 0)
            inner, after = self.value(inner, before, depth, part)
            if after + depth > self.budget:
                self.cut_in(part)
                continue
            kept.append((key, inner) if named else inner)
            used = after
        return kept, used + 1


def curtailed_ltsv(line, cuts, bound):
    pairs = []
    for label, c in cuts:
        pair = (label, c.at(LEAST_CUT))
        if len(line(pairs + [pair, ("truncated", "*")]).encode()) <= bound:
            pairs.append(pair)
    return line(pairs + [("truncated", "*")])


def bounded_ltsv(pairs, bound):
    """The line of the pairs, with their values cut if necessary."""

    def line(pairs):
        return "\t".join(label + ":" + escaped(value, ltsv_char) for label, value in pairs) + "\n"

    whole = len(line(pairs).encode())
    if whole <= bound:
        return line(pairs)
    cuts = [(label, Cut(value, ltsv_char)) for label, value in pairs]

    def truncated(length):
        return ("truncated", ",".join(label for label, c in cuts if c.bytes > length))

    def fits(length):
        saved = sum(c.bytes - length for _, c in cuts if c.bytes > length)
        return whole - saved + len("\ttruncated:" + truncated(length)[1]) <= bound

    length = greatest_length(cuts, fits)
    if length is None:
        return curtailed_ltsv(line, cuts, bound)
    return line([(label, c.at(length)) for label, c in cuts] + [truncated(length)])


# ---- the forms -------------------------------------------------------------


def shape_v1(tree):
    out = Object()
    for key, value in tree:
        if key != "errors":
            out.append((key, value))
            continue
        out.append(("error", Object(("error" if k == "message" else k, v) for k, v in value[0])))
        if value[1:]:
            out.append(("errors", value[1:]))
    return out


LTSV_OWN = set(
    """time level namespace event trace_id span_id host method protocol uri scheme vhost port status size reqsize
    reqtime started_at ended_at ua referer route identity identity_type err stack truncated""".split()
)


def microseconds(rfc3339):
    second, _, fraction = rfc3339.rstrip("Z").partition(".")
    return second + "." + fraction.ljust(6, "0")[:6] + "Z"


def seconds(nanoseconds):
    n = int(nanoseconds)
    whole, rest = divmod(abs(n), 10**9)
    return f"{'-' if n < 0 else ''}{whole}.{rest // 1000:06}"


def uri(h):
    query = h.get("query")
    return (h.get("path") or "") + ("?" + query if query else "")


def label_of(key):
    return re.sub(rb"[^0-9A-Za-z_.-]", b"_", key.encode("utf-8", "surrogateescape")).decode() or "_"


def is_taken_apart(path, value):
    """Whether the members of a value become pairs, each with the path before its key."""
    return isinstance(value, Object) and value and len(path.encode("utf-8", "surrogateescape")) <= MAX_PATH


def ltsv_data(members, prefix=""):
    for key, value in members:
        if is_taken_apart(prefix + key, value):
            yield from ltsv_data(value, prefix + key + ".")
            continue
        label = label_of(prefix + key)
        yield "data." + label if label in LTSV_OWN else label, value if isinstance(value, str) else to_json(value)


def ltsv_http(h):
    as_it_is = lambda key: h.get(key)
    time = lambda key: h.get(key) and microseconds(h.get(key))
    return [
        ("host", as_it_is("client")),
        ("method", as_it_is("method")),
        ("protocol", as_it_is("protocol")),
        ("uri", uri(h)),
        ("scheme", as_it_is("scheme")),
        ("vhost", as_it_is("host")),
        ("port", as_it_is("port")),
        ("status", as_it_is("status_code")),
        ("size", as_it_is("response_content_length") or (h.get("status_code") != "0" and Literal("0"))),
        ("reqsize", as_it_is("request_content_length")),
        ("reqtime", h.get("duration") and seconds(h.get("duration"))),
        ("started_at", time("started_at")),
        ("ended_at", time("ended_at")),
        ("ua", as_it_is("user_agent")),
        ("referer", as_it_is("referer")),
        ("route", as_it_is("route")),
    ]


def ltsv_error(e):
    yield "err", e.get("message")
    yield from ltsv_data(e.get("data") or [])
    if e.get("stack_trace"):
        yield "stack", " ".join(f"{f.get('function')}@{f.get('file')}:{f.get('line')}" for f in e.get("stack_trace"))


def ltsv(tree, level):
    pairs = [
        ("time", microseconds(tree.get("created_at"))),
        ("level", level.title()),
        ("namespace", tree.get("namespace")),
        ("event", tree.get("event")),
    ]
    pairs += [(key, tree.get(key)) for key in ("trace_id", "span_id") if tree.get(key)]
    pairs += [(label, v) for label, v in ltsv_http(tree.get("http")) if v] if tree.get("http") else []
    pairs += tree.get("auth") or []
    pairs += ltsv_data(tree.get("data") or [])
    for e in tree.get("errors") or []:
        pairs += ltsv_error(e)
    return pairs


def as_read(value):
    """The text after parsing the JSON: U+FFFD for each byte of invalid UTF-8."""
    if isinstance(value, Literal):
        return value
    if isinstance(value, str):
        return "".join("\ufffd" if is_invalid(c) else c for c in value)
    if isinstance(value, Object):
        return Object((as_read(k), as_read(v)) for k, v in value)
    return [as_read(v) for v in value]


def in_quotes_if_needed(s):
    shown = escaped(s, json_char)
    return f'"{shown}"' if shown != s or not s or " " in s or "=" in s else shown


def is_text(value):
    return isinstance(value, str) and not isinstance(value, Literal)


def human_fields(members, prefix=""):
    for key, value in members:
        if is_taken_apart(prefix + key, value):
            yield from human_fields(value, prefix + key + ".")
        elif is_text(value):
            yield in_quotes_if_needed(prefix + key) + "=" + in_quotes_if_needed(value)
        else:
            yield in_quotes_if_needed(prefix + key) + "=" + to_json(value)


def human_duration(nanoseconds):
    """Two or three digits, in the largest possible unit; not rounded."""
    n = abs(int(nanoseconds))
    sign = "-" if int(nanoseconds) < 0 else ""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if n >= size:
            tenths = n * 10 // size
            return f"{sign}{tenths // 10}{'.' + str(tenths % 10) if tenths < 100 else ''}{unit}"
    return f"{sign}{n}ns"


def human_http(h):
    yield escaped(h.get("method") or "", shown_char)
    yield escaped(uri(h), shown_char)
    yield h.get("status_code") if h.get("status_code") != "0" else ""
    yield human_duration(h.get("duration")) if h.get("duration") else ""


def human_target(data):
    """The word for the upstream of a request, and the fields that it replaces."""
    found = []
    for key in ("proxy_name", "destination"):
        values = [f for f in data if f[0] == key and is_text(f[1]) and f[1]]
        if not values:
            return "", []
        found.append(values[0])
    name, destination = (value for key, value in found)
    return in_quotes_if_needed(name + "@" + destination.removeprefix("http://")), found


def human_error(e):
    parts = ["    error:", escaped(e.get("message") or "", shown_char), *human_fields(e.get("data") or [])]
    yield " ".join(filter(None, parts))
    for f in e.get("stack_trace") or []:
        function, file, line = (f.get(key) or "" for key in ("function", "file", "line"))
        yield "        " + escaped(f"{function} {file}:{line}", shown_char)


def human(tree, level):
    """The human format in UTC, without colour; the tree may have truncated."""
    data, target, replaced = tree.get("data") or [], "", []
    if tree.get("http"):
        target, replaced = human_target(data)
    own = [("span_id", tree.get("span_id"))] + (tree.get("auth") or [])
    parts = [
        tree.get("created_at")[11:19] + (tree.get("created_at")[19:-1] or ".").ljust(4, "0")[:4],
        level.upper().ljust(5),
        escaped(tree.get("event"), shown_char),
        *human_http(tree.get("http") or Object([("status_code", "0")])),
        target,
        *human_fields(f for f in data if not any(f is r for r in replaced)),
        "#" + in_quotes_if_needed(tree.get("trace_id")[:8]) if tree.get("trace_id") else "",
        *human_fields((k, v) for k, v in own if v),
    ]
    if tree.get("truncated"):
        parts.append("truncated=" + in_quotes_if_needed(",".join(tree.get("truncated"))))
    lines = [" ".join(filter(None, parts))]
    for e in tree.get("errors") or []:
        lines += human_error(e)
    return "\n".join(lines) + "\n"


def expectations(vector):
    options, level = vector["options"], vector["level"]
    bound = max(LEAST_BOUND, options.get("max_event_bytes") or USUAL_BOUND)
    tree = redact(event(vector), options.get("redact", []))
    return {
        "json": to_json(bounded_json(tree, bound)) + "\n",
        "json_v1": to_json(bounded_json(shape_v1(tree), bound)) + "\n",
        "ltsv": bounded_ltsv(ltsv(tree, level), bound),
        "human": human(as_read(bounded_json(tree, bound)), level),
    }


# ---- files -----------------------------------------------------------------


def remade(content):
    lines = []
    for line in content.splitlines():
        vector = {k: v for k, v in json.loads(line).items() if k not in FORMS}
        try:
            vector |= expectations(vector)
        except Exception as e:
            raise SystemExit(f"vector {vector.get('name')!r}: {e!r}")
        lines.append(json.dumps(vector) + "\n")
    return "".join(lines)


def main():
    stale = []
    for path in sorted(pathlib.Path(__file__).parent.glob("*.jsonl")):
        old = path.read_text()
        new = remade(old)
        if new != old:
            stale.append(path)
    for path in stale:
        if "--check" in sys.argv[1:]:
            print(f"{path} is not as make.py writes it")
        else:
            path.write_text(remade(path.read_text()))
    sys.exit(bool(stale and "--check" in sys.argv[1:]))


if __name__ == "__main__":
    main()
