package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Manner determines how a server responds. The zero Manner responds as fast as possible.
type Manner struct {
	// Delay is the time between a request and its response.
	Delay time.Duration

	// In the last Stall of each period Every, counted from the first request, the server does nothing.
	Stall, Every time.Duration

	// Arrivals makes the server count the requests in each 10 ms. It then never sleeps, so that its wake-ups do not
	// delay the counts.
	Arrivals bool

	// Rate is the rate of requests whose paths contain their numbers. The server derives from them when each request
	// was due.
	Rate float64
}

// A Tally holds the observations of a server since its last reset.
type Tally struct {
	Requests    int64         `json:"requests"`
	Connections int64         `json:"connections"` // accepted
	Cut         int64         `json:"cut"`         // closed because the client did not read the responses
	Took        time.Duration `json:"took"`        // from the first request to the last

	Per10ms []int `json:"per_10ms,omitempty"`
	Truth   Truth `json:"truth"`
}

// ServerSign is the prefix of the first line of a server's output, before its address.
const ServerSign = "listening on "

// Serve responds on a port of the loopback interface until commands ends. It runs on the calling goroutine's thread and
// occupies a P. It writes its address to out. For each byte that it reads from commands it writes a Tally as a line of
// JSON; after an r it resets the counts.
func Serve(m Manner, commands *os.File, out io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := &server{Manner: m, commands: int(commands.Fd()), out: out, began: time.Now(), peers: map[int]*peer{},
		in: make([]byte, 256<<10)}
	s.many = strings.Repeat(Answer, manyAnswers)
	s.reset()
	var err error
	if s.poll, err = newPoller(); err != nil {
		return err
	}
	if err := s.listen(); err != nil {
		return err
	}
	if err := s.poll.add(s.commands, 0); err != nil {
		return err
	}
	for {
		if err := s.turn(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

const manyAnswers = 64

// A server is single-threaded.
type server struct {
	Manner
	poll     *poller
	listener int
	commands int
	out      io.Writer
	began    time.Time
	peers    map[int]*peer
	in       []byte
	many     string // concatenated responses
	pending  []pending

	tally       Tally
	first, last time.Duration // times of requests since began
	samples     []time.Duration
	origin      time.Duration // time at which request 0 was due
}

// A peer is a connection.
type peer struct {
	reader
	fd     int
	closed bool
}

// pending is a delayed response.
type pending struct {
	peer   *peer
	number int
	at     time.Duration
}

func (s *server) now() time.Duration { return time.Since(s.began) }

func (s *server) reset() {
	s.tally, s.first, s.last = Tally{}, -1, -1
	s.samples, s.origin = s.samples[:0], math.MaxInt64
}

func (s *server) listen() (err error) {
	if s.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC,
		0); err != nil {
		return os.NewSyscallError("socket", err)
	}
	if err := unix.Bind(s.listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return os.NewSyscallError("bind", err)
	}
	if err := unix.Listen(s.listener, 1<<16-1); err != nil {
		return os.NewSyscallError("listen", err)
	}
	address, err := unix.Getsockname(s.listener)
	if err != nil {
		return os.NewSyscallError("getsockname", err)
	}
	if err := s.poll.add(s.listener, 0); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s127.0.0.1:%d\n", ServerSign, address.(*unix.SockaddrInet4).Port)
	return err
}

// turn handles the pending events. io.EOF means that the server must end.
func (s *server) turn() error {
	events, err := s.poll.wait(s.timeout())
	if err != nil {
		return err
	}
	s.stall()
	for _, e := range events {
		switch int(e.Fd) {
		case s.listener:
			err = s.accept()
		case s.commands:
			err = s.command()
		default:
			err = s.read(s.peers[int(e.Fd)])
		}
		if err != nil {
			return err
		}
	}
	s.answerPending()
	return nil
}

// timeout returns the time until the next response or stall.
func (s *server) timeout() time.Duration {
	if s.Arrivals {
		return 0
	}
	next := time.Duration(math.MaxInt64)
	if len(s.pending) > 0 {
		next = s.pending[0].at
	}
	if s.Stall > 0 && s.first >= 0 {
		begin, _ := s.nextStall()
		next = min(next, begin)
	}
	if next == math.MaxInt64 {
		return -1
	}
	return max(0, next-s.now())
}

// nextStall returns the current stall or else the next one.
func (s *server) nextStall() (begin, end time.Duration) {
	end = s.first + s.Every*((s.now()-s.first)/s.Every+1)
	return end - s.Stall, end
}

func (s *server) stall() {
	if s.Stall == 0 || s.first < 0 {
		return
	}
	if begin, end := s.nextStall(); s.now() >= begin {
		time.Sleep(end - s.now())
	}
}

func (s *server) accept() error {
	for {
		fd, _, err := unix.Accept4(s.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
		case unix.EAGAIN:
			return nil
		case unix.ECONNABORTED, unix.EINTR:
			continue
		default:
			return os.NewSyscallError("accept4", err)
		}
		s.tally.Connections++
		s.peers[fd] = &peer{fd: fd}
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
		if err := s.poll.add(fd, unix.EPOLLET); err != nil {
			return err
		}
	}
}

// command handles one byte of commands.
func (s *server) command() error {
	var b [1]byte
	n, err := unix.Read(s.commands, b[:])
	switch {
	case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
		return nil
	case err != nil:
		return os.NewSyscallError("read", err)
	case n == 0:
		return io.EOF
	}
	s.tally.Took = s.last - s.first
	s.tally.Truth = truthOf(s.samples, s.origin)
	line, err := json.Marshal(s.tally)
	if err != nil {
		return err
	}
	if b[0] == 'r' {
		s.reset()
	}
	_, err = s.out.Write(append(line, '\n'))
	return err
}

// read reads all available bytes.
func (s *server) read(p *peer) error {
	for !p.closed {
		n, errno := receive(p.fd, s.in)
		switch {
		case errno == unix.EAGAIN:
			return nil
		case errno == unix.EINTR:
			continue
		case errno != 0 || n == 0:
			s.close(p)
			return nil
		}
		requests := 0
		now := s.now()
		if err := p.take(s.in[:n], func(number int) {
			requests++
			s.arrived(p, number, now)
		}); err != nil {
			return err
		}
		if requests > 0 && s.Delay == 0 {
			s.respond(p, requests)
		}
		if n < len(s.in) {
			return nil
		}
	}
	return nil
}

func (s *server) close(p *peer) {
	p.closed = true
	delete(s.peers, p.fd)
	unix.Close(p.fd)
}

// arrived counts a request.
func (s *server) arrived(p *peer, number int, now time.Duration) {
	s.tally.Requests++
	if s.first < 0 {
		s.first = now
	}
	s.last = now
	if s.Arrivals {
		s.tally.Per10ms = count(s.tally.Per10ms, now-s.first)
	}
	if s.Rate > 0 && number >= 0 {
		s.origin = min(s.origin, now-dueAt(number, s.Rate))
	}
	if s.Delay > 0 {
		s.pending = append(s.pending, pending{p, number, now + s.Delay})
	}
}

// answerPending sends the responses that are due.
func (s *server) answerPending() {
	for len(s.pending) > 0 {
		now := s.now()
		p := s.pending[0]
		if p.at > now {
			return
		}
		s.pending = s.pending[1:]
		if !p.peer.closed {
			s.respond(p.peer, 1)
		}
		if s.Rate > 0 && p.number >= 0 {
			s.samples = append(s.samples, now-dueAt(p.number, s.Rate))
		}
	}
}

// respond sends n responses. It closes the connection of a client that does not read them.
func (s *server) respond(p *peer, n int) {
	for n > 0 {
		k := min(n, manyAnswers)
		n -= k
		b := s.many[:k*len(Answer)]
		if sent, errno := send(p.fd, bytesOf(b)); errno != 0 || sent < len(b) {
			s.tally.Cut++
			s.close(p)
			return
		}
	}
}
