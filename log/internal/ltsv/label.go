package ltsv

import "github.com/weirhq/weir/log/internal/jsonscan"

// AppendLabel appends the label of a field: prefix and key, in which each byte
// but 0-9A-Za-z_.- becomes an underscore, and which is an underscore where it
// would be empty. A label that the format has given a meaning gets "data."
// before it. For a member of an object, prefix is the keys that lead to it,
// each with a dot behind it; else it is empty.
func AppendLabel[P jsonscan.Text](dst []byte, prefix P, key string) []byte {
	mark := len(dst)
	return finishLabel(appendSafe(appendSafe(dst, prefix), key), mark)
}

// finishLabel sees to it that the label, which begins at mark, can be one.
func finishLabel(dst []byte, mark int) []byte {
	switch {
	case len(dst) == mark:
		return append(dst, '_')
	case Reserved(string(dst[mark:])):
		dst = append(dst, dataPrefix...)
		copy(dst[mark+len(dataPrefix):], dst[mark:])
		copy(dst[mark:], dataPrefix)
	}
	return dst
}

const dataPrefix = "data."

func appendSafe[T jsonscan.Text](dst []byte, s T) []byte {
	for i := range len(s) {
		if c := s[i]; isSafe(c) {
			dst = append(dst, c)
		} else {
			dst = append(dst, '_')
		}
	}
	return dst
}

func isSafe(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '.' || c == '-'
}

// Reserved reports whether the format gives a label a meaning, so that no field
// may have it.
func Reserved(label string) bool {
	switch label {
	case "time", "level", "namespace", "event", "trace_id", "span_id",
		"host", "method", "protocol", "uri", "scheme", "vhost", "port", "status", "size", "reqsize", "reqtime",
		"started_at", "ended_at", "ua", "referer", "route",
		"identity", "identity_type", "err", "stack", "truncated":
		return true
	}
	return false
}
