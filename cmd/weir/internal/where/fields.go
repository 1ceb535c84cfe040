package where

import (
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/log/record"
)

// A field is a member of an event, of its http or of its auth.
type field struct {
	name string
	kind kind
	get  func(*record.Record) value
}

// eventFields are the names with which a condition may begin.
var eventFields = []field{
	{"created_at", kindInstant, func(r *record.Record) value { return textValue(string(r.CreatedAt)) }},
	{"namespace", kindText, func(r *record.Record) value { return textValue(r.Namespace) }},
	{"event", kindText, func(r *record.Record) value { return textValue(r.Event) }},
	{"trace_id", kindText, func(r *record.Record) value { return textOrMissing(r.TraceID) }},
	{"span_id", kindText, func(r *record.Record) value { return textOrMissing(r.SpanID) }},
	{"severity", kindNumber, severity},
	{"level", kindLevel, level},
	{"http", kindObject, func(r *record.Record) value { return objectOf(r, memberFields["http"]) }},
	{"auth", kindObject, func(r *record.Record) value { return objectOf(r, memberFields["auth"]) }},
	{"data", kindObject, func(r *record.Record) value { return fieldsValue(&r.Data) }},
	{"errors", kindList, func(r *record.Record) value {
		return listOf(r.Errors, func(e *record.Error) value { return value{is: kindObject, of: e} })
	}},
	{"truncated", kindList, func(r *record.Record) value { return listOf(r.Truncated, ofText) }},
	{"extra", kindObject, extra},
}

// memberFields are the members of the objects with a fixed set of members. In an object
// that exists, a number is 0 and a text is "" if the event does not have it: the format
// leaves these values out. Only an instant is missing.
var memberFields = map[string][]field{
	"http": {
		httpNumber("status_code", kindNumber, func(h *record.HTTP) int { return h.StatusCode }),
		httpText("method", func(h *record.HTTP) string { return h.Method }),
		httpText("scheme", func(h *record.HTTP) string { return h.Scheme }),
		httpText("host", func(h *record.HTTP) string { return h.Host }),
		httpNumber("port", kindNumber, func(h *record.HTTP) int { return h.Port }),
		httpText("path", func(h *record.HTTP) string { return h.Path }),
		httpText("query", func(h *record.HTTP) string { return h.Query }),
		httpInstant("started_at", func(h *record.HTTP) record.Instant { return h.StartedAt }),
		httpInstant("ended_at", func(h *record.HTTP) record.Instant { return h.EndedAt }),
		httpNumber("duration", kindDuration, func(h *record.HTTP) time.Duration { return h.Duration }),
		httpNumber("response_content_length", kindNumber, func(h *record.HTTP) int64 {
			return h.ResponseContentLength
		}),
		httpText("route", func(h *record.HTTP) string { return h.Route }),
		httpText("client", func(h *record.HTTP) string { return h.Client }),
		httpText("protocol", func(h *record.HTTP) string { return h.Protocol }),
		httpText("user_agent", func(h *record.HTTP) string { return h.UserAgent }),
		httpText("referer", func(h *record.HTTP) string { return h.Referer }),
		httpNumber("request_content_length", kindNumber, func(h *record.HTTP) int64 { return h.RequestContentLength }),
	},
	"auth": {
		authText("identity", func(a *record.Auth) string { return a.Identity }),
		authText("identity_type", func(a *record.Auth) string { return a.IdentityType }),
	},
}

func httpText(name string, get func(*record.HTTP) string) field {
	return field{name, kindText, func(r *record.Record) value {
		if r.HTTP == nil {
			return value{}
		}
		return textValue(get(r.HTTP))
	}}
}

func httpInstant(name string, get func(*record.HTTP) record.Instant) field {
	return field{name, kindInstant, func(r *record.Record) value {
		if r.HTTP == nil {
			return value{}
		}
		return textOrMissing(string(get(r.HTTP)))
	}}
}

func httpNumber[N int | int64 | time.Duration](name string, kind kind, get func(*record.HTTP) N) field {
	return field{name, kind, func(r *record.Record) value {
		if r.HTTP == nil {
			return value{}
		}
		return intValue(int64(get(r.HTTP)))
	}}
}

func authText(name string, get func(*record.Auth) string) field {
	return field{name, kindText, func(r *record.Record) value {
		if r.Auth == nil {
			return value{}
		}
		return textValue(get(r.Auth))
	}}
}

// levelNames are the levels, worst first.
var levelNames = []string{"fatal", "error", "warn", "info", "debug"}

func severity(r *record.Record) value {
	if r.Severity == record.SeverityNone {
		return value{}
	}
	return intValue(int64(r.Severity - record.SeverityFatal))
}

func level(r *record.Record) value {
	v := severity(r)
	if v.is == kindMissing {
		return v
	}
	return textValue(levelNames[v.n])
}

// objectOf returns http or auth as an object.
func objectOf(r *record.Record, members []field) value {
	m := map[string]any{}
	for _, f := range members {
		if v := f.get(r); v.is != kindMissing {
			m[f.name] = v.any()
		}
	}
	if len(m) == 0 {
		return value{}
	}
	return value{is: kindObject, of: m}
}

// extra has the keys that the format does not know: those of the event, and in
// http and auth those of these.
func extra(r *record.Record) value {
	v := fieldsValue(&r.Extra)
	if (r.HTTP == nil || r.HTTP.Extra == nil) && (r.Auth == nil || r.Auth.Extra == nil) {
		return v
	}
	m := v.object()
	if r.HTTP != nil && len(r.HTTP.Extra) > 0 {
		m["http"] = fieldsValue(&r.HTTP.Extra).object()
	}
	if r.Auth != nil && len(r.Auth.Extra) > 0 {
		m["auth"] = fieldsValue(&r.Auth.Extra).object()
	}
	return value{is: kindObject, of: m}
}

func find(fields []field, name string) (field, bool) {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return fields[i], true
}

func sortedNames(fields []field) (names []string) {
	for _, f := range fields {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

func namesOf(fields []field) string { return strings.Join(sortedNames(fields), ", ") }

// suggestion returns the name that was probably meant, with its object: members
// of http and auth are suggested too.
func suggestion(name string) string {
	names := sortedNames(eventFields)
	for _, object := range []string{"http", "auth"} {
		names = append(names, sortedNames(memberFields[object])...)
	}
	near := cli.Suggest(name, names)
	for object, members := range memberFields {
		if _, ok := find(members, near); ok {
			return object + "." + near
		}
	}
	return near
}
