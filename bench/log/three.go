package log

import (
	"io"

	phuslu "github.com/phuslu/log"
)

// Three are the events of a proxied request, each to be logged by itself, so that a caller can tell how long it waited
// for one. Any number of goroutines may share them, each with a Request of its own.
type Three [3]func(*Request)

// A Request is what the three events tell.
type Request = request

// Received makes r a request that has just come in.
func Received(r *Request) {
	*r = *proxied
	r.now()
}

func (t Three) all(r *request) {
	t[0](r)
	t[1](r)
	t[2](r)
}

// ByWeir returns the events as Weir's logger writes them to w.
func ByWeir(w io.Writer) Three { return openWeir(w).three }

// ByZerolog returns them as zerolog does.
func ByZerolog(w io.Writer) Three { return openZerolog(w).three }

// ByZap returns them as zap does.
func ByZap(w io.Writer) Three { return openZap(w).three }

// BySlog returns them as log/slog does.
func BySlog(w io.Writer) Three { return openSlog(w).three }

// ByLogGoV1 returns them as log.go 1.x does. It has one writer in a process, the last.
func ByLogGoV1(w io.Writer) Three { return openONSv1(w).three }

// ByLogGoV2 returns them as log.go 2.x does; see ByLogGoV1.
func ByLogGoV2(w io.Writer) Three { return openONSv2(w).three }

// ByPhuslu returns them as phuslu/log does in its fast form, created_at to the millisecond. Its AsyncWriter keeps what it
// is given, so that no io.Writer can stand between.
func ByPhuslu(w phuslu.Writer) Three { return openPhusluFormat(w, "").three }

// Finished are the lines that zerolog makes of the three events, for what writes without making any.
func Finished() [][]byte {
	return finished(row{open: func(w io.Writer) func(int, *request) { return threeEvents(openZerolog(w)) }})
}
