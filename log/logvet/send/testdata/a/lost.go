// Package a has events that are lost or used after their Send.
package a

import (
	"context"
	"errors"

	"github.com/weirhq/weir/log"
)

var errGone = errors.New("gone")

func statements(logger *log.Logger, err error) {
	logger.Info("no field")                                   // want `event is lost: it has no Send`
	logger.Warn("fields").Str("a", "b").Int("n", 1)           // want `event is lost: it has no Send`
	logger.Log(log.LevelError, "level").Err(err)              // want `event is lost: it has no Send`
	log.From(context.Background()).Debug("from").Hex("", nil) // want `event is lost: it has no Send`
	_ = logger.Fatal("blank")                                 // want `event is lost: it has no Send`
	defer logger.Error("deferred").Err(err)                   // want `event is lost: it has no Send`
	logger.With().Str("a", "b")                               // want `fields are lost: With without Logger`
	logger.With().Str("a", "b").Send()                        // want `fields are lost: Send writes nothing after With, which needs Logger`
	defer logger.With().Send()                                // want `fields are lost: Send writes nothing after With, which needs Logger`
	_ = logger.Info("event").Logger()                         // want `event is lost: Logger does not write it`
	func() {
		logger.Info("in a literal") // want `event is lost: it has no Send`
	}()
}

func withSend(logger *log.Logger, ok bool) *log.Logger {
	e := logger.With().Str("a", "b")
	if !ok {
		e.Send() // want `fields are lost: Send writes nothing after With, which needs Logger`
		return logger
	}
	return e.Logger()
}

func variable(logger *log.Logger, err error) {
	e := logger.Info("event") // want `event is lost: it has no Send`
	if err != nil {
		e = e.Err(err)
	}
	e.Str("a", "b")
}

func earlyReturn(logger *log.Logger, err error) error {
	e := logger.Info("event") // want `event is lost on a path without Send`
	if err != nil {
		return err
	}
	e.Send()
	return nil
}

func inSwitch(logger *log.Logger, n int) {
	e := logger.Info("event") // want `event is lost on a path without Send`
	switch n {
	case 1:
		e.Int("n", n).Send()
	case 2:
		e.Send()
	}
}

func inLoop(logger *log.Logger, names []string) {
	for _, name := range names {
		e := logger.Info("event") // want `event is lost on a path without Send`
		if name == "" {
			continue
		}
		e.Str("name", name).Send()
	}
}

func addFields(e log.Event) log.Event { return e.Int("a", 1).Int("b", 2) }

func throughAHelper(logger *log.Logger) {
	addFields(logger.Info("event")).Str("c", "d") // want `event is lost: it has no Send`
}
