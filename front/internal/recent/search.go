package recent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/abandon"
	"github.com/weirhq/weir/internal/tracematch"
	"github.com/weirhq/weir/log/record"
)

// The bounds of a search. Pages of the admin listener begin searches, which must leave the machine to requests.
const (
	mostSearched = 128 << 20 // bytes, from the end of the file
	searchTime   = 2 * time.Second
	hungTime     = time.Second // after searchTime, until a disk that hangs is left
	mostFound    = 100         // events
	blockSize    = 1 << 20
	longestLine  = 1 << 20
)

// A Finding has the events of a request that a search has found.
type Finding struct {
	Events   []string `json:"events"`         // in the human form of weir tail, in the order of their times
	Searched int64    `json:"searched_bytes"` // from the end of the file
	Whole    bool     `json:"whole"`          // the whole file was searched
}

// A Searcher searches files of the log, one at a time. Make it with NewSearcher. Goroutines may share it.
type Searcher struct{ busy chan struct{} }

// NewSearcher returns a Searcher.
func NewSearcher() *Searcher { return &Searcher{busy: make(chan struct{}, 1)} }

// ErrBusy is the error of a search while another one runs.
var ErrBusy = errors.New("another search runs; try again in a second")

// Search returns the events with a trace id that are at the end of a file.
func (s *Searcher) Search(ctx context.Context, file string, id tracematch.ID) (Finding, error) {
	select {
	case s.busy <- struct{}{}:
	default:
		return Finding{}, ErrBusy
	}
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	hung, stop := context.WithTimeout(context.WithoutCancel(ctx), searchTime+hungTime)
	defer stop()
	found := make(chan Finding, 1)
	err := abandon.Call(hung, func() error {
		defer func() { <-s.busy }()
		defer cancel()
		f, err := search(ctx, file, id)
		found <- f
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return Finding{}, errors.New("the disk does not respond")
	}
	if err != nil {
		return Finding{}, err
	}
	return <-found, nil
}

// An event is found in a file.
type event struct {
	at   time.Time
	text string
}

// search reads a file backwards, until it has its beginning, enough events or bytes, or ctx ends.
func search(ctx context.Context, path string, id tracematch.ID) (Finding, error) {
	f, err := os.Open(path)
	if err != nil {
		return Finding{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Finding{}, err
	}
	if !info.Mode().IsRegular() {
		return Finding{}, errors.New(path + " is not a regular file")
	}
	var events []event
	end, last := info.Size(), max(0, info.Size()-mostSearched)
	reader, block := record.NewReader(), make([]byte, 0, blockSize)
	var rest []byte // the end of the line that begins before end
	for end > last && len(events) < mostFound && ctx.Err() == nil {
		begin := max(last, end-blockSize)
		block = block[:end-begin]
		if _, err := f.ReadAt(block, begin); err != nil && err != io.EOF {
			return Finding{}, err
		}
		block = append(block, rest...)
		whole := block
		if begin > 0 {
			whole = block[bytes.IndexByte(block, '\n')+1:]
		}
		if len(whole) == len(block) && begin > 0 { // there is no newline
			whole = nil
		}
		if id.In(whole) {
			events = append(events, eventsIn(whole, id, reader)...)
		}
		rest = slices.Clone(block[:min(len(block)-len(whole), longestLine)])
		end = begin
	}
	slices.SortStableFunc(events, func(a, b event) int { return a.at.Compare(b.at) })
	found := Finding{Events: []string{}, Searched: info.Size() - end, Whole: end == 0}
	for _, e := range events {
		found.Events = append(found.Events, e.text)
	}
	return found, nil
}

// eventsIn returns the events with a trace id among lines.
func eventsIn(lines []byte, id tracematch.ID, reader *record.Reader) (found []event) {
	for line := range bytes.Lines(lines) {
		if !id.In(line) {
			continue
		}
		r, err := reader.Parse(line)
		if err != nil || !id.Is(r.TraceID) {
			continue
		}
		at, _ := r.CreatedAt.Time()
		text := r.AppendHuman(nil, record.HumanOptions{Location: time.UTC})
		found = append(found, event{at, strings.TrimSuffix(string(text), "\n")})
	}
	return found
}
