// Package logr lets what logs through [github.com/go-logr/logr], as controllers
// of Kubernetes and their libraries do, write the events of a Logger of package
// log:
//
//	ctrl.SetLogger(logr.New(logger))
//
// It is a module of its own, so that package log does not depend on logr.
//
//   - The message becomes the event; keys and values become fields of data, each
//     value written as [log.Event.Any] writes it. One that has a MarshalLog
//     method, as logr defines it, is written as what that returns.
//   - V(0) is info, every greater V is debug: the format has no more levels, so
//     whoever enables debug gets all of them.
//   - Error is of level error, with the error, its stack and its fields among the
//     event's errors. It is written whatever the verbosity, unless the logger's
//     level is fatal.
//   - Names are joined by "/" into the field "logger".
//   - What WithValues and WithName add is encoded once.
//   - A logger made by With().Caller() has "caller" name the call of Info or
//     Error, or the one that WithCallDepth points to.
//   - A key without a value gets "<no-value>", and a key that is no string becomes
//     "<non-string-key: TEXT>", as in logr's own funcr.
//   - What goes through [github.com/go-logr/logr.ToSlogHandler] keeps its groups,
//     level and caller. A logger of level warn loses the warnings, though, since
//     that asks for V(0) before it writes them; [log.Logger.Handler] does not.
package logr
