package a

import (
	"fmt"
	"os"

	"github.com/weirhq/weir/log"
)

func chains(logger *log.Logger, err error) *log.Logger {
	logger.Info("event").Str("a", "b").Send()
	addFields(logger.Info("event")).Send()
	defer logger.Info("deferred").Send()
	e := logger.Info("a deferred Send is last")
	defer e.Send()
	e.Int("n", 1)
	logger.Error("nested").Object("o", func(e log.Event) { e.Err(err).Int("n", 1) }).Send()
	return logger.With().Str("a", "b").Logger()
}

func branches(logger *log.Logger, err error, verbose bool) {
	e := logger.Info("event")
	if err != nil {
		e = logger.Error("failed").Err(err)
		logger.Info("other").Send()
	}
	e.Str("a", "b").Send()
}

func eachEnds(logger *log.Logger, err error) {
	e := logger.Info("event")
	if err == nil {
		e.Send()
		return
	}
	e.Err(err).Send()
}

func sameCondition(logger *log.Logger, err error, verbose bool) {
	e := logger.Info("event")
	if err == nil {
		e.Send()
	}
	work()
	if err != nil {
		e.Err(err).Send()
	}
	var debug log.Event
	if verbose {
		debug = logger.Debug("details")
	}
	work()
	if verbose {
		debug.Str("a", "b").Send()
	}
}

func flag(logger *log.Logger, names []string) {
	e, sent := logger.Info("event"), false
	if len(names) > 1 {
		e.Strs("names", names).Send()
		sent = true
	}
	work()
	if !sent {
		e.Send()
	}
}

func loops(logger *log.Logger, names []string) {
	e := logger.Info("first")
	for i, name := range names {
		e.Str("name", name)
		if i%10 == 9 {
			e.Send()
			e = logger.Info("next")
		}
	}
	e.Send()
	for _, name := range names {
		e := logger.Info("event")
		if name == "" {
			e.Send()
			continue
		}
		e.Str("name", name).Send()
	}
}

type job struct{ event log.Event }

// The events leave the function: another one may send them.
func leave(logger *log.Logger, j *job, events chan log.Event, verbose bool) (log.Event, error) {
	j.event = logger.Info("in a field")
	events <- logger.Info("through a channel")
	captured := logger.Info("in a literal")
	func() { captured.Send() }()
	send(logger.Info("as an argument"))
	go logger.Info("in a goroutine").Send()
	_ = job{logger.Info("in a literal of a struct")}
	e := logger.Info("returned")
	if verbose {
		return log.Event{}, errGone
	}
	return e, nil
}

func send(e log.Event) { e.Send() }

func work() {}

func endsOfTheProgram(logger *log.Logger, n int) {
	e := logger.Fatal("event")
	switch n {
	case 1:
		os.Exit(1)
	case 2:
		panic("two")
	}
	e.Send()
}

// A type of another package with the same methods.
type ownLogger struct{}

func (ownLogger) Info(string) ownLogger { return ownLogger{} }

func otherTypes() {
	ownLogger{}.Info("event")
	fmt.Println()
}
