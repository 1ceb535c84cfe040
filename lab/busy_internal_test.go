package lab

import "testing"

func TestBusyMachineIsNamedBeforeTheFirstRun(t *testing.T) {
	number := func(n float64) *float64 { return &n }
	const busy = "weir: other processes use 1.9 of the 2 processors before the first run: end them, or only large differences " +
		"will be found"
	for _, c := range []struct {
		busy *float64
		want string
	}{{nil, ""}, {number(0.19), ""}, {number(1.92), busy}} {
		if got := busyLine(c.busy, 2); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
