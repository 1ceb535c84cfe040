package logr_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/logr"
)

// briefly prints the parts of an event that are the same in each run.
type briefly struct{}

func (briefly) Write(line []byte) (int, error) {
	var e struct {
		Event        string
		Severity     int
		Data, Errors json.RawMessage
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return 0, err
	}
	fmt.Printf("%s: severity %d, %s%s\n", e.Event, e.Severity, e.Data, e.Errors)
	return len(line), nil
}

func ExampleNew() {
	logger := log.New(briefly{}, log.Options{Namespace: "operator", Level: log.LevelDebug})
	l := logr.New(logger).WithName("controllers").WithName("deployment")

	l = l.WithValues("name", "web")
	l.Info("reconciling", "generation", 3)
	l.V(1).Info("cache is warm")
	l.Error(errors.New("conflict"), "could not update the status")
	// Output:
	// reconciling: severity 3, {"logger":"controllers/deployment","name":"web","generation":3}
	// cache is warm: severity 4, {"logger":"controllers/deployment","name":"web"}
	// could not update the status: severity 1, {"logger":"controllers/deployment","name":"web"}[{"message":"conflict"}]
}
