package process

import (
	"bytes"
	"os"
	"time"
)

// A stat is what /proc/PID/stat says, proc_pid_stat(5).
type stat struct {
	state                        byte
	parent                       int
	user, system                 time.Duration
	childrenUser, childrenSystem time.Duration
	threads                      int
	started                      int64 // in ticks since the machine was
	rss                          int64 // in bytes
}

// tick is what the times in /proc count in: USER_HZ is 100 on everything that
// Go runs on.
const tick = 10 * time.Millisecond

var pageSize = int64(os.Getpagesize())

// parseStat reads "12 (na) me) S 1 ...": the name is any text, so that the last
// parenthesis ends it.
func parseStat(text []byte) (s stat, ok bool) {
	end := bytes.LastIndexByte(text, ')')
	if end < 0 || len(text) < end+4 {
		return s, false
	}
	s.state = text[end+2]
	fields := text[end+3:]
	for field := 4; field <= 24; field++ {
		var value int64
		if value, fields, ok = number(fields); !ok {
			return s, false
		}
		switch field {
		case 4:
			s.parent = int(value)
		case 14:
			s.user = time.Duration(value) * tick
		case 15:
			s.system = time.Duration(value) * tick
		case 16:
			s.childrenUser = time.Duration(value) * tick
		case 17:
			s.childrenSystem = time.Duration(value) * tick
		case 20:
			s.threads = int(value)
		case 22:
			s.started = value
		case 24:
			s.rss = value * pageSize
		}
	}
	return s, true
}

// ended tells whether nothing runs any more. A first thread that has ended
// before the others is a zombie, too.
func (s stat) ended() bool {
	return s.state == 'X' || s.state == 'x' || s.state == 'Z' && s.threads <= 1
}

// statusNumber finds a number in /proc/PID/status, where lines are like
// "VmHWM:  1640 kB". The name has the end of the line before, "\nVmHWM:". It is
// 0 where there is none: threads of the kernel have no memory.
func statusNumber(status []byte, name string) int64 {
	at := bytes.Index(status, []byte(name))
	if at < 0 {
		return 0
	}
	value, _, _ := number(status[at+len(name):])
	return value
}

// number reads a number after blanks, and returns what follows it.
func number(b []byte) (n int64, rest []byte, ok bool) {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	for len(b) > 0 && '0' <= b[0] && b[0] <= '9' {
		n, b, ok = 10*n+int64(b[0]-'0'), b[1:], true
	}
	if negative {
		n = -n
	}
	return n, b, ok
}
