package httplog

import (
	"io"
	"net/http"
)

// An ability is a set of optional interfaces of a ResponseWriter.
type ability uint8

const (
	canFlush ability = 1 << iota
	canHijack
	canReadFrom
	canPush
	canNotify
	allAbilities = 1<<iota - 1
)

// abilitiesOf returns what w can do. What it could not do for want of Flush but
// could by FlushError, say, is found by http.ResponseController through Unwrap.
func abilitiesOf(w http.ResponseWriter) (can ability) {
	if _, ok := w.(http.Flusher); ok {
		can |= canFlush
	}
	if _, ok := w.(http.Hijacker); ok {
		can |= canHijack
	}
	if _, ok := w.(io.ReaderFrom); ok {
		can |= canReadFrom
	}
	if _, ok := w.(http.Pusher); ok {
		can |= canPush
	}
	if _, ok := w.(closeNotifier); ok {
		can |= canNotify
	}
	return can
}

// faces holds, for each set of abilities, what makes a ResponseWriter with
// these and no others. A handler asks by type assertion, and a method cannot be
// had or not had at run time, so each set needs a type of its own.
var faces = [allAbilities + 1]func(*writer) http.ResponseWriter{
	0: func(w *writer) http.ResponseWriter { return w },
	canFlush: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
		}{w, flusher{w}}
	},
	canHijack: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			hijacker
		}{w, hijacker{w}}
	},
	canFlush | canHijack: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			hijacker
		}{w, flusher{w}, hijacker{w}}
	},
	canReadFrom: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			readerFrom
		}{w, readerFrom{w}}
	},
	canFlush | canReadFrom: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			readerFrom
		}{w, flusher{w}, readerFrom{w}}
	},
	canHijack | canReadFrom: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			hijacker
			readerFrom
		}{w, hijacker{w}, readerFrom{w}}
	},
	canFlush | canHijack | canReadFrom: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			hijacker
			readerFrom
		}{w, flusher{w}, hijacker{w}, readerFrom{w}}
	},
	canPush: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			pusher
		}{w, pusher{w}}
	},
	canFlush | canPush: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			pusher
		}{w, flusher{w}, pusher{w}}
	},
	canHijack | canPush: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			hijacker
			pusher
		}{w, hijacker{w}, pusher{w}}
	},
	canFlush | canHijack | canPush: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			hijacker
			pusher
		}{w, flusher{w}, hijacker{w}, pusher{w}}
	},
	canReadFrom | canPush: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			readerFrom
			pusher
		}{w, readerFrom{w}, pusher{w}}
	},
	canFlush | canReadFrom | canPush: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			readerFrom
			pusher
		}{w, flusher{w}, readerFrom{w}, pusher{w}}
	},
	canHijack | canReadFrom | canPush: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			hijacker
			readerFrom
			pusher
		}{w, hijacker{w}, readerFrom{w}, pusher{w}}
	},
	canFlush | canHijack | canReadFrom | canPush: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			hijacker
			readerFrom
			pusher
		}{w, flusher{w}, hijacker{w}, readerFrom{w}, pusher{w}}
	},
	canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			notifier
		}{w, notifier{w}}
	},
	canFlush | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			notifier
		}{w, flusher{w}, notifier{w}}
	},
	canHijack | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			hijacker
			notifier
		}{w, hijacker{w}, notifier{w}}
	},
	canFlush | canHijack | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			hijacker
			notifier
		}{w, flusher{w}, hijacker{w}, notifier{w}}
	},
	canReadFrom | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			readerFrom
			notifier
		}{w, readerFrom{w}, notifier{w}}
	},
	canFlush | canReadFrom | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			readerFrom
			notifier
		}{w, flusher{w}, readerFrom{w}, notifier{w}}
	},
	canHijack | canReadFrom | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			hijacker
			readerFrom
			notifier
		}{w, hijacker{w}, readerFrom{w}, notifier{w}}
	},
	canFlush | canHijack | canReadFrom | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			hijacker
			readerFrom
			notifier
		}{w, flusher{w}, hijacker{w}, readerFrom{w}, notifier{w}}
	},
	canPush | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			pusher
			notifier
		}{w, pusher{w}, notifier{w}}
	},
	canFlush | canPush | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			pusher
			notifier
		}{w, flusher{w}, pusher{w}, notifier{w}}
	},
	canHijack | canPush | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			hijacker
			pusher
			notifier
		}{w, hijacker{w}, pusher{w}, notifier{w}}
	},
	canFlush | canHijack | canPush | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			hijacker
			pusher
			notifier
		}{w, flusher{w}, hijacker{w}, pusher{w}, notifier{w}}
	},
	canReadFrom | canPush | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			readerFrom
			pusher
			notifier
		}{w, readerFrom{w}, pusher{w}, notifier{w}}
	},
	canFlush | canReadFrom | canPush | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			readerFrom
			pusher
			notifier
		}{w, flusher{w}, readerFrom{w}, pusher{w}, notifier{w}}
	},
	canHijack | canReadFrom | canPush | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			hijacker
			readerFrom
			pusher
			notifier
		}{w, hijacker{w}, readerFrom{w}, pusher{w}, notifier{w}}
	},
	canFlush | canHijack | canReadFrom | canPush | canNotify: func(w *writer) http.ResponseWriter {
		return struct {
			*writer
			flusher
			hijacker
			readerFrom
			pusher
			notifier
		}{w, flusher{w}, hijacker{w}, readerFrom{w}, pusher{w}, notifier{w}}
	},
}
