package recent

import (
	"fmt"
	"testing"
	"time"
)

func TestNewestEventsAreKept(t *testing.T) {
	var f Failures
	at := time.Unix(1000, 0)
	for i := range 2 * kept {
		if !f.Admit(at.Add(time.Duration(i) * time.Second)) {
			t.Fatalf("event %d is not admitted", i)
		}
		fmt.Fprintf(&f, "{\"n\":%d}\n", i)
	}
	l := f.List()
	if l.Failed != 2*kept || l.Passed != 0 || len(l.Events) != kept {
		t.Fatalf("%d failed, %d passed, %d events", l.Failed, l.Passed, len(l.Events))
	}
	for i, event := range l.Events {
		if want := fmt.Sprintf(`{"n":%d}`, 2*kept-1-i); string(event) != want {
			t.Errorf("event %d is %s, want %s", i, event, want)
		}
	}
}

func TestFloodIsCounted(t *testing.T) {
	var f Failures
	at := time.Unix(1000, 0)
	for range 3 {
		for range 1000 {
			if f.Admit(at) {
				f.Write([]byte("{}\n"))
			}
		}
		at = at.Add(time.Second)
	}
	if l := f.List(); l.Failed != 3000 || l.Passed != 3000-3*perSecond {
		t.Errorf("%d failed, %d passed", l.Failed, l.Passed)
	}
}

func TestListIsACopy(t *testing.T) {
	var f Failures
	f.Admit(time.Unix(1000, 0))
	f.Write([]byte("{\"a\":1}\n"))
	l := f.List()
	for range kept {
		f.Write([]byte("{\"b\":2}\n"))
	}
	if got := string(l.Events[0]); got != `{"a":1}` {
		t.Errorf("the event has become %s", got)
	}
}
