package where

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/log/record"
)

// A field is a member of an event, of its http or of its auth.
type field struct {
	kind    kind
	get     func(*record.Record) value
	members map[string]field // of http and auth
}

// eventFields are the names with which a condition may begin.
var eventFields = map[string]field{
	"created_at": {kind: kindInstant, get: func(r *record.Record) value { return textValue(string(r.CreatedAt)) }},
	"namespace":  {kind: kindText, get: func(r *record.Record) value { return textValue(r.Namespace) }},
	"event":      {kind: kindText, get: func(r *record.Record) value { return textValue(r.Event) }},
	"trace_id":   {kind: kindText, get: func(r *record.Record) value { return textOrMissing(r.TraceID) }},
	"span_id":    {kind: kindText, get: func(r *record.Record) value { return textOrMissing(r.SpanID) }},
	"severity":   {kind: kindNumber, get: severity},
	"level":      {kind: kindLevel, get: func(r *record.Record) value { return textOrMissing(levelNames[r.Severity]) }},
	"http":       httpField,
	"auth":       authField,
	"data":       {kind: kindObject, get: func(r *record.Record) value { return objectValue(&r.Data) }},
	"errors":     {kind: kindList, get: errorList},
	"truncated":  {kind: kindList, get: func(r *record.Record) value { return textList(r.Truncated) }},
	"extra":      {kind: kindObject, get: extra},
}

var (
	httpField = objectField(func(r *record.Record) *record.HTTP { return r.HTTP })
	authField = objectField(func(r *record.Record) *record.Auth { return r.Auth })

	wordEnd = regexp.MustCompile("([a-z])([A-Z])")
	kinds   = map[reflect.Type]kind{
		reflect.TypeFor[string](): kindText, reflect.TypeFor[record.Instant](): kindInstant,
		reflect.TypeFor[int](): kindNumber, reflect.TypeFor[int64](): kindNumber,
		reflect.TypeFor[time.Duration](): kindDuration,
	}
)

// objectField returns a field that is a struct. Its members have the names of the
// format, which are those of the struct in snake case. In an object that exists, a
// number is 0 and a text is "" if the event does not have it: the format leaves these
// values out. Only an instant is missing.
func objectField[T any](object func(*record.Record) *T) field {
	members := map[string]field{}
	for i, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		kind, ok := kinds[f.Type]
		if !ok {
			continue // Extra
		}
		name := strings.ToLower(wordEnd.ReplaceAllString(f.Name, "${1}_$2"))
		members[name] = field{kind: kind, get: func(r *record.Record) value {
			of := object(r)
			if of == nil {
				return value{}
			}
			v := reflect.ValueOf(of).Elem().Field(i)
			switch {
			case v.CanInt():
				return intValue(v.Int())
			case kind == kindInstant:
				return textOrMissing(v.String())
			}
			return textValue(v.String())
		}}
	}
	return field{kindObject, func(r *record.Record) value {
		if object(r) == nil {
			return value{}
		}
		return objectValue(fixed{members, r})
	}, members}
}

// textOrMissing returns a text, or a missing value for "".
func textOrMissing(s string) value {
	if s == "" {
		return value{}
	}
	return textValue(s)
}

func severity(r *record.Record) value {
	if r.Severity == record.SeverityNone {
		return value{}
	}
	return intValue(r.Severity - record.SeverityFatal)
}

func errorList(r *record.Record) value {
	list := make([]value, len(r.Errors))
	for i := range list {
		list[i] = objectValue(&r.Errors[i])
	}
	return listValue(list)
}

// extra has the keys that the format does not know: those of the event, and in
// http and auth those of these.
func extra(r *record.Record) value {
	fields := slices.Clip(r.Extra)
	if r.HTTP != nil {
		fields = append(fields, prefixed("http.", r.HTTP.Extra)...)
	}
	if r.Auth != nil {
		fields = append(fields, prefixed("auth.", r.Auth.Extra)...)
	}
	return objectValue(&fields)
}

func prefixed(prefix string, fields []record.Field) []record.Field {
	fields = slices.Clone(fields)
	for i := range fields {
		fields[i].Key = prefix + fields[i].Key
	}
	return fields
}

// A fixed is http or auth as a whole.
type fixed struct {
	members map[string]field
	record  *record.Record
}

// member returns a member of an object, the last one with the key, or a missing
// value.
func (v value) member(key string) value {
	switch of := v.of.(type) {
	case *[]record.Field:
		return fieldOf(of, v.s+key)
	case *record.Error:
		switch key {
		case "message":
			return textValue(of.Message)
		case "data":
			return objectValue(&of.Data)
		}
	case fixed:
		if f, ok := of.members[key]; ok {
			return f.get(of.record)
		}
	}
	return value{}
}

// fieldOf returns the last field with a key. LTSV has keys with dots where JSON has
// objects, so it may be an object of all keys that begin with key and a dot.
func fieldOf(fields *[]record.Field, key string) value {
	inside := false
	for i := len(*fields) - 1; i >= 0; i-- {
		rest, ok := strings.CutPrefix((*fields)[i].Key, key)
		if ok && rest == "" {
			return jsonValue((*fields)[i].Value)
		}
		inside = inside || ok && rest[0] == '.'
	}
	if !inside {
		return value{}
	}
	return value{is: kindObject, of: fields, s: key + "."}
}

// members returns the members of an object by key.
func (v value) members() map[string]value {
	members := map[string]value{}
	switch of := v.of.(type) {
	case *[]record.Field:
		for _, f := range *of {
			if key, ok := strings.CutPrefix(f.Key, v.s); ok {
				members[key] = jsonValue(f.Value)
			}
		}
	case *record.Error:
		members["message"], members["data"] = v.member("message"), v.member("data")
	case fixed:
		for key := range of.members {
			members[key] = v.member(key)
		}
	}
	return members
}

// index returns a member of an object, or an element of a list. Negative indices
// count from the end.
func (v value) index(at value) value {
	if at.is == kindText {
		return v.member(at.s)
	}
	list := v.list()
	if at.n < 0 {
		at.n += int64(len(list))
	}
	if at.is != kindNumber || at.n < 0 || at.n >= int64(len(list)) {
		return value{}
	}
	return list[at.n]
}

// names returns the sorted names of a table.
func names[T any](table map[string]T) []string { return slices.Sorted(maps.Keys(table)) }

func listed[T any](table map[string]T) string { return strings.Join(names(table), ", ") }

// suggestion returns the name that was probably meant, with its object: members
// of http and auth are suggested too.
func suggestion(name string) string {
	near := nearest.Guess(name, slices.Concat(names(eventFields), names(httpField.members), names(authField.members)))
	for object, f := range eventFields {
		if _, ok := f.members[near]; ok {
			return object + "." + near
		}
	}
	return near
}

func didYouMean(near string) string {
	if near == "" {
		return ""
	}
	return ", did you mean " + near + "?"
}
