package log

import (
	"bytes"
	"io"
	"time"
)

// openFloor is what remains when encoding costs nothing: the clock is read and finished bytes are copied and handed
// over, once for each event.
func openFloor(w io.Writer) logger {
	var line bytes.Buffer
	events, event := finished(func(l logger) { l.threeEvents(proxied) }), finished(func(l logger) { l.tenFields(ten) })
	write := func(b []byte) {
		_ = time.Now()
		line.Reset()
		line.Write(b)
		w.Write(line.Bytes())
	}
	return logger{
		threeEvents: func(*request) {
			for _, b := range events {
				write(b)
			}
		},
		tenFields: func(*fields) { write(event[0]) },
	}
}

// finished returns the lines that zerolog makes of the events.
func finished(log func(logger)) [][]byte {
	var out bytes.Buffer
	log(openZerolog(&out))
	lines := bytes.SplitAfter(out.Bytes(), []byte("\n"))
	return lines[:len(lines)-1] // nothing stands after the last newline
}
