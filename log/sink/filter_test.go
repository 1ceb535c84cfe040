package sink_test

import (
	"bytes"
	"testing"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/sink"
)

var _ log.EventWriter = (*sink.Filter)(nil)

func TestTeeFiltersByLevel(t *testing.T) {
	var all, warnings, errors bytes.Buffer
	var tee log.EventWriter = sink.NewTee(
		sink.NewDirect(&all),
		sink.NewFilter(sink.NewDirect(&warnings), log.LevelWarn),
		sink.NewFilter(sink.NewDirect(&errors), log.LevelError),
	)
	logger := log.New(tee, log.Options{
		Level:   log.LevelDebug,
		OnError: func(err error) { t.Error(err) },
	})
	logger.Debug("d").Send()
	logger.Info("i").Send()
	logger.Warn("w").Send()
	logger.Error("e").Send()
	logger.Fatal("f").Send()
	for name, c := range map[string]struct {
		got  *bytes.Buffer
		want int
	}{
		"all": {&all, 5}, "warnings": {&warnings, 3}, "errors": {&errors, 2},
	} {
		if got := bytes.Count(c.got.Bytes(), []byte{'\n'}); got != c.want {
			t.Errorf("%s: %d events, want %d:\n%s", name, got, c.want, c.got)
		}
	}
}

func TestFilterReturnsResultsOfWriter(t *testing.T) {
	var b bytes.Buffer
	direct := sink.NewDirect(&b)
	filter := sink.NewFilter(direct, log.LevelWarn)
	if n, err := filter.Write([]byte("left out\n")); n != 9 || err != nil || b.Len() > 0 {
		t.Errorf("Write = %d, %v, and the writer has %q; want 9, nil and nothing", n, err, &b)
	}
	if got := filter.Unwrap(); got != direct {
		t.Errorf("Unwrap = %v, want the writer", got)
	}
	direct.Close()
	if n, err := filter.WriteEvent(log.LevelWarn, []byte("x\n")); n != 0 || err == nil {
		t.Errorf("WriteEvent of a closed writer = %d, %v; want 0 and its error", n, err)
	}
}
