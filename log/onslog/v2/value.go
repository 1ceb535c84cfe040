package log

import (
	"math"
	"strconv"
	"time"

	"github.com/weirhq/weir/log/internal/text"
)

// maxDepth is the nesting depth up to which the encoder writes maps and lists
// itself. Deeper values go to encoding/json, which detects a map that contains
// itself.
const maxDepth = 32

// value writes v in the same form as encoding/json.
func (enc *encoder) value(v any, depth int) bool {
	switch v := v.(type) {
	case nil:
		enc.raw("null")
	case string:
		enc.text("", v)
	case bool:
		enc.buf = strconv.AppendBool(enc.buf, v)
	case int:
		enc.number("", int64(v))
	case int64:
		enc.number("", v)
	case int32:
		enc.number("", int64(v))
	case uint:
		enc.buf = strconv.AppendUint(enc.buf, uint64(v), 10)
	case uint64:
		enc.buf = strconv.AppendUint(enc.buf, v, 10)
	case uint32:
		enc.number("", int64(v))
	case float64:
		return enc.float(v, 64)
	case float32:
		return enc.float(float64(v), 32)
	case time.Duration:
		enc.number("", int64(v))
	case time.Time:
		return enc.time(v)
	case []string:
		enc.strings(v)
	default:
		return enc.nested(v, depth)
	}
	return true
}

// nested writes a value of any other type: a map, a list, or one for
// encoding/json.
func (enc *encoder) nested(v any, depth int) bool {
	if depth < maxDepth {
		switch v := v.(type) {
		case Data:
			return enc.object(v, depth)
		case map[string]any:
			return enc.object(v, depth)
		case []any:
			return enc.list(v, depth)
		}
	}
	if err := enc.json.Encode(v); err != nil {
		return false
	}
	enc.buf = enc.buf[:len(enc.buf)-1] // Encode ends with a newline
	return true
}

func (enc *encoder) float(f float64, bits int) bool {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return false
	}
	enc.buf = text.AppendFloat(enc.buf, f, bits)
	return true
}

func (enc *encoder) strings(list []string) {
	if list == nil {
		enc.raw("null")
		return
	}
	enc.raw("[")
	for i, s := range list {
		if i > 0 {
			enc.raw(",")
		}
		enc.text("", s)
	}
	enc.raw("]")
}

func (enc *encoder) list(list []any, depth int) bool {
	if list == nil {
		enc.raw("null")
		return true
	}
	enc.raw("[")
	for i, v := range list {
		if i > 0 {
			enc.raw(",")
		}
		if !enc.value(v, depth+1) {
			return false
		}
	}
	enc.raw("]")
	return true
}
