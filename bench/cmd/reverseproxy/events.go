package main

import (
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// An exchange is one request with its response, as in the events.
type exchange struct {
	request        *http.Request
	host           string
	port           int
	started, ended time.Time
	status         int
	length         int64
	destination    string
}

type (
	receivedHTTP  exchange
	proxyingHTTP  exchange
	completedHTTP exchange
	target        exchange
)

func (e *receivedHTTP) MarshalZerologObject(z *zerolog.Event) {
	(*exchange)(e).asked(z, 0)
	z.Time("started_at", e.started)
}

func (e *proxyingHTTP) MarshalZerologObject(z *zerolog.Event) {
	(*exchange)(e).asked(z, 0)
}

func (e *completedHTTP) MarshalZerologObject(z *zerolog.Event) {
	(*exchange)(e).asked(z, e.status)
	z.Time("started_at", e.started).Time("ended_at", e.ended).Int64("duration", int64(e.ended.Sub(e.started))).
		Int64("response_content_length", e.length).
		Str("route", "/{path...}").Str("client", e.request.RemoteAddr).Str("protocol", e.request.Proto)
	if agent := e.request.UserAgent(); agent != "" {
		z.Str("user_agent", agent)
	}
}

func (e *target) MarshalZerologObject(z *zerolog.Event) {
	z.Str("destination", e.destination).Str("proxy_name", "backend")
}

func (e *exchange) asked(z *zerolog.Event, status int) {
	z.Int("status_code", status).Str("method", e.request.Method).Str("scheme", "http").Str("host",
		e.host).Int("port", e.port).
		Str("path", e.request.URL.Path).Str("query", e.request.URL.RawQuery)
}
