package log_test

import (
	"encoding/json"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/weirhq/weir/log"
)

// wholeLines are the formats with a limit on the length of a line.
var wholeLines = formats[:3]

// cutOf checks that a line in one of wholeLines is valid and at most maxBytes
// long. It reports whether the line has the key "truncated", which must be the
// last.
func cutOf(t testing.TB, format log.Format, line string, maxBytes int) bool {
	t.Helper()
	if format != log.FormatLTSV {
		return len(truncatedOf(t, line, maxBytes)) > 0
	}
	if len(line) > maxBytes {
		t.Fatalf("%d bytes, want at most %d", len(line), maxBytes)
	}
	if problem := notForTerminals(line, true); problem != "" {
		t.Fatalf("%s in %q", problem, line)
	}
	pairs := pairsOf(t, line)
	for i, label := range []string{"time", "level", "namespace", "event"} {
		if pairs[i].label != label {
			t.Fatalf("label %d is %q, want %q in %q", i, pairs[i].label, label, line)
		}
	}
	for _, p := range pairs[:len(pairs)-1] {
		if p.label == "truncated" {
			t.Fatalf("truncated is not the last label of %q", line)
		}
	}
	return pairs[len(pairs)-1].label == "truncated"
}

// bounds are the line lengths named by the format and, in the long tests, one
// byte less and more.
func bounds() (all []int) {
	if !long {
		return []int{511, 4096, 16385}
	}
	for _, at := range []int{512, 4096, 16384} {
		all = append(all, at-1, at, at+1)
	}
	return all
}

// TestEveryFormCutsHugeValues logs a value of 10 MiB in each place that accepts
// one.
func TestEveryFormCutsHugeValues(t *testing.T) {
	size := sized(128<<10, 10<<20)
	text := strings.Repeat("日\x1b\"a", size/7)
	bytes, numbers := []byte(text), make([]int, size/8)
	words := make([]string, size/100)
	for i := range words {
		words[i] = text[:99]
	}
	encoded, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	cheap := map[string]func(log.Event) log.Event{
		"Str":      func(e log.Event) log.Event { return e.Str("v", text) },
		"key":      func(e log.Event) log.Event { return e.Str(text, "v") },
		"Bytes":    func(e log.Event) log.Event { return e.Bytes("v", bytes) },
		"Hex":      func(e log.Event) log.Event { return e.Hex("v", bytes) },
		"Stringer": func(e log.Event) log.Event { return e.Stringer("v", textOf(text)) },
		"Any text": func(e log.Event) log.Event { return e.Any("v", text) },
		"Object":   func(e log.Event) log.Event { return e.Object("o", func(e log.Event) { e.Str("v", text) }) },
		"TraceID":  func(e log.Event) log.Event { return e.TraceID(text).SpanID(text) },
		"Auth":     func(e log.Event) log.Event { return e.Auth(text, log.IdentityUser) },
		"HTTP":     func(e log.Event) log.Event { return e.HTTP(&log.HTTP{Path: text, Query: text, Referer: text}) },
		"nested HTTP": func(e log.Event) log.Event {
			return e.Object("o", func(e log.Event) { e.HTTP(&log.HTTP{Path: text, Query: text, Referer: text}) })
		},
		"Err":     func(e log.Event) log.Event { return e.Err(failureText(text)) },
		"data of": func(e log.Event) log.Event { return e.Err(fault{"message", members{{"v", text}}}) },
		"fault":   func(e log.Event) log.Event { return e.Any("v", failing{}).Any("w", failure(text)) },
	}
	dear := map[string]func(log.Event) log.Event{
		"Strs": func(e log.Event) log.Event { return e.Strs("v", words) },
		"Ints": func(e log.Event) log.Event { return e.Ints("v", numbers) },
		"Any":  func(e log.Event) log.Event { return e.Any("v", []string{text}) },
		"raw":  func(e log.Event) log.Event { return e.Any("v", json.RawMessage(encoded)) },
	}
	for _, format := range wholeLines {
		for _, maxBytes := range bounds() {
			for _, redact := range [][]string{nil, {"secret"}} {
				check := func(name string, add func(log.Event) log.Event) {
					line := lineWith(t, log.Options{Format: format, MaxEventBytes: maxBytes, Redact: redact}, add)
					if !cutOf(t, format, line, max(maxBytes, 512)) {
						t.Errorf("%s, %v, %d bytes: no \"truncated\" in %s", name, format, maxBytes, line)
					}
				}
				for name, add := range cheap {
					check(name, add)
				}
				if maxBytes == 4096 {
					for name, add := range dear {
						check(name, add)
					}
				}
			}
		}
	}
}

