package log

import (
	"context"
	"io"
	"log/slog"

	phuslu "github.com/phuslu/log"
	"github.com/rs/zerolog"

	"github.com/weirhq/weir/log"
)

// SlogJSON is the row to which Weir's handler for log/slog is compared.
const SlogJSON = "slog.JSONHandler"

// handlerRows log through log/slog, with five attributes in each event and five in the logger.
func handlerRows() []row {
	return []row{
		{name: Weir, note: "Logger.Handler", ours: true, open: attrs(weirHandler)},
		{name: SlogJSON, open: attrs(jsonHandler)},
		{name: "phuslu/log", note: "SlogNewJSONHandler", open: attrs(phusluHandler)},
		{name: "zerolog", note: "NewSlogHandler", open: attrs(zerologHandler)},
	}
}

func attrs(handler func(io.Writer) slog.Handler) func(io.Writer) func(int, *request) {
	return func(w io.Writer) func(int, *request) {
		l := slog.New(handler(w).WithAttrs(slogFirst(ten)))
		ctx, f := context.Background(), ten
		return repeat(func() {
			l.LogAttrs(ctx, slog.LevelInfo, filtered, slog.Int("rows", f.Rows), slog.Int("attempt", f.Attempt),
				slog.Int64("bytes", f.Bytes), slog.Float64("ratio", f.Ratio), slog.Duration("took", f.Took))
		})
	}
}

func weirHandler(w io.Writer) slog.Handler {
	return log.New(w, log.Options{Namespace: namespace}).Handler()
}

// named adds the namespace as an attribute of the logger, for handlers that do not support one.
func named(h slog.Handler) slog.Handler {
	return h.WithAttrs([]slog.Attr{slog.String("namespace", namespace)})
}

func jsonHandler(w io.Writer) slog.Handler { return named(slog.NewJSONHandler(w, nil)) }

func phusluHandler(w io.Writer) slog.Handler { return named(phuslu.SlogNewJSONHandler(w, nil)) }

func zerologHandler(w io.Writer) slog.Handler {
	openZerolog(w) // sets zerolog's package variables
	return zerolog.NewSlogHandler(zerolog.New(w).Level(zerolog.InfoLevel).With().Str("namespace", namespace).Logger())
}
