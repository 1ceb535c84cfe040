package a

import "github.com/weirhq/weir/log"

func afterSend(logger *log.Logger, rows int) {
	ev := logger.Info("event")
	ev.Send()
	ev.Int("rows", rows).Send() // want `call of Int on an event after its Send: it is ignored` `call of Send on an event after its Send`
}

func twice(logger *log.Logger) {
	e := logger.Info("event").Str("a", "b")
	e.Send()
	e.Send() // want `call of Send on an event after its Send`
}

func onOnePath(logger *log.Logger, err error) {
	e := logger.Info("event")
	if err != nil {
		e.Err(err).Send() // a return is missing
	}
	e.Send() // want `call of Send on an event after its Send`
}

func inALoop(logger *log.Logger, names []string) {
	e := logger.Info("event") // want `event is lost on a path without Send`
	for _, name := range names {
		e.Str("name", name).Send() // want `call of Str on an event after its Send` `call of Send on an event after its Send`
	}
}

func afterLogger(logger *log.Logger) *log.Logger {
	with := logger.With().Str("a", "b")
	derived := with.Logger()
	with.Str("c", "d") // want `call of Str on an event after its Logger`
	return derived
}
