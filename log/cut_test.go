package log_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weirhq/weir/log"
)

// truncatedOf checks that a line is valid and at most maxBytes long, and
// returns the value of "truncated".
func truncatedOf(t testing.TB, line string, maxBytes int) []string {
	t.Helper()
	if len(line) > maxBytes {
		t.Fatalf("%d bytes, want at most %d", len(line), maxBytes)
	}
	if raw := rawControl(line); raw != "" {
		t.Fatalf("%s in %q", raw, line)
	}
	var event struct {
		CreatedAt string `json:"created_at"`
		Severity  *int
		Truncated []string
	}
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	if event.CreatedAt == "" || event.Severity == nil {
		t.Fatalf("keys of the event itself are missing in %s", line)
	}
	if event.Truncated == nil {
		return nil
	}
	const key = `,"truncated":`
	last := line[strings.LastIndex(line, key)+len(key):]
	var names []string
	if json.Unmarshal([]byte(strings.TrimSuffix(last, "}\n")), &names) != nil || !slices.Equal(names, event.Truncated) {
		t.Fatalf("truncated is not the last key of %s", line)
	}
	return event.Truncated
}

// TestEventsAreCutOnlyBeyondTheBound grows an event byte by byte across its limit. It must not
// be cut while it fits, and by no more than necessary afterwards.
func TestEventsAreCutOnlyBeyondTheBound(t *testing.T) {
	for _, maxBytes := range []int{512, 4096, 16384} {
		for _, character := range []string{"a", "é", "日", "\U0001F600", "\x01", "\"", "\u0085"} {
			empty := lineWith(t, log.Options{MaxEventBytes: maxBytes},
				func(e log.Event) log.Event { return e.Str("body", "") })
			weight := len(plainJSON(t, character)) - 2
			if character == "\u0085" {
				weight = len(`\u0085`)
			}
			fitting := (maxBytes - len(empty)) / weight
			for n := fitting - 3; n < fitting+40; n++ {
				text := strings.Repeat(character, n)
				line := lineWith(t, log.Options{MaxEventBytes: maxBytes},
					func(e log.Event) log.Event { return e.Str("body", text) })
				names := truncatedOf(t, line, maxBytes)
				got := dataOf(t, line)["body"].(string)
				if n <= fitting {
					if names != nil || got != text {
						t.Fatalf("bound %d, %d x %q fits, but %v was cut", maxBytes, n, character, names)
					}
					continue
				}
				if !slices.Equal(names, []string{"data.body"}) {
					t.Fatalf("bound %d: truncated %v, want data.body", maxBytes, names)
				}
				if !strings.HasPrefix(text, got) || maxBytes-len(line) > weight {
					t.Fatalf("bound %d: cut to %q, with %d bytes to spare", maxBytes, got, maxBytes-len(line))
				}
			}
		}
	}
}

func TestLongestStringsAreCut(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	line := lineWith(t, log.Options{}, func(e log.Event) log.Event {
		return e.HTTP(&log.HTTP{Query: long(20000), Path: long(1000), UserAgent: long(9000)}).
			Str("short", "kept").Object("o", func(e log.Event) { e.Strs("list", []string{"a", long(30000)}) }).
			Err(fmt.Errorf("%s", long(12000)))
	})
	want := []string{"http.query", "http.user_agent", "data.o.list.1", "errors.0.message"}
	if got := truncatedOf(t, line, 16384); !slices.Equal(got, want) {
		t.Errorf("truncated %v, want %v", got, want)
	}
	var event struct {
		HTTP struct {
			Query, Path string
			UserAgent   string `json:"user_agent"`
		}
	}
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		t.Fatal(err)
	}
	if h := event.HTTP; len(h.Path) != 1000 || len(h.Query) != len(h.UserAgent) || len(line) < 16384-8 {
		t.Errorf("path %d, query %d, user agent %d, line %d bytes long", len(h.Path), len(h.Query), len(h.UserAgent),
			len(line))
	}
}

// TestPairOfEscapesIsOneCharacter cuts a text of escaped surrogates. Only
// json.RawMessage can bring these into a line.
func TestPairOfEscapesIsOneCharacter(t *testing.T) {
	for shift := range 12 {
		raw := json.RawMessage(`"` + strings.Repeat("x", shift) + strings.Repeat(`\ud83d\uDE00`, 2000) + `"`)
		line := lineWith(t, log.Options{MaxEventBytes: 4096}, func(e log.Event) log.Event { return e.Any("v", raw) })
		truncatedOf(t, line, 4096)
		if got := dataOf(t, line)["v"].(string); strings.ContainsRune(got, utf8.RuneError) ||
			!strings.HasSuffix(got, "\U0001F600") {
			t.Errorf("cut in the middle of a pair: %q", got[max(0, len(got)-20):])
		}
	}
}

