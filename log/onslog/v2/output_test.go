package log

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A script is a writer that accepts a scripted number of bytes in each Write, and
// all bytes after the end of the script.
type script struct {
	takes []int
	bytes.Buffer
}

var errFull = errors.New("no space left")

func (s *script) Write(p []byte) (int, error) {
	if len(s.takes) == 0 {
		return s.Buffer.Write(p)
	}
	n := min(s.takes[0], len(p))
	s.takes = s.takes[1:]
	s.Buffer.Write(p[:n])
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func writeJSON(t *testing.T, o *output, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if err := o.writeJSON("name", []byte(l)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTornLineIsEndedBeforeTheNext(t *testing.T) {
	const a, b = `{"a":1}`, `{"b":2}`
	for _, c := range []struct {
		name     string
		takes    []int
		want     string
		fallback string
	}{
		{"all taken", nil, a + "\n" + b + "\n" + a + "\n", ""},
		{"first refused", []int{0}, b + "\n" + a + "\n", a + "\n"},
		{"first torn", []int{3}, "{\"a\n" + b + "\n" + a + "\n", a + "\n"},
		{"only its newline missing", []int{7}, a + "\n" + b + "\n" + a + "\n", a + "\n"},
		{"torn, then refused", []int{3, 0}, "{\"a\n" + a + "\n", a + "\n" + b + "\n"},
		{"torn, then only the newline taken", []int{3, 1}, "{\"a\n" + a + "\n", a + "\n" + b + "\n"},
		{"torn twice", []int{3, 3}, "{\"a\n{\"\n" + a + "\n", a + "\n" + b + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dest, fallback := &script{takes: c.takes}, &script{}
			o := newOutput()
			o.setDestination(dest, fallback)
			writeJSON(t, o, a, b, a)
			if got := dest.String(); got != c.want {
				t.Errorf("destination has %q, want %q", got, c.want)
			}
			if got := fallback.String(); got != c.fallback {
				t.Errorf("fallback has %q, want %q", got, c.fallback)
			}
		})
	}
}

func TestSetDestinationIgnoresNil(t *testing.T) {
	dest, fallback := &script{takes: []int{0}}, &script{}
	o := newOutput()
	o.setDestination(nil, fallback)
	o.setDestination(dest, nil)
	writeJSON(t, o, "1", "2")
	if got := fallback.String() + dest.String(); got != "1\n2\n" {
		t.Errorf("got %q", got)
	}
}

func TestNewDestinationIsNotWithinALine(t *testing.T) {
	torn, next := &script{takes: []int{1}}, &script{}
	o := newOutput()
	o.setDestination(torn, io.Discard)
	writeJSON(t, o, "[1]")
	o.setDestination(next, nil)
	writeJSON(t, o, "[2]")
	if got := next.String(); got != "[2]\n" {
		t.Errorf("got %q", got)
	}
}

func TestLinesOfManyGoroutinesStayWhole(t *testing.T) {
	var b bytes.Buffer // the race detector reports concurrent calls of Write
	o := newOutput()
	o.setDestination(&b, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				e := newEntry("name", "event", []option{Data{"i": i, "s": strings.Repeat("x", i)}})
				o.writeEntry(&e)
			}
		})
	}
	wg.Wait()
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 800 {
		t.Errorf("%d lines, want 800", len(lines))
	}
	for _, l := range lines {
		if !strings.HasPrefix(l, `{"created_at":`) || !strings.HasSuffix(l, `"}}`) {
			t.Errorf("line %q is not whole", l)
		}
	}
}

// TestLostLinesAreReportedOnceThereIsRoom simulates a full disk: both writers reject
// lines for a time and then accept them again.
func TestLostLinesAreReportedOnceThereIsRoom(t *testing.T) {
	const refused, torn = 0, 3
	for _, c := range []struct {
		name           string
		dest, fallback []int
		lines          int
		want           string // events in the destination, then in the fallback
	}{
		{"one lost", []int{refused}, []int{refused}, 2, "2, 1 lost;"},
		{"three lost", []int{refused, refused, refused}, []int{refused, torn, refused}, 5, "4, 3 lost, 5;"},
		{"told by the fallback", []int{refused, refused, refused}, []int{refused}, 3, "3; 2, 1 lost"},
		{"not told at first", []int{refused, 1000, refused}, []int{refused, refused}, 3, "2, 3, 1 lost;"},
		{"lost again while it is told", []int{refused, 1000, refused, refused}, []int{refused, refused, refused}, 4, "2, 4, 2 lost;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dest, fallback := &script{takes: c.dest}, &script{takes: c.fallback}
			o := newOutput()
			o.setDestination(dest, fallback)
			for i := range c.lines {
				e := newEntry("name", strconv.Itoa(i+1), nil)
				o.writeEntry(&e)
			}
			if got := strings.TrimSpace(eventsIn(t, dest.String()) + "; " + eventsIn(t, fallback.String())); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// eventsIn returns the events of the complete lines. For "log lines lost" it
// returns the number of lost lines.
func eventsIn(t *testing.T, text string) string {
	var events []string
	for line := range strings.Lines(text) {
		var e struct {
			Namespace, Event string
			Severity         *int
			Data             struct{ Lines int }
		}
		switch err := json.Unmarshal([]byte(line), &e); {
		case err != nil:
			continue
		case e.Event != "log lines lost":
			events = append(events, e.Event)
		case e.Namespace != "name" || e.Severity == nil || *e.Severity != 2:
			t.Errorf("lines lost: %s", line)
		default:
			events = append(events, fmt.Sprint(e.Data.Lines, " lost"))
		}
	}
	return strings.Join(events, ", ")
}

func TestHumanFormIsIndented(t *testing.T) {
	t.Setenv("HUMAN_LOG", "1")
	t.Setenv("NO_COLOR", "1")
	var b bytes.Buffer
	o := newOutput()
	o.setDestination(&b, nil)
	writeJSON(t, o, `{"b":[1,true,null,[],{}],"a":{"<":"\u003c"}}`)
	e := newEntry("name", "event", nil)
	if !o.writeEntry(&e) {
		t.Fatal("an event was refused")
	}
	want := `{
  "a": {
    "<": "<"
  },
  "b": [
    1,
    true,
    null,
    [],
    {}
  ]
}
{
  "created_at": %q,
  "event": "event",
  "namespace": "name"
}
`
	want = fmt.Sprintf(want, e.CreatedAt.Format("2006-01-02T15:04:05.999999999Z"))
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := o.writeJSON("name", []byte("{")); err == nil {
		t.Error("what is no JSON was written")
	}
}
