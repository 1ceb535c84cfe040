package log_test

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/weirhq/weir/log"
)

// noon replaces the time of the events, which differs in each run.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func ExampleNew() {
	logger := log.New(os.Stdout, log.Options{Namespace: "front-door"})
	logger.Info("connecting to database").Str("host", "db1").Int("port", 5432).At(noon).Send()
	logger.Error("could not connect").Err(errors.New("connection refused")).At(noon).Send()
	logger.Debug("not enabled").Send()
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"connecting to database","severity":3,"data":{"host":"db1","port":5432}}
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"could not connect","severity":1,"errors":[{"message":"connection refused"}]}
}

func ExampleLogger_With() {
	logger := log.New(os.Stdout, log.Options{Namespace: "front-door"})
	requestLog := logger.With().TraceID("abcdefghijklmnop").Str("tenant", "ons").Logger()
	requestLog.Info("first").At(noon).Send()
	requestLog.Warn("second").Bool("retried", true).At(noon).Send()
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"first","trace_id":"abcdefghijklmnop","severity":3,"data":{"tenant":"ons"}}
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"second","trace_id":"abcdefghijklmnop","severity":2,"data":{"tenant":"ons","retried":true}}
}

func ExampleEvent_HTTP() {
	logger := log.New(os.Stdout, log.Options{Namespace: "front-door"})
	logger.Info("http request completed").HTTP(&log.HTTP{
		StatusCode: 200,
		Method:     "GET",
		Path:       "/census",
		Duration:   1500 * time.Microsecond,
	}).At(noon).Send()
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"http request completed","severity":3,"http":{"status_code":200,"method":"GET","path":"/census","duration":1500000}}
}

func ExampleEncodedHTTP() {
	logger := log.New(os.Stdout, log.Options{Namespace: "front-door"})
	var encoded log.EncodedHTTP // used again for the next request
	h := log.HTTP{Method: "GET", Host: "example.org", Path: "/census", Encoded: &encoded}
	logger.Info("http request received").HTTP(&h).At(noon).Send()
	h.StatusCode, h.Duration = 200, 1500*time.Microsecond
	logger.Info("http request completed").HTTP(&h).At(noon).Send() // copies the text from method to path
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"http request received","severity":3,"http":{"status_code":0,"method":"GET","host":"example.org","path":"/census"}}
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"http request completed","severity":3,"http":{"status_code":200,"method":"GET","host":"example.org","path":"/census","duration":1500000}}
}

func ExampleEvent_Array() {
	logger := log.New(os.Stdout, log.Options{Namespace: "front-door"})
	servers := []struct {
		host string
		up   bool
	}{{"a", true}, {"b", false}}
	logger.Info("health of servers").Array("servers", func(e log.Event) {
		for _, s := range servers {
			e.Object("", func(e log.Event) { e.Str("host", s.host).Bool("up", s.up) })
		}
	}).At(noon).Send()
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"health of servers","severity":3,"data":{"servers":[{"host":"a","up":true},{"host":"b","up":false}]}}
}

type user struct{ id, name string }

func (u *user) MarshalLog(e log.Event) error {
	if u.id == "" {
		return errors.New("user without an id")
	}
	e.Str("id", u.id).Str("name", u.name)
	return nil
}

func ExampleMarshaler() {
	logger := log.New(os.Stdout, log.Options{Namespace: "front-door"})
	logger.Info("signed in").Any("user", &user{"17", "Ada"}).Any("guest", &user{}).At(noon).Send()
	// Output:
	// {"created_at":"2026-11-21T12:00:00Z","namespace":"front-door","event":"signed in","severity":3,"data":{"user":{"id":"17","name":"Ada"},"guest":"!ERROR: user without an id"}}
}

func ExampleParseLevel() {
	level, err := log.ParseLevel("Warn")
	fmt.Println(level, err)
	_, err = log.ParseLevel("verbose")
	fmt.Println(err)
	// Output:
	// warn <nil>
	// unknown level "verbose": want one of debug, info, warn, error, fatal
}
