package http3

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// TestInterimDoesNotFollowTheFinalHead appends the final head while an informational response waits for the output.
func TestInterimDoesNotFollowTheFinalHead(t *testing.T) {
	s := new(Stream)
	final := s.NewHead()
	defer release(final)
	final.Status(200)
	s.writing.Lock()
	sent := make(chan error)
	go func() {
		h := s.NewHead()
		h.Status(100)
		sent <- s.SendInterim(h)
	}()
	testkit.Await(t, "SendInterim waits for the lock", func() bool {
		stacks := make([]byte, 1<<20)
		for stack := range bytes.SplitSeq(stacks[:runtime.Stack(stacks, true)], []byte("\n\n")) {
			if bytes.Contains(stack, []byte(".SendInterim(")) && bytes.Contains(stack, []byte("sync.(*Mutex).Lock")) {
				return true
			}
		}
		return false
	})
	s.headSent.Store(true)
	s.appendHead(final)
	want := bytes.Clone(s.out)
	s.writing.Unlock()
	if err := testkit.Receive(t, "the result", sent); err != nil || !bytes.Equal(s.out, want) {
		t.Errorf("%v; the output is %q, want %q", err, s.out, want)
	}
}
