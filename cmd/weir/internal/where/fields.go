package where

import (
	"slices"
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

func textField(name string, get func(*record.Record) string) field {
	return field{name, kindText, func(r *record.Record) value { return textOrMissing(get(r)) }}
}

func numberField[N int | int64 | time.Duration](name string, kind kind, get func(*record.Record) N) field {
	return field{name, kind, func(r *record.Record) value {
		if n := get(r); n != 0 {
			return intValue(int64(n))
		}
		return value{}
	}}
}

func instantField(name string, get func(*record.Record) record.Instant) field {
	return field{name, kindInstant, func(r *record.Record) value { return textOrMissing(string(get(r))) }}
}

// eventFields are the names with which a condition may begin.
var eventFields = []field{
	{"created_at", kindInstant, func(r *record.Record) value { return textValue(string(r.CreatedAt)) }},
	{"namespace", kindText, func(r *record.Record) value { return textValue(r.Namespace) }},
	{"event", kindText, func(r *record.Record) value { return textValue(r.Event) }},
	textField("trace_id", func(r *record.Record) string { return r.TraceID }),
	textField("span_id", func(r *record.Record) string { return r.SpanID }),
	{"severity", kindNumber, severity},
	{"level", kindLevel, level},
	{"http", kindObject, func(r *record.Record) value {
		return objectOf(r.HTTP != nil, r, memberFields["http"])
	}},
	{"auth", kindObject, func(r *record.Record) value {
		return objectOf(r.Auth != nil, r, memberFields["auth"])
	}},
	{"data", kindObject, func(r *record.Record) value { return fieldsValue(&r.Data) }},
	{"errors", kindList, errorList},
	{"truncated", kindList, truncated},
	{"extra", kindObject, extra},
}

// memberFields are the members of the objects with a fixed set of members.
var memberFields = map[string][]field{
	"http": {
		{"status_code", kindNumber, func(r *record.Record) value { return intValue(int64(r.HTTP.StatusCode)) }},
		textField("method", func(r *record.Record) string { return r.HTTP.Method }),
		textField("scheme", func(r *record.Record) string { return r.HTTP.Scheme }),
		textField("host", func(r *record.Record) string { return r.HTTP.Host }),
		numberField("port", kindNumber, func(r *record.Record) int { return r.HTTP.Port }),
		textField("path", func(r *record.Record) string { return r.HTTP.Path }),
		textField("query", func(r *record.Record) string { return r.HTTP.Query }),
		instantField("started_at", func(r *record.Record) record.Instant { return r.HTTP.StartedAt }),
		instantField("ended_at", func(r *record.Record) record.Instant { return r.HTTP.EndedAt }),
		numberField("duration", kindDuration, func(r *record.Record) time.Duration { return r.HTTP.Duration }),
		numberField("response_content_length", kindNumber, func(r *record.Record) int64 {
			return r.HTTP.ResponseContentLength
		}),
		textField("route", func(r *record.Record) string { return r.HTTP.Route }),
		textField("client", func(r *record.Record) string { return r.HTTP.Client }),
		textField("protocol", func(r *record.Record) string { return r.HTTP.Protocol }),
		textField("user_agent", func(r *record.Record) string { return r.HTTP.UserAgent }),
		textField("referer", func(r *record.Record) string { return r.HTTP.Referer }),
		numberField("request_content_length", kindNumber, func(r *record.Record) int64 {
			return r.HTTP.RequestContentLength
		}),
	},
	"auth": {
		{"identity", kindText, func(r *record.Record) value { return textValue(r.Auth.Identity) }},
		{"identity_type", kindText, func(r *record.Record) value { return textValue(r.Auth.IdentityType) }},
	},
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
	if r.Severity == record.SeverityNone {
		return value{}
	}
	return textValue(levelNames[r.Severity-record.SeverityFatal])
}

// objectOf returns http or auth as an object.
func objectOf(exists bool, r *record.Record, members []field) value {
	if !exists {
		return value{}
	}
	m := map[string]any{}
	for _, f := range members {
		if v := f.get(r); v.is != typeMissing {
			m[f.name] = v.any()
		}
	}
	return value{is: typeObject, of: m}
}

func errorList(r *record.Record) value {
	list := make([]value, len(r.Errors))
	for i := range r.Errors {
		list[i] = value{is: typeObject, of: &r.Errors[i]}
	}
	return listValue(list)
}

func truncated(r *record.Record) value {
	list := make([]value, len(r.Truncated))
	for i, name := range r.Truncated {
		list[i] = textValue(name)
	}
	return listValue(list)
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
	return value{is: typeObject, of: m}
}

func find(fields []field, name string) (field, bool) {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return fields[i], true
}

// namesOf returns the names of fields, sorted.
func namesOf(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	slices.Sort(names)
	return names
}

// suggestion returns the name that was probably meant, with its object: members
// of http and auth are suggested too.
func suggestion(name string) string {
	names := namesOf(eventFields)
	for _, object := range []string{"http", "auth"} {
		names = append(names, namesOf(memberFields[object])...)
	}
	near := cli.Suggest(name, names)
	if _, ok := find(eventFields, near); ok {
		return near
	}
	for object, members := range memberFields {
		if _, ok := find(members, near); ok {
			return object + "." + near
		}
	}
	return near
}
