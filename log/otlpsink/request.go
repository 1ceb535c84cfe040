package otlpsink

import (
	"bytes"

	"github.com/weirhq/weir/log/record"
	"github.com/weirhq/weir/log/stream"
)

// request returns the ExportLogsServiceRequest of a batch, or its ExportTraceServiceRequest. Apart from the
// records, the fields have the same numbers. It is valid until the next call.
func (e *encoder) request(b stream.Batch) []byte {
	e.buf = e.buf[:0]
	var resource, scope int
	rest := b.Lines
	for i := range b.Count {
		line := rest
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line, rest = rest[:end], rest[end+1:]
		}
		members, err := e.reader.Nodes(line)
		if service := namespaceOf(members); i == 0 || service != string(e.service) {
			if i > 0 {
				e.endService(resource, scope)
			}
			resource, scope = e.beginService(service)
		}
		var content int
		e.buf, content = open(e.buf, scopeLogsRecords)
		if err == nil {
			e.signal.event(e, members)
		} else {
			e.signal.text(e, validText(string(line)))
		}
		if e.signal.hasUID {
			e.id = b.AppendID(e.id[:0], i)
			e.buf = appendTextPair(e.buf, e.signal.attributes, "", attrRecordUID, e.id)
		}
		e.buf = shut(e.buf, content)
	}
	if b.Count > 0 {
		e.endService(resource, scope)
	}
	return e.buf
}

// namespaceOf returns the namespace of an event, or "" if it has none.
func namespaceOf(members []record.Node) (namespace string) {
	for i := 0; i < len(members); i += 1 + members[i].Inner {
		if members[i].Key == "namespace" {
			namespace, _ = members[i].Text()
		}
	}
	return namespace
}

// beginService appends the beginning of a ResourceLogs for a service, and of its ScopeLogs. It
// returns the offsets of their contents.
func (e *encoder) beginService(service string) (resource, scope int) {
	e.service = append(e.service[:0], service...)
	e.buf, resource = openLong(e.buf, requestResourceLogs)
	var content int
	e.buf, content = open(e.buf, resourceLogsResource)
	if service != "" {
		e.buf = appendTextPair(e.buf, resourceAttributes, "", attrServiceName, service)
	}
	if e.host != "" {
		e.buf = appendTextPair(e.buf, resourceAttributes, "", attrHostName, e.host)
	}
	e.buf = shut(e.buf, content)
	e.buf, scope = openLong(e.buf, resourceLogsScopeLogs)
	e.buf, content = open(e.buf, scopeLogsScope)
	e.buf = shut(appendText(e.buf, scopeName, e.signal.scope), content)
	return resource, scope
}

func (e *encoder) endService(resource, scope int) {
	shutLong(e.buf, scope)
	shutLong(e.buf, resource)
}
