package a

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"time"

	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/log/httplog"
)

// A store is written as services are: none of its events is lost.
type store struct {
	db     *sql.DB
	logger *log.Logger
}

func (s *store) serve(w http.ResponseWriter, r *http.Request) {
	logger := log.From(r.Context()).With().Str("store", "orders").Logger()
	event := logger.Info("order read").Str("id", r.PathValue("id"))
	started := time.Now()
	order, err := s.read(r.Context(), r.PathValue("id"))
	event = event.Dur("took", time.Since(started))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		http.NotFound(w, r)
		event.Bool("found", false).Send()
		return
	case err != nil:
		http.Error(w, "internal error", http.StatusInternalServerError)
		logger.Error("order not read").Err(err).Send()
		event.Err(err)
	default:
		event.Bool("found", true)
	}
	event.Int("bytes", len(order)).Send()
}

func (s *store) read(ctx context.Context, id string) (order string, err error) {
	for attempt := 1; ; attempt++ {
		err = s.db.QueryRowContext(ctx, "SELECT text FROM orders WHERE id = $1", id).Scan(&order)
		if err == nil {
			return order, nil
		}
		e := s.logger.Warn("query failed").Err(err).Int("attempt", attempt)
		if attempt == 3 || ctx.Err() != nil {
			e.Bool("last", true).Send()
			return "", err
		}
		e.Send()
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// levelOf begins the event at a level that depends on the outcome.
func (s *store) levelOf(err error) log.Event {
	if err != nil {
		return s.logger.Error("done").Err(err)
	}
	return s.logger.Info("done")
}

func (s *store) run(ctx context.Context, jobs <-chan string) {
	logger := s.logger.With().Context(ctx).Logger()
	defer func() {
		if p := recover(); p != nil {
			logger.Fatal("panic").Any("value", p).Send()
		}
	}()
	for job := range jobs {
		_, err := s.read(ctx, job)
		e := s.levelOf(err)
		if e = e.Str("job", job); err == nil {
			e.Send()
			continue
		}
		e.Bool("retry", true).Send()
	}
	var summary log.Event
	if logger.Enabled(log.LevelDebug) {
		summary = logger.Debug("summary")
	}
	summary.Str("state", "stopped").Send()
}

func newServer(logger *log.Logger, s *store) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", s.serve)
	return &http.Server{Handler: httplog.Middleware(logger, httplog.Options{})(mux)}
}

func (s *store) forgetful(ctx context.Context, id string) error {
	e := s.logger.Info("order deleted").Str("id", id) // want `event is lost on a path without Send`
	result, err := s.db.ExecContext(ctx, "DELETE FROM orders WHERE id = $1", id)
	if err != nil {
		s.logger.Error("order not deleted").Str("id", id).Err(err) // want `event is lost: it has no Send`
		return err
	}
	if n, err := result.RowsAffected(); err == nil {
		e.Int64("rows", n).Send()
	}
	e.Str("by", "api").Send() // want `call of Str on an event after its Send` `call of Send on an event after its Send`
	return nil
}
