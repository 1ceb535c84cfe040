package sink

// AddRecovered counts events that an earlier process has left with the writer. They count as
// emitted and written. It is for writers that keep events, and so is [Queue.Lose].
func (q *Queue) AddRecovered(events uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tally.stats.Recovered += events
	q.tally.stats.Emitted += events
	q.tally.stats.Written += events
}

// Lose counts events that were written as dropped: the writer had kept them and has lost them.
// err becomes Stats.LastError. Without losses, Lose only stores this error.
func (q *Queue) Lose(err error, losses ...Loss) {
	q.mu.Lock()
	q.tally.stats.LastError = err
	for _, l := range losses {
		q.tally.stats.Written -= l.Events
		q.tally.lose(l.Level, l.Reason, l.Events)
		q.openGap()
	}
	q.mu.Unlock()
	if len(losses) > 0 {
		q.rouse() // to report them
	}
}
