package record

import (
	"strconv"

	"github.com/weirhq/weir/log/internal/ltsv"
)

// AppendLTSV appends r as a line of LTSV, with its newline. The members of Extra follow
// the members of data, or of the data of their error.
func (r *Record) AppendLTSV(dst []byte) []byte {
	dst = ltsv.AppendInstant(append(dst, "time:"...), string(r.CreatedAt))
	if r.Severity.known() {
		dst = append(append(dst, "\tlevel:"...), r.Severity.String()...)
	}
	dst = ltsv.AppendValue(append(dst, "\tnamespace:"...), r.Namespace)
	dst = ltsv.AppendValue(append(dst, "\tevent:"...), r.Event)
	dst = appendPair(dst, "\ttrace_id:", r.TraceID)
	dst = appendPair(dst, "\tspan_id:", r.SpanID)
	var httpExtra, authExtra []Field
	if r.HTTP != nil {
		dst, httpExtra = r.HTTP.appendLTSV(dst), r.HTTP.Extra
	}
	if a := r.Auth; a != nil {
		dst = ltsv.AppendValue(append(dst, "\tidentity:"...), a.Identity)
		dst = ltsv.AppendValue(append(dst, "\tidentity_type:"...), a.IdentityType)
		authExtra = a.Extra
	}
	dst = appendPairs(dst, r.Data, httpExtra, authExtra, r.Extra)
	for i := range r.Errors {
		dst = r.Errors[i].appendLTSV(dst)
	}
	if len(r.Truncated) > 0 {
		dst = appendTruncated(append(dst, "\ttruncated:"...), r.Truncated)
	}
	return append(dst, '\n')
}

func (h *HTTP) appendLTSV(dst []byte) []byte {
	dst = appendPair(dst, "\thost:", h.Client)
	dst = appendPair(dst, "\tmethod:", h.Method)
	dst = appendPair(dst, "\tprotocol:", h.Protocol)
	dst = appendPair(dst, "\turi:", h.uri())
	dst = appendPair(dst, "\tscheme:", h.Scheme)
	dst = appendPair(dst, "\tvhost:", h.Host)
	dst = appendSetNumber(dst, "\tport:", int64(h.Port))
	dst = strconv.AppendInt(append(dst, "\tstatus:"...), int64(h.StatusCode), 10)
	if h.StatusCode != 0 || h.ResponseContentLength != 0 {
		dst = strconv.AppendInt(append(dst, "\tsize:"...), h.ResponseContentLength, 10)
	}
	dst = appendSetNumber(dst, "\treqsize:", h.RequestContentLength)
	if h.Duration != 0 {
		dst = ltsv.AppendSeconds(append(dst, "\treqtime:"...), h.Duration)
	}
	if h.StartedAt != "" {
		dst = ltsv.AppendInstant(append(dst, "\tstarted_at:"...), string(h.StartedAt))
	}
	if h.EndedAt != "" {
		dst = ltsv.AppendInstant(append(dst, "\tended_at:"...), string(h.EndedAt))
	}
	dst = appendPair(dst, "\tua:", h.UserAgent)
	dst = appendPair(dst, "\treferer:", h.Referer)
	return appendPair(dst, "\troute:", h.Route)
}

// uri returns the path and the query.
func (h *HTTP) uri() string {
	if h.Query == "" {
		return h.Path
	}
	return h.Path + "?" + h.Query
}

func (e *Error) appendLTSV(dst []byte) []byte {
	dst = ltsv.AppendValue(append(dst, "\terr:"...), e.Message)
	dst = appendPairs(dst, e.Data, e.Extra)
	if len(e.Stack) == 0 {
		return dst
	}
	dst = append(dst, "\tstack:"...)
	for i, f := range e.Stack {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = f.appendLTSV(dst)
	}
	return dst
}

func (f Frame) appendLTSV(dst []byte) []byte {
	dst = ltsv.AppendValue(dst, f.Function)
	if f.File == "" && f.Line == 0 {
		return dst
	}
	dst = ltsv.AppendValue(append(dst, '@'), f.File)
	return strconv.AppendInt(append(dst, ':'), int64(f.Line), 10)
}

func appendTruncated(dst []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = ltsv.AppendValue(dst, name)
	}
	return dst
}

func appendPairs(dst []byte, groups ...[]Field) []byte {
	for _, fields := range groups {
		for _, f := range fields {
			dst = ltsv.AppendJSON(dst, f.Key, string(f.Value))
		}
	}
	return dst
}

// appendPair appends a label and its value unless the value is empty.
func appendPair(dst []byte, label, value string) []byte {
	if value == "" {
		return dst
	}
	return ltsv.AppendValue(append(dst, label...), value)
}
