package program

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/weirhq/weir/load/internal/random"
	"github.com/weirhq/weir/load/internal/request"
	"github.com/weirhq/weir/load/target"
)

// StepOptions are the options of CompileSteps.
type StepOptions struct {
	NoKeepAlive bool
	Find        request.Find
	Names       []string // of the steps that are measured, which are the first targets
	Page        string   // is part of the hash

	// From returns the number of the value of a response that step i needs.
	From func(i int, from request.From, inHeader bool) (number int, err error)
}

// CompileSteps compiles the steps of flows. Each measured step is an endpoint.
func CompileSteps(targets []target.Target, o StepOptions) (*Program, error) {
	files := &request.LineFiles{Find: o.Find}
	p, all, err := compileAll(targets, o.NoKeepAlive, files, func(i int) {
		files.From = func(from request.From, inHeader bool) (int, error) { return o.From(i, from, inHeader) }
	})
	if err != nil {
		return nil, err
	}
	for i, name := range o.Names {
		t := all[i]
		p.Endpoints = append(p.Endpoints, Endpoint{Step: name, Method: t.Method, Targets: 1, BodyBytes: t.BodyBytes(),
			Path: pathPattern(targets[i].URL[t.Location.Path:])})
		p.targets[i].message.Endpoint = int32(i)
	}
	h := sha256.Sum256([]byte(p.Hash + o.Page))
	p.Hash = hex.EncodeToString(h[:8])
	return p, nil
}

// Step returns the message of a step of flow number seq. It uses the buffer, which it returns, and the values of
// responses.
func (p *Program) Step(i int, b []byte, seq uint64, random *random.Source, values []string) (m Message, buffer []byte) {
	t := &p.targets[i]
	if t.message.Fixed {
		return t.message, b
	}
	m = t.message
	buffer, m.Head = t.fill(b, seq, seq, random, values)
	return m, buffer
}

// Path returns the path of the request, without its query.
func (m *Message) Path() string {
	_, rest, _ := bytes.Cut(m.Head, []byte(" "))
	path, _, _ := bytes.Cut(rest, []byte(" "))
	return PathOf(string(path))
}
