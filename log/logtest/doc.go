// Package logtest gives a test a logger, and the events that were written with
// it as values:
//
//	logger, events := logtest.New(t)
//	store := NewStore(logger)
//	store.Save(user)
//	if got := events.One("user saved").Value("user_id"); got != int64(42) {
//		t.Errorf("user_id %v, want 42", got)
//	}
//
// All events are shown in the output of the test, in the form for people.
package logtest
