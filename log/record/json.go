package record

import (
	"strconv"

	"github.com/weirhq/weir/log/internal/text"
)

// AppendJSON appends r as a line of JSON of shape v2, with its newline. The
// members of Extra follow the keys of the format; truncated is always the last
// key. Values must be valid.
func (r *Record) AppendJSON(dst []byte) []byte {
	dst = text.AppendString(append(dst, `{"created_at":`...), string(r.CreatedAt))
	dst = text.AppendString(append(dst, `,"namespace":`...), r.Namespace)
	dst = text.AppendString(append(dst, `,"event":`...), r.Event)
	dst = appendSetText(dst, `,"trace_id":`, r.TraceID)
	dst = appendSetText(dst, `,"span_id":`, r.SpanID)
	if r.Severity.known() {
		dst = append(append(dst, `,"severity":`...), r.Severity.digit())
	}
	if r.HTTP != nil {
		dst = r.HTTP.appendJSON(append(dst, `,"http":`...))
	}
	if r.Auth != nil {
		dst = r.Auth.appendJSON(append(dst, `,"auth":`...))
	}
	if len(r.Data) > 0 {
		dst = appendObject(append(dst, `,"data":`...), r.Data)
	}
	if len(r.Errors) > 0 {
		dst = appendArray(append(dst, `,"errors":`...), r.Errors, Error.appendJSON)
	}
	dst = appendMembers(dst, r.Extra)
	if len(r.Truncated) > 0 {
		dst = appendArray(append(dst, `,"truncated":`...), r.Truncated, func(path string, dst []byte) []byte {
			return text.AppendString(dst, path)
		})
	}
	return append(dst, "}\n"...)
}

func (h *HTTP) appendJSON(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"status_code":`...), int64(h.StatusCode), 10)
	dst = appendSetText(dst, `,"method":`, h.Method)
	dst = appendSetText(dst, `,"scheme":`, h.Scheme)
	dst = appendSetText(dst, `,"host":`, h.Host)
	dst = appendSetNumber(dst, `,"port":`, int64(h.Port))
	dst = appendSetText(dst, `,"path":`, h.Path)
	dst = appendSetText(dst, `,"query":`, h.Query)
	dst = appendSetText(dst, `,"started_at":`, string(h.StartedAt))
	dst = appendSetText(dst, `,"ended_at":`, string(h.EndedAt))
	dst = appendSetNumber(dst, `,"duration":`, int64(h.Duration))
	dst = appendSetNumber(dst, `,"response_content_length":`, h.ResponseContentLength)
	dst = appendSetText(dst, `,"route":`, h.Route)
	dst = appendSetText(dst, `,"client":`, h.Client)
	dst = appendSetText(dst, `,"protocol":`, h.Protocol)
	dst = appendSetText(dst, `,"user_agent":`, h.UserAgent)
	dst = appendSetText(dst, `,"referer":`, h.Referer)
	dst = appendSetNumber(dst, `,"request_content_length":`, h.RequestContentLength)
	return append(appendMembers(dst, h.Extra), '}')
}

func (a *Auth) appendJSON(dst []byte) []byte {
	dst = text.AppendString(append(dst, `{"identity":`...), a.Identity)
	dst = text.AppendString(append(dst, `,"identity_type":`...), a.IdentityType)
	return append(appendMembers(dst, a.Extra), '}')
}

func (e Error) appendJSON(dst []byte) []byte {
	dst = text.AppendString(append(dst, `{"message":`...), e.Message)
	if len(e.Stack) > 0 {
		dst = appendArray(append(dst, `,"stack_trace":`...), e.Stack, Frame.appendJSON)
	}
	if len(e.Data) > 0 {
		dst = appendObject(append(dst, `,"data":`...), e.Data)
	}
	return append(appendMembers(dst, e.Extra), '}')
}

func (f Frame) appendJSON(dst []byte) []byte {
	dst = text.AppendString(append(dst, `{"file":`...), f.File)
	dst = strconv.AppendInt(append(dst, `,"line":`...), int64(f.Line), 10)
	dst = text.AppendString(append(dst, `,"function":`...), f.Function)
	return append(dst, '}')
}

func appendArray[T any](dst []byte, list []T, appendOne func(T, []byte) []byte) []byte {
	dst = append(dst, '[')
	for i, one := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendOne(one, dst)
	}
	return append(dst, ']')
}

func appendObject(dst []byte, fields []Field) []byte {
	mark := len(dst)
	dst = append(appendMembers(dst, fields), '}')
	dst[mark] = '{' // in place of the first comma
	return dst
}

// appendMembers appends members after others, each with a comma before it.
func appendMembers(dst []byte, fields []Field) []byte {
	for _, f := range fields {
		dst = text.AppendString(append(dst, ','), f.Key)
		dst = append(append(dst, ':'), f.Value...)
	}
	return dst
}

// The functions below append a key and its value unless the value is zero.

func appendSetText(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return text.AppendString(append(dst, key...), value)
}

func appendSetNumber(dst []byte, key string, n int64) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, key...), n, 10)
}
