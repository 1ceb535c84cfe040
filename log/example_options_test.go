package log_test

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/weirhq/weir/log"
)

func ExampleFormat() {
	for _, format := range []log.Format{log.FormatJSON, log.FormatJSONv1, log.FormatLTSV} {
		logger := log.New(os.Stdout, log.Options{Namespace: "front-door", Format: format})
		logger.Error("could not connect").Str("database", "users").Err(errors.New("refused")).At(noon).Send()
	}
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"could not connect","severity":1,"data":{"database":"users"},"errors":[{"message":"refused"}]}
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"could not connect","severity":1,"data":{"database":"users"},"error":{"error":"refused"}}
	// time:2026-11-21T12:00:00.000000Z	level:Error	namespace:front-door	event:could not connect	database:users	err:refused
}

func ExampleParseFormat() {
	format, err := log.ParseFormat("ltsv")
	fmt.Println(format, err)
	_, err = log.ParseFormat("logfmt")
	fmt.Println(err)
	// Output:
	// ltsv <nil>
	// unknown format "logfmt": want one of json, json-v1, ltsv, human, auto
}

// A flag sets the initial level; the program may change it later.
func ExampleLevelVar() {
	var level log.LevelVar
	flags := flag.NewFlagSet("front-door", flag.ExitOnError)
	flags.TextVar(&level, "log-level", &level, "the least `level` that is logged")
	_ = flags.Parse([]string{"-log-level", "warn"})

	logger := log.New(os.Stdout, log.Options{Level: &level})
	logger.Debug("not written").Send()
	level.Set(log.LevelDebug)
	logger.Debug("written").At(noon).Send()
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"","event":"written","severity":4}
}

// Of each name, ten events per second are written, and then one of each
// hundred. LeftOut counts the others, for a metric.
func ExampleSampling() {
	var written counter
	sampling := &log.Sampling{First: 10, Every: 100}
	logger := log.New(&written, log.Options{Sampling: sampling})
	for range 1000 {
		logger.Warn("upstream is slow").Send()
	}
	fmt.Println(int(written)+int(sampling.LeftOut()), "events, some of them left out:", sampling.LeftOut() > 0)
	// Output:
	// 1000 events, some of them left out: true
}

// A counter counts lines.
type counter int

func (c *counter) Write(line []byte) (int, error) {
	*c++
	return len(line), nil
}

func ExampleOptions_redact() {
	logger := log.New(os.Stdout, log.Options{Redact: []string{"authorization", "token"}})
	logger.Info("http request received").
		HTTP(&log.HTTP{Method: "GET", Path: "/", Query: "page=2&token=s3cret"}).
		Any("headers", map[string]string{"Accept": "*/*", "Authorization": "Bearer s3cret"}).
		At(noon).Send()
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"","event":"http request received","severity":3,"http":{"status_code":0,"method":"GET","path":"/","query":"page=2&token=[redacted]"},"data":{"headers":{"Accept":"*/*","Authorization":"[redacted]"}}}
}

func ExampleOptions_onError() {
	full := writerFunc(func([]byte) (int, error) { return 0, errors.New("no space left on device") })
	logger := log.New(full, log.Options{OnError: func(err error) { fmt.Println("lost an event:", err) }})
	logger.Info("starting").Send()
	// Output:
	// lost an event: no space left on device
}