// TestEveryFormCutsOnlyBeyondTheBound grows events byte by byte across each limit. A
// line that fits must be the same as without a limit.
func TestEveryFormCutsOnlyBeyondTheBound(t *testing.T) {
	for _, format := range wholeLines {
		for _, maxBytes := range bounds() {
			for name, add := range map[string]func(log.Event, string) log.Event{
				"a value": func(e log.Event, s string) log.Event { return e.Str("v", s) },
				"two": func(e log.Event, s string) log.Event {
					return e.Str("v", s[:len(s)/2]).Str("w", s[len(s)/2:])
				},
				"a request": func(e log.Event, s string) log.Event {
					return e.HTTP(&log.HTTP{StatusCode: 200, Path: "/", Query: s})
				},
				"an error": func(e log.Event, s string) log.Event { return e.Int("n", 1).Err(failureText(s)) },
				"a key":    func(e log.Event, s string) log.Event { return e.Int(s, 1) },
			} {
				bound := max(maxBytes, 512)
				line := func(maxBytes, length int) string {
					return lineWith(t, log.Options{Format: format, MaxEventBytes: maxBytes},
						func(e log.Event) log.Event {
							return add(e, strings.Repeat("x", length))
						})
				}
				fitting := bound - len(line(1<<20, 100)) + 100
				for length := fitting - 3; length < fitting+30; length++ {
					got := line(maxBytes, length)
					switch cut := cutOf(t, format, got, bound); {
					case cut != (length > fitting):
						t.Fatalf("%s, %v, %d bytes: cut: %v, want %v in %s", name, format, bound+length-fitting, cut,
							!cut, got)
					case !cut && got != line(1<<20, length):
						t.Fatalf("%s, %v, %d bytes: it fits, but differs: %s", name, format,
							bound+length-fitting, got)
					}
				}
			}
		}
	}
}

// TestMemoryIsReturned logs huge values and checks the process's resident
// memory after one collection. The pools of this package survive one
// collection.
func TestMemoryIsReturned(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	text := strings.Repeat("x", 10<<20)
	bytes := []byte(text)
	debug.FreeOSMemory()
	debug.FreeOSMemory()
	before := resident(t)
	var w lineWriter
	for _, format := range formats {
		logger := log.New(&w, log.Options{Format: format, MaxEventBytes: 8 << 20})
		logger.Info("event").Str("v", text).Hex("b", bytes).Err(failureText(text)).HTTP(&log.HTTP{Query: text}).Send()
		logger.With().Str("v", text).Logger().Info("event").Send()
	}
	w.lines = nil
	debug.FreeOSMemory()
	if grown := resident(t) - before; grown > 4<<20 {
		t.Errorf("%d KiB of memory more than before", grown>>10)
	}
}

// TestEveryFormCutsTooManyFields logs more fields than fit into the line. It shifts
// them byte by byte, so that the limit falls on each byte of a field.
func TestEveryFormCutsTooManyFields(t *testing.T) {
	for _, format := range wholeLines {
		for _, maxBytes := range bounds() {
			for length := range 12 {
				line := lineWith(t, log.Options{Format: format, MaxEventBytes: maxBytes}, func(e log.Event) log.Event {
					e.Int(strings.Repeat("k", length), 1)
					for range maxBytes / 4 {
						e.Int("a", 1)
					}
					return e
				})
				if !cutOf(t, format, line, max(maxBytes, 512)) {
					t.Fatalf("%v, %d bytes: no \"truncated\" in %s", format, maxBytes, line)
				}
			}
		}
	}
}

// resident returns the resident memory of the process, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("only Linux tells: %v", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return pages * os.Getpagesize()
}
