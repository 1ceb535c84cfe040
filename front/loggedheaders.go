package front

import (
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/log"
	"github.com/weirhq/weir/proxy"
)

// addHeaders adds the configured header fields to a completed event.
func (d *Door) addHeaders(e log.Event, x *exchange) {
	addFields(e, "request_headers", d.cfg.Log.RequestHeaders, x.Header)
	addFields(e, "response_headers", d.cfg.Log.ResponseHeaders, x.ResponseHeader())
}

// addFields adds an object with the named fields, as far as there are any.
func addFields(e log.Event, key string, names []string, fields []proxy.Field) {
	if !hasAny(names, fields) {
		return
	}
	e.Object(key, func(e log.Event) {
		for _, name := range names {
			if value := joined(fields, name); value != "" {
				e.URL(name, value) // any field may hold a URL with secrets in it
			}
		}
	})
}

func hasAny(names []string, fields []proxy.Field) bool {
	for _, name := range names {
		if joined(fields, name) != "" {
			return true
		}
	}
	return false
}

// joined returns the values of a field, with ", " between them if it is
// repeated.
func joined(fields []proxy.Field, name string) string {
	value := ""
	for i := range fields {
		f := &fields[i]
		if !httpsyntax.EqualFold(f.Name, name) {
			continue
		}
		if value != "" {
			value += ", "
		}
		value += f.Value
	}
	return value
}
