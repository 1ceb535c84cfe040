package program

import (
	"strings"

	"github.com/weirhq/weir/load/internal/random"
	"github.com/weirhq/weir/load/internal/request"
	"github.com/weirhq/weir/load/target"
)

// A Frame makes the messages of a log's requests. They differ in method, target and host, and have the header of one
// target.
type Frame struct {
	base      Message
	host      string // of requests without one; "" if the header has its own Host
	rest      request.Template
	seed      uint64
	endpoints map[[2]string]int32
}

// CompileRecorded compiles the target with the header of a log's requests. The endpoints are of those that are known; the
// last of the program is of all others.
func CompileRecorded(base target.Target, known []Endpoint, seed uint64, noKeepAlive bool, find request.Find) (*Program, *Frame, error) {
	p, all, err := compileAll([]target.Target{base}, noKeepAlive, &request.LineFiles{Find: find}, nil)
	if err != nil {
		return nil, nil, err
	}
	parsed := all[0]
	f := &Frame{base: p.targets[0].message, seed: seed, endpoints: make(map[[2]string]int32)}
	f.base.Head, f.base.Fixed = nil, true
	for _, d := range defaults(parsed, noKeepAlive) {
		if d.Name == "Host" {
			f.host = d.Value
			continue
		}
		f.rest = append(f.rest, request.Literal(d.Name, ": ", d.Value, "\r\n"))
	}
	for _, field := range parsed.Fields {
		f.rest = append(f.rest, request.Literal(field.Name, ": "))
		f.rest = append(f.rest, field.Value...)
		f.rest = append(f.rest, request.Literal("\r\n"))
	}
	f.rest = f.rest.Joined()
	var indexes []int
	p.Endpoints, indexes = keepEndpoints(known)
	for i, index := range indexes {
		if e := known[i]; p.Endpoints[index].Path != "" {
			f.endpoints[[2]string{e.Method, e.Path}] = int32(index)
		}
	}
	if last := p.Endpoints[len(p.Endpoints)-1]; last.Path != "" {
		p.Endpoints = append(p.Endpoints, Endpoint{})
	}
	f.base.Endpoint = int32(len(p.Endpoints) - 1)
	p.targets[0].message.Endpoint = 0
	return p, f, nil
}

// Message returns the message of request number seq.
func (f *Frame) Message(method, host, path string, seq uint64) Message {
	m := f.base
	b := append(make([]byte, 0, 256), method...)
	b = append(append(append(b, ' '), path...), " HTTP/1.1\r\n"...)
	if f.host != "" {
		if host == "" {
			host = f.host
		}
		b = append(append(append(b, "Host: "...), host...), "\r\n"...)
	}
	source := random.New(f.seed, seq)
	b = f.rest.Append(b, seq, seq, &source, nil)
	if sendsLength(method) {
		b = append(b, "Content-Length: 0\r\n"...)
	}
	m.Head = append(b, "\r\n"...)
	m.NoBody = method == "HEAD"
	endpoint := PathOf(path)
	name := method + " " + endpoint
	m.Target = &name
	if index, ok := f.endpoints[[2]string{method, endpoint}]; ok {
		m.Endpoint = index
	}
	return m
}

// PathOf returns a target of a request without its query.
func PathOf(target string) string {
	path, _, _ := strings.Cut(target, "?")
	return path
}
