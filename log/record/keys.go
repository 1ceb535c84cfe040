package record

import (
	"slices"
	"strings"
)

// A key is a member of an event, of its http or of its auth that has a single
// value.
type key struct {
	json, ltsv string            // its names; "" if the form does not have the key
	field      func(*Record) any // the address of its field
}

// keys holds the keys of an event, then those of http, then those of auth, each
// in the order of JSON.
var keys = [...]key{
	keyCreatedAt: {"created_at", "time", func(r *Record) any { return &r.CreatedAt }},
	{"namespace", "namespace", func(r *Record) any { return &r.Namespace }},
	keyEvent: {"event", "event", func(r *Record) any { return &r.Event }},
	{"trace_id", "trace_id", func(r *Record) any { return &r.TraceID }},
	{"span_id", "span_id", func(r *Record) any { return &r.SpanID }},
	{"severity", "level", func(r *Record) any { return &r.Severity }},

	firstHTTP: {"status_code", "status", func(r *Record) any { return &r.HTTP.StatusCode }},
	{"method", "method", func(r *Record) any { return &r.HTTP.Method }},
	{"scheme", "scheme", func(r *Record) any { return &r.HTTP.Scheme }},
	{"host", "vhost", func(r *Record) any { return &r.HTTP.Host }},
	{"port", "port", func(r *Record) any { return &r.HTTP.Port }},
	{"path", "", func(r *Record) any { return &r.HTTP.Path }}, // LTSV has uri for both
	{"query", "", func(r *Record) any { return &r.HTTP.Query }},
	{"started_at", "started_at", func(r *Record) any { return &r.HTTP.StartedAt }},
	{"ended_at", "ended_at", func(r *Record) any { return &r.HTTP.EndedAt }},
	{"duration", "reqtime", func(r *Record) any { return &r.HTTP.Duration }},
	{"response_content_length", "size", func(r *Record) any { return &r.HTTP.ResponseContentLength }},
	{"route", "route", func(r *Record) any { return &r.HTTP.Route }},
	{"client", "host", func(r *Record) any { return &r.HTTP.Client }},
	{"protocol", "protocol", func(r *Record) any { return &r.HTTP.Protocol }},
	{"user_agent", "ua", func(r *Record) any { return &r.HTTP.UserAgent }},
	{"referer", "referer", func(r *Record) any { return &r.HTTP.Referer }},
	{"request_content_length", "reqsize", func(r *Record) any { return &r.HTTP.RequestContentLength }},

	firstAuth: {"identity", "identity", func(r *Record) any { return &r.Auth.Identity }},
	{"identity_type", "identity_type", func(r *Record) any { return &r.Auth.IdentityType }},
}

// Indices in keys, and the bits in a set of the other members.
const (
	keyCreatedAt = 0
	keyEvent     = 2
	firstHTTP    = 6
	firstAuth    = 23
	keyData      = 25
	keyErrors    = 26
	keyTruncated = 27
)

// labels are the indices in keys by the name in LTSV.
var labels = func() map[string]int {
	m := map[string]int{}
	for i, k := range keys {
		if k.ltsv != "" {
			m[k.ltsv] = i
		}
	}
	return m
}()

// A set has a bit for each index that is in it.
type set uint32

const (
	httpPlaces = set(1<<firstAuth - 1<<firstHTTP)
	authPlaces = set(1<<keyData - 1<<firstAuth)
)

func (s set) has(place int) bool { return s&(1<<place) != 0 }

// setOf returns the indices in keys of members with the given JSON names, and
// reports whether the format knows all of them.
func setOf(names []string) (s set, ok bool) {
	others := map[string]int{"data": keyData, "errors": keyErrors, "truncated": keyTruncated}
	for _, name := range names {
		among, first, member := keys[:firstHTTP], 0, name
		if m, ok := strings.CutPrefix(name, "http."); ok {
			among, first, member = keys[firstHTTP:firstAuth], firstHTTP, m
		} else if m, ok := strings.CutPrefix(name, "auth."); ok {
			among, first, member = keys[firstAuth:], firstAuth, m
		}
		place := slices.IndexFunc(among, func(k key) bool { return k.json == member }) + first
		if place < first {
			if place, ok = others[name]; !ok {
				return 0, false
			}
		}
		s |= 1 << place
	}
	return s, true
}
