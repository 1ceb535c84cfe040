package log

import (
	"io"

	phuslu "github.com/phuslu/log"
)

// Three holds the events of a proxied request as separate functions, so that the duration of each can be measured.
// Goroutines may share it if each uses its own Request.
type Three [3]func(*Request)

// A Request holds the values in the three events.
type Request = request

// Received makes r a request that has just arrived.
func Received(r *Request) {
	*r = *proxied
	r.now()
}

func (t Three) all(r *request) {
	t[0](r)
	t[1](r)
	t[2](r)
}

// ByWeir returns the events as written by Weir's logger to w.
func ByWeir(w io.Writer) Three { return openWeir(w).three }

// ByZerolog returns the events as written by zerolog.
func ByZerolog(w io.Writer) Three { return openZerolog(w).three }

// ByZap returns the events as written by zap.
func ByZap(w io.Writer) Three { return openZap(w).three }

// BySlog returns the events as written by log/slog.
func BySlog(w io.Writer) Three { return openSlog(w).three }

// ByLogGoV1 returns the events as written by log.go 1.x. It has one writer per process: the last one.
func ByLogGoV1(w io.Writer) Three { return openONSv1(w).three }

// ByLogGoV2 returns the events as written by log.go 2.x; see ByLogGoV1.
func ByLogGoV2(w io.Writer) Three { return openONSv2(w).three }

// ByPhuslu returns the events as written by phuslu/log in its fast form, with created_at to the millisecond. Its
// AsyncWriter retains the buffers, so w cannot be wrapped in an io.Writer.
func ByPhuslu(w phuslu.Writer) Three { return openPhusluFormat(w, "").three }

// Finished returns zerolog's lines of the three events, for rows that write lines without making them.
func Finished() [][]byte {
	return finished(row{open: func(w io.Writer) func(int, *request) { return threeEvents(openZerolog(w)) }})
}
