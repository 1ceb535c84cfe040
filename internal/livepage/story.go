package livepage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// kept is the number of events of Add that a Story keeps.
	kept = 600
	// writeTimeout ends a viewer that does not read.
	writeTimeout = 10 * time.Second
)

// A Story has the events of one run in their order. Each viewer gets its beginning, and then all events that are kept,
// also those of before it came. A viewer that does not read delays only itself. Use [NewStory].
type Story struct {
	start []byte

	mu      sync.Mutex // guards the fields below
	events  []event    // those that are kept, by number
	last    int        // number of the last event
	passing int        // number of events that may go
	more    chan struct{}
	ended   bool
}

// An event is a server-sent event with its number.
type event struct {
	number int
	stays  bool
	text   []byte
}

// NewStory returns a story that begins with the event "start", which has a value as JSON.
func NewStory(start any) *Story {
	return &Story{start: Encode("start", 0, start), more: make(chan struct{})}
}

// Add adds an event with a value. It never waits for a viewer. The last 600 of them are kept.
func (s *Story) Add(name string, value any) { s.add(name, value, false, false) }

// Keep adds an event that is kept until the end.
func (s *Story) Keep(name string, value any) { s.add(name, value, true, false) }

// End adds the last event, "end". Later events are ignored.
func (s *Story) End(value any) { s.add("end", value, true, true) }

func (s *Story) add(name string, value any, stays, ends bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.last++
	s.ended = ends
	s.events = append(s.events, event{s.last, stays, Encode(name, s.last, value)})
	if !stays {
		s.passing++
	}
	if s.passing > kept {
		oldest := slices.IndexFunc(s.events, func(e event) bool { return !e.stays })
		s.events = slices.Delete(s.events, oldest, oldest+1)
		s.passing--
	}
	close(s.more)
	s.more = make(chan struct{})
}

// Encode returns a server-sent event with a value as JSON. The name "" is that of a usual event. The id is a number, by
// which a viewer continues after an interruption; 0 for none.
func Encode(name string, id int, value any) []byte {
	var b bytes.Buffer
	if name != "" {
		fmt.Fprintf(&b, "event: %s\n", name)
	}
	if id > 0 {
		fmt.Fprintf(&b, "id: %d\n", id)
	}
	b.WriteString("data: ")
	if err := json.NewEncoder(&b).Encode(value); err != nil {
		panic(err) // the event has a value that JSON has not
	}
	b.WriteByte('\n') // after that of the encoder: the empty line that ends an event
	return b.Bytes()
}

// after returns the events after a number that are kept, the number of the last one, and a channel that is closed by the
// next one.
func (s *Story) after(number int) (events []byte, last int, more <-chan struct{}, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number > s.last { // of another run
		number = 0
	}
	for _, e := range s.events {
		if e.number > number {
			events = append(events, e.text...)
		}
	}
	return events, s.last, s.more, s.ended
}

// ServeHTTP sends the events until the story ends or the viewer leaves.
func (s *Story) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	sent, _ := strconv.Atoi(r.Header.Get("Last-Event-ID")) // 0 for a new viewer
	out := s.start
	c := http.NewResponseController(w)
	for {
		events, last, more, ended := s.after(sent)
		out = append(out[:len(out):len(out)], events...)
		if len(out) > 0 {
			c.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err := w.Write(out); err != nil || c.Flush() != nil {
				return
			}
		}
		sent, out = last, nil
		if ended {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-more:
		}
	}
}
