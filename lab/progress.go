package lab

import "time"

// A teller tells how far the experiment has come, by one goroutine: whenever
// something has changed, and every second while something is built or a run is
// made.
type teller struct {
	tell    func(Progress)
	changes chan func(*Progress)
	over    chan struct{}

	// Of the goroutine.
	began time.Time
	now   Progress
	until time.Time // when the experiment will have ended; zero while that is not known
}

// startTeller tells nothing when tell is nil.
func startTeller(tell func(Progress)) *teller {
	t := &teller{tell: tell, changes: make(chan func(*Progress), 64), over: make(chan struct{}), began: time.Now()}
	go t.run()
	return t
}

// change has the others told what f changes. A Left of its own sets the time
// that counts down.
func (t *teller) change(f func(*Progress)) { t.changes <- f }

func (t *teller) step(s Step) { t.change(func(p *Progress) { p.Step = s }) }

// stop returns when all was told.
func (t *teller) stop() {
	close(t.changes)
	<-t.over
}

func (t *teller) run() {
	defer close(t.over)
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case change, ok := <-t.changes:
			if !ok {
				return
			}
			t.apply(change)
		case <-ticker.C:
			if t.now.Step != "" && t.now.Step != Ended {
				t.say()
			}
		}
	}
}

func (t *teller) apply(change func(*Progress)) {
	t.now.Left = 0
	change(&t.now)
	if t.now.Left > 0 {
		t.until = time.Now().Add(t.now.Left)
	}
	t.say()
	t.now.Last, t.now.Line = nil, ""
}

func (t *teller) say() {
	t.now.Elapsed = time.Since(t.began)
	t.now.Left = 0
	if !t.until.IsZero() {
		t.now.Left = max(0, time.Until(t.until))
	}
	if t.tell != nil {
		t.tell(t.now)
	}
}
