package otlpsink

import (
	"bytes"
	"time"
)

// A stamp is a time with whole seconds and its text. Most lines of a batch begin with the
// same one.
type stamp struct {
	text [len("2006-01-02T15:04:05")]byte
	unix int64
}

// lastSecond is the last second of which all nanoseconds since 1970 fit into 64 bits.
const lastSecond = (1<<64-1)/1_000_000_000 - 1

// parse parses a time of RFC 3339 as nanoseconds since 1970.
func (s *stamp) parse(b []byte) (ns uint64, ok bool) {
	if fraction, ok := bytes.CutPrefix(b, s.text[:]); ok {
		if ns, ok := nanoseconds(fraction); ok {
			return uint64(s.unix)*1e9 + ns, true
		}
	}
	t, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil || t.Unix() <= 0 || t.Unix() > lastSecond {
		return 0, false
	}
	if len(b) > len(s.text) && b[13] == ':' && b[16] == ':' && b[len(b)-1] == 'Z' {
		s.text, s.unix = [len(s.text)]byte(b), t.Unix()
	}
	return uint64(t.Unix())*1e9 + uint64(t.Nanosecond()), true
}

// nanoseconds parses the end of a time: Z, or a fraction with up to nine digits and Z.
func nanoseconds(b []byte) (ns uint64, ok bool) {
	if string(b) == "Z" {
		return 0, true
	}
	digits := len(b) - len(".Z")
	if digits < 1 || digits > 9 || b[0] != '.' || b[len(b)-1] != 'Z' {
		return 0, false
	}
	for i := range 9 {
		ns *= 10
		if i < digits {
			if !isDigit(b[1+i]) {
				return 0, false
			}
			ns += uint64(b[1+i] - '0')
		}
	}
	return ns, true
}