// TestHugePartsOtherThanStringsAreCut cuts events that are too long because of something other
// than strings.
func TestHugePartsOtherThanStringsAreCut(t *testing.T) {
	huge := strings.Repeat("k", 10<<20)
	big := map[string]int{}
	for i := range 5000 {
		big[fmt.Sprint("key", i)] = i
	}
	everything := func(e log.Event) log.Event {
		e.TraceID(huge).SpanID(huge).Auth(huge, log.IdentityType(huge)).
			HTTP(&log.HTTP{Method: huge, Scheme: huge, Host: huge, Path: huge, Query: huge, Route: huge, Client: huge,
				Protocol: huge, UserAgent: huge, Referer: huge})
		for range 1000 {
			e.Str(huge[:100], huge[:40]).Err(errRefused)
		}
		return e
	}
	for name, c := range map[string]struct {
		add  func(log.Event) log.Event
		want []string
	}{
		"numbers": {func(e log.Event) log.Event { return e.Ints("n", make([]int, 50000)) }, []string{"data"}},
		"key":     {func(e log.Event) log.Event { return e.Str(huge, "v") }, []string{"data"}},
		"fields":  {func(e log.Event) log.Event { return e.Any("m", big) }, []string{"data"}},
		"errors": {func(e log.Event) log.Event {
			for range 1000 {
				e.Err(errRefused)
			}
			return e
		}, []string{"errors"}},
		"everything": {everything, []string{"trace_id", "span_id", "http", "data", "errors"}},
	} {
		for _, maxBytes := range []int{1, 512, 700, 4096, 16384} {
			t.Run(fmt.Sprint(name, maxBytes), func(t *testing.T) {
				line := lineWith(t, log.Options{MaxEventBytes: maxBytes, Namespace: strings.Repeat("n", 100)}, c.add)
				got := truncatedOf(t, line, max(512, maxBytes))
				for _, w := range c.want {
					if !slices.Contains(got, w) {
						t.Errorf("truncated %v, want %s in it", got, w)
					}
				}
			})
		}
	}
}

func TestHugeValuesAreCut(t *testing.T) {
	size := sized(1<<20, 10<<20)
	huge := strings.Repeat("日\x00", size/4)
	for name, add := range map[string]func(log.Event) log.Event{
		"Str":   func(e log.Event) log.Event { return e.Str("v", huge) },
		"Bytes": func(e log.Event) log.Event { return e.Bytes("v", []byte(huge)) },
		"Hex":   func(e log.Event) log.Event { return e.Hex("v", []byte(huge)) },
		"Any":   func(e log.Event) log.Event { return e.Any("v", [1]string{huge}) },
		"Err":   func(e log.Event) log.Event { return e.Err(fmt.Errorf("%s", huge)) },
		"HTTP":  func(e log.Event) log.Event { return e.HTTP(&log.HTTP{Query: huge}) },
	} {
		line := lineOf(t, add)
		if names := truncatedOf(t, line, 16384); len(names) != 1 || len(line) < 16000 {
			t.Errorf("%s: truncated %v, %d bytes long", name, names, len(line))
		}
	}
}

// TestBigBuffersAreDropped logs huge events and checks the heap afterwards.
func TestBigBuffersAreDropped(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops at random under the race detector")
	}
	large := strings.Repeat("x", 8<<10) // not through encoding/json, which has a pool of its own
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC() // once only: buffers in the pools survive one more
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	}
	heap() // buffers of earlier tests survive one collection
	before := heap()
	for range 20 {
		line := lineOf(t, func(e log.Event) log.Event {
			for range 200 {
				e.Str("v", large)
			}
			return e
		})
		truncatedOf(t, line, 16384)
	}
	if grown := int64(heap()) - int64(before); grown > 512<<10 {
		t.Errorf("%d bytes of heap more than before", grown)
	}
}

func FuzzCut(f *testing.F) {
	f.Add("text \x00\u0085日", "key.\"", 100, 700)
	f.Add("\xff", "", 3000, 512)
	f.Fuzz(func(t *testing.T, text, key string, repeat, maxBytes int) {
		repeat, maxBytes = repeat&0xFFF, max(512, maxBytes&0x7FFF)
		if len(text)+len(key) > 100 {
			t.Skip()
		}
		long := strings.Repeat(text, repeat)
		line := lineWith(t, log.Options{MaxEventBytes: maxBytes}, func(e log.Event) log.Event {
			return e.TraceID(text).HTTP(&log.HTTP{Path: text, Query: long}).Str(key, long).Int(long, 1).
				Array(key, func(e log.Event) { e.Str("", long).Object("", func(e log.Event) { e.Str(key, text) }) }).
				Err(fmt.Errorf("%s", long))
		})
		truncatedOf(t, line, maxBytes)
	})
}
