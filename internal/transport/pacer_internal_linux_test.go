package transport

import (
	"fmt"
	"testing"
	"time"
)

// A countingPacer ends its loop after some calls.
type countingPacer struct {
	loop  *Loop
	calls int
}

const paces = 5

func (p *countingPacer) Pace() time.Duration {
	if p.calls++; p.calls == paces {
		p.loop.Close()
	}
	return 100 * time.Microsecond
}

// TestPacerIsCalledWithoutEvents checks that a loop without any events calls its pacer again, also if the kernel
// counts timeouts only in milliseconds. Otherwise the loop would not end.
func TestPacerIsCalledWithoutEvents(t *testing.T) {
	for _, coarse := range []bool{false, true} {
		t.Run(fmt.Sprint("coarse ", coarse), func(t *testing.T) {
			l, err := NewLoop(1, func(v any, stack []byte) { panic(v) })
			if err != nil {
				t.Fatal(err)
			}
			l.coarse = coarse
			p := &countingPacer{loop: l}
			l.Pace(p)
			l.Run()
			if p.calls < paces {
				t.Errorf("%d calls, want %d", p.calls, paces)
			}
		})
	}
}
