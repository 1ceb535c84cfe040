package log

// A stamp says what the front of an event's buffer holds from the event
// before: created_at, all but the fraction of its second, which mostly is the
// same second again.
type stamp struct {
	second   int64
	notation notation
	usable   bool
}

// stampSecond sees to it that the buffer begins with layout, in which the
// instant begins at firstDigit and its second is the given one. It reports
// whether RFC 3339 can hold that.
func (e *openEvent) stampSecond(layout string, firstDigit int, second int64) bool {
	wanted := stamp{second, e.notation, true}
	if e.stamp == wanted {
		return true
	}
	text := e.clock.Second(second)
	if text == nil {
		return false
	}
	if !e.stamp.usable {
		copy(e.buf, layout)
	}
	copy(e.buf[firstDigit:], text[:])
	e.stamp = wanted
	return true
}

// replaceFront puts another text where created_at stands and returns where the
// line begins.
func (e *openEvent) replaceFront(with string) int {
	body := e.buf[len(e.out.encoder.front()):]
	from := len(e.buf)
	e.buf = append(append(e.buf, with...), body...)
	return from
}
