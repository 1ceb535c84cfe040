// Package users has the users of a load test who execute flows: each sends the requests of a flow in order, keeps the
// cookies and the values of its responses, and judges them. It neither sends nor waits.
package users

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/weirhq/weir/load/expect"
	"github.com/weirhq/weir/load/internal/program"
	"github.com/weirhq/weir/load/internal/random"
	"github.com/weirhq/weir/load/internal/request"
)

// A User executes flows, or the setup. Goroutines must not share one.
type User struct {
	flows   *Flows
	judges  []*judge // by the number of a step; nil until it is used
	values  []string // of responses
	jar     *cookiejar.Jar
	random  random.Source // of the thinking times
	seq     uint64        // the number of the flow
	left    []step        // of the flow, without the present one
	step    *step
	message program.Message
	buffer  []byte
	at      url.URL // of the request, for cookies
}

// A judge compares the responses of a step with its expectations, and takes their values.
type judge struct {
	*expect.Examiner
	taker *expect.Taker
}

// NewUser returns a user who has begun no flow.
func (f *Flows) NewUser() *User {
	return &User{flows: f, judges: make([]*judge, f.steps), values: make([]string, f.values)}
}

// Next goes to the next step, which may be the first of another flow. It returns the time to think before it.
func (u *User) Next() (think time.Duration) {
	if len(u.left) == 0 {
		f := u.flows
		seq := (f.begun.Add(1)-1)*f.of + f.part
		u.begin(f.flows[f.order[seq%uint64(len(f.order))]], seq)
	}
	u.step, u.left = &u.left[0], u.left[1:]
	t := u.step.think
	return t.Least + time.Duration(random.Below(u.random.Next(), uint64(t.Most-t.Least)+1))
}

// begin begins a flow as a new visitor.
func (u *User) begin(flow []step, seq uint64) {
	u.left, u.seq, u.jar = flow, seq, nil
	copy(u.values, u.flows.shared)
	u.random = random.New(u.flows.seed, seq)
}

// Message returns the request of the step. It is valid until the next call.
func (u *User) Message() *program.Message {
	p := u.flows.Program
	source := random.New(u.flows.seed+1, u.seq*uint64(u.flows.steps)+uint64(u.step.number))
	u.message, u.buffer = p.Step(u.step.number, u.buffer[:0], u.seq, &source, u.values)
	u.at = url.URL{Scheme: p.Origin.Scheme, Host: p.Origin.HostPort(), Path: u.message.Path()}
	if u.jar != nil {
		var cookies []string
		for _, c := range u.jar.Cookies(&u.at) {
			cookies = append(cookies, c.Name+"="+c.Value)
		}
		u.message.Cookie = strings.Join(cookies, "; ")
	}
	return &u.message
}

// Begin implements line.Reader. It begins the response to the message.
func (u *User) Begin(status int, h expect.Header) {
	header := http.Header{}
	for value := range h.Values("Set-Cookie") {
		header.Add("Set-Cookie", string(value))
	}
	if len(header) > 0 {
		if u.jar == nil {
			u.jar, _ = cookiejar.New(nil) // it returns no error
		}
		u.jar.SetCookies(&u.at, (&http.Response{Header: header}).Cookies())
	}
	j := u.judge()
	j.Examiner.Begin(status, h)
	j.taker.Begin(status, h)
}

// Write implements line.Reader. It takes a part of the body.
func (u *User) Write(b []byte) (int, error) {
	j := u.judge()
	j.Examiner.Write(b)
	return j.taker.Write(b)
}

// Trailer implements line.Reader. It takes the fields after the body.
func (u *User) Trailer(h expect.Header) { u.judge().Examiner.Trailer(h) }

// judge returns the judge of the step.
func (u *User) judge() *judge {
	j := u.judges[u.step.number]
	if j == nil {
		var values []expect.Value
		for _, v := range u.step.values {
			values = append(values, v.Value)
		}
		j = &judge{expect.NewExaminer(u.step.expect), expect.NewTaker(values)}
		u.judges[u.step.number] = j
	}
	return j
}

// End ends the response. It returns the number of the reason why it counts as failed, and the mistake; -1 and "" if it is
// right. The user does not continue with the flow after a mistake.
func (u *User) End() (reason int, mistake string) {
	j := u.judge()
	if wrong, mistake := j.Examiner.End(); wrong >= 0 {
		u.Lost()
		return u.step.reasons + wrong, mistake
	}
	found, missing, mistake := j.taker.End()
	for i, text := range found {
		v := &u.step.values[i]
		if v.inHeader && strings.ContainsFunc(text, request.IsControl) {
			missing, mistake = i, "the value has a control character, and is for a header"
			break
		}
		u.values[v.number] = text
	}
	if missing >= 0 {
		u.Lost()
		return u.step.reasons + len(u.step.expect) + missing, mistake
	}
	return -1, ""
}

// Lost ends the flow after a request without a response.
func (u *User) Lost() { u.left = nil }
