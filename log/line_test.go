package log_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/weirhq/weir/log"
)

// TestFormatsShareEvents logs in two formats with the same pooled events. The
// event in between ends without a line and writes its fields over a longer
// created_at. The next event has the second of that created_at.
func TestFormatsShareEvents(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 30, 15, 128000001, time.UTC)
	between := map[string]func(*log.Logger){
		"template":          func(l *log.Logger) { l.With().Str("tenant", "t").Logger() },
		"year out of range": func(l *log.Logger) { l.Info("x").At(at.AddDate(9000, 0, 0)).Send() },
		"line":              func(l *log.Logger) { l.Info("x").At(at).Send() },
	}
	for name, call := range between {
		for _, formats := range [][2]log.Format{{log.FormatJSON, log.FormatLTSV}, {log.FormatLTSV, log.FormatJSON}} {
			t.Run(name+" of "+formats[1].String(), func(t *testing.T) {
				var out bytes.Buffer
				logger := log.New(&out, log.Options{Namespace: "test", Format: formats[0]})
				other := log.New(new(bytes.Buffer), log.Options{Namespace: "other", Format: formats[1]})
				line := func() string {
					out.Reset()
					logger.Info("x").At(at).Send()
					return out.String()
				}
				want := line()
				for range 100 { // the pool may return another event
					call(other)
					if got := line(); got != want {
						t.Fatalf("got  %q\nwant %q", got, want)
					}
				}
			})
		}
	}
}
