package log_test

import (
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/weirhq/weir/log"
)

func ExampleLogger_Handler() {
	logger := log.New(timeless{os.Stdout}, log.Options{Namespace: "front-door"})
	std := slog.New(logger.Handler())
	std.Info("signed in", "user", "ada", slog.Group("client", "ip", "192.0.2.1", "port", 5432))
	std.With("tenant", "ons").WithGroup("job").Warn("slow", "rows", 3)
	// Output:
	// {"namespace":"front-door","event":"signed in","severity":3,"data":{"user":"ada","client":{"ip":"192.0.2.1","port":5432}}}
	// {"namespace":"front-door","event":"slow","severity":2,"data":{"tenant":"ons","job":{"rows":3}}}
}

// A timeless writer removes created_at, which differs in each run.
type timeless struct{ io.Writer }

func (w timeless) Write(line []byte) (int, error) {
	_, rest, _ := strings.Cut(string(line), ",")
	_, err := io.WriteString(w.Writer, "{"+rest)
	return len(line), err
}
