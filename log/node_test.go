package log_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
)

// TestNodeWritesTheSameBytes logs random events with this package and with the package for Node, in each format, and
// compares the lines.
func TestNodeWritesTheSameBytes(t *testing.T) {
	const program = "../node/test/programs/vectors.js"
	if _, err := exec.LookPath("node"); err != nil {
		t.Skipf("needs node, which CI installs: %v", err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skipf("the module is without the rest of its repository: %v", err)
	}
	inUTC(t)
	count := 1000
	seed := uint64(1)
	if long {
		count, seed = 10_000, uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	r := randomVectors{rand.New(rand.NewPCG(seed, 0))}
	var input bytes.Buffer
	var vectors []vector
	for range count {
		line, err := json.Marshal(r.vector())
		if err != nil {
			t.Fatal(err)
		}
		input.Write(append(line, '\n'))
		vectors = append(vectors, vector{})
		if err := json.Unmarshal(line, &vectors[len(vectors)-1]); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
	}
	inputs := bytes.Split(input.Bytes(), []byte("\n"))
	cmd := exec.CommandContext(t.Context(), "node", program)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input.Bytes()), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 10<<20)
	for i, v := range vectors {
		var got []string
		if !lines.Scan() {
			t.Fatalf("Node has logged %d of %d events", i, count)
		}
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		for f, format := range []log.Format{log.FormatJSON, log.FormatJSONv1, log.FormatLTSV, log.FormatHuman} {
			if want := v.log(t, format); got[f] != want {
				t.Fatalf("%v of event %d\n%s\nNode wrote\n%q\nand Go\n%q", format, i, inputs[i], got[f], want)
			}
		}
	}
}

// randomVectors makes vectors; see testdata/vectors/README.md.
type randomVectors struct{ *rand.Rand }

func pick[T any](r randomVectors, from ...T) T { return from[r.IntN(len(from))] }

type object = map[string]any

func (r randomVectors) vector() object {
	return object{
		"options": object{
			"namespace":       r.text(),
			"max_event_bytes": pick(r, 16384, 16384, 512, 600, 1000),
			"redact":          pick(r, []string{}, []string{"token"}, []string{"Password", "k"}),
		},
		"created_at": r.time(),
		"level":      pick(r, "debug", "info", "warn", "error", "fatal"),
		"event":      r.text(),
		"with":       r.fields(r.IntN(3), 1),
		"calls":      append(r.parts(), r.fields(r.IntN(8), 3)...),
	}
}

// parts returns calls for the event's own keys.
func (r randomVectors) parts() []any {
	calls := []any{}
	if r.IntN(3) == 0 {
		calls = append(calls, []any{"trace_id", r.text()}, []any{"span_id", r.text()})
	}
	if r.IntN(4) == 0 {
		calls = append(calls, []any{"auth", r.text(), pick(r, "user", "service")})
	}
	if r.IntN(3) == 0 {
		calls = append(calls, []any{"http", object{
			"status_code": pick(r, "0", "200", "404", "503"), "method": r.text(), "host": r.text(), "path": r.text(),
			"query":   pick[any](r, r.text(), []any{"a=", r.text(), "&to%6ben=", r.text()}),
			"referer": []any{"https://u:p@h/?token=", r.text()}, "started_at": r.time(), "duration": r.integer(),
			"user_agent": r.text(), "request_content_length": strconv.Itoa(r.IntN(1 << 40)),
		}})
	}
	for range r.IntN(3) {
		calls = append(calls, []any{"err", r.error(2)})
	}
	return calls
}

// error returns an error whose message has that of its cause, as in Go. Its data has keys that order and meaning cannot
// change in an object of JavaScript.
func (r randomVectors) error(depth int) object {
	if depth > 0 && r.IntN(4) == 0 {
		return object{"join": []any{r.error(0), r.error(0)}}
	}
	e := object{"message": r.text()}
	if depth > 0 && r.IntN(3) == 0 {
		cause := r.error(0)
		e["cause"], e["message"] = cause, []any{r.text(), ": ", cause["message"]}
	}
	data := r.fields(r.IntN(3), 1)
	for i, call := range data {
		call.([]any)[1] = []any{"x" + strconv.Itoa(i), r.text()}
	}
	e["data"] = data
	return e
}

func (r randomVectors) fields(count, depth int) []any {
	calls := []any{}
	for range count {
		kind := r.IntN(13)
		if depth == 0 {
			kind = r.IntN(9)
		}
		var method string
		var value any
		switch kind {
		case 0, 1, 2:
			method, value = "str", r.text()
		case 3:
			method, value = "int", r.integer()
		case 4:
			method, value = "float64", r.float()
		case 5:
			method, value = "bool", r.IntN(2) == 0
		case 6:
			method, value = "time", r.time()
		case 7:
			method, value = "null", nil
		case 8:
			method, value = "bytes", r.text()
		case 9, 10:
			method, value = "strs", []any{r.text(), r.text()}
		case 11:
			method, value = "object", r.fields(r.IntN(4), depth-1)
		case 12:
			method, value = "array", r.elements(depth-1)
		}
		calls = append(calls, []any{method, r.key(), value})
	}
	return calls
}

func (r randomVectors) elements(depth int) []any {
	calls := r.fields(r.IntN(4), depth)
	for _, call := range calls {
		call.([]any)[1] = ""
	}
	return calls
}

func (r randomVectors) key() any {
	return pick[any](r, "k", "id", "Token", "user.token", "password", "event", "0", "err", "time", r.text(), r.text())
}

// text returns a text with everything that an encoder treats in a special way. An invalid byte is one that cannot belong
// to a character with its neighbours.
func (r randomVectors) text() any {
	parts := []any{}
	for range r.IntN(5) {
		parts = append(parts, pick[any](r, "a", "two words", "é", "日本", "😀", "\x00", "\x1b[31m", "\x7f", "\u0085", "\u2028", "\u202e",
			`"`, `\`, `\ufffd`, "\ufffd", "\t", "\n", "=", ":", ".", "[", "", "<&>", "$&",
			object{"hex": "ff"}, object{"hex": "eda080"}, object{"hex": "c0"},
			object{"repeat": pick[any](r, "x", "é", "\n", "😀", object{"hex": "fe"}), "times": r.IntN(200)}))
	}
	return parts
}

func (r randomVectors) integer() string {
	return strconv.FormatInt(int64(r.Uint64())>>r.IntN(64), 10)
}

func (r randomVectors) float() string {
	switch f := math.Float64frombits(r.Uint64()); {
	case r.IntN(2) == 0:
		return strconv.FormatFloat(float64(r.IntN(1000))/8, 'g', -1, 64)
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return pick(r, "Infinity", "-Infinity", "-0")
	default:
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
}

func (r randomVectors) time() string {
	nanoseconds := pick(r, r.Int64N(1e9), r.Int64N(1e6)*1000, 0)
	return time.Unix(r.Int64N(4e9)-1e9, nanoseconds).UTC().Format(time.RFC3339Nano)
}
