package recorded_test

import (
	"testing"
	"time"

	"github.com/weirhq/weir/internal/testkit"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/recorded"
	"github.com/weirhq/weir/load/pace"
)

func request(due time.Duration) recorded.Request {
	return recorded.Request{Due: due, Message: program.Message{Size: int64(due)}}
}

func TestRequestsAreAskedForAndThenTaken(t *testing.T) {
	q := recorded.NewQueue()
	asking, taking := recorded.Asking{Queue: q}, recorded.Taking{Queue: q}
	if due := asking.Due(); due == pace.Never {
		t.Error("there are no more requests, before the queue is closed")
	}
	for due := range time.Duration(3) {
		q.Add(request(due))
	}
	q.Close()
	for due := range time.Duration(3) {
		if got := asking.Due(); got != due {
			t.Errorf("request %d is due at %v", due, got)
		}
		asking.Advance()
	}
	if due := asking.Due(); due != pace.Never {
		t.Errorf("after the last request, the next one is due at %v", due)
	}
	for due := range time.Duration(3) {
		if got := taking.Due(); got != due {
			t.Errorf("request %d was due at %v", due, got)
		}
		taking.Advance()
		if got := q.Next().Size; got != int64(due) {
			t.Errorf("request %d has the message of request %d", due, got)
		}
	}
}

func TestAddWaitsWhileTheQueueIsFull(t *testing.T) {
	q := recorded.NewQueue()
	added := make(chan int, 1)
	go func() {
		n := 0
		for q.Add(request(time.Duration(n))) {
			n++
		}
		added <- n
	}()
	asking, taking := recorded.Asking{Queue: q}, recorded.Taking{Queue: q}
	const taken = 10_000
	for i := range time.Duration(taken) {
		q.Await(time.Minute)
		if due := asking.Due(); due != i {
			t.Fatalf("request %d is due at %v", i, due)
		}
		asking.Advance()
		taking.Advance()
	}
	q.Close()
	if n := testkit.Receive(t, "the end", added); n < taken || n > taken+4096 {
		t.Errorf("%d requests were added, and %d taken", n, taken)
	}
}

func TestAwaitEndsWithItsLimit(t *testing.T) {
	q := recorded.NewQueue()
	q.Await(time.Millisecond)
	q.Await(time.Hour) // it has waited before
}
