package otlpsink

import "google.golang.org/protobuf/encoding/protowire"

// httpMember appends a member of http.
func (e *encoder) httpMember(key []byte) {
	switch string(key) {
	case "status_code":
		e.httpNumber(attrStatusCode, key)
	case "method":
		if v, ok := e.textOr(prefixHTTP, key); ok {
			e.putMethod(v)
		}
	case "scheme":
		e.httpText(attrScheme, key)
	case "host":
		e.httpText(attrHost, key)
	case "port":
		e.httpNumber(attrPort, key)
	case "path":
		e.httpText(attrPath, key)
	case "query":
		e.httpText(attrQuery, key)
	case "response_content_length":
		e.httpNumber(attrResponseSize, key)
	case "route":
		e.httpText(attrRoute, key)
	case "client":
		e.httpText(attrClient, key)
	case "protocol":
		if v, ok := e.textOr(prefixHTTP, key); ok {
			e.putProtocol(v)
		}
	case "user_agent":
		e.httpText(attrUserAgent, key)
	case "referer":
		if v, ok := e.textOr(prefixHTTP, key); ok {
			e.putReferer(v)
		}
	case "request_content_length":
		e.httpNumber(attrRequestSize, key)
	default:
		e.put(prefixHTTP, key)
	}
}

func (e *encoder) httpText(name string, key []byte) {
	if v, ok := e.textOr(prefixHTTP, key); ok {
		e.putText(name, v)
	}
}

// httpNumber appends an integer. A status of 0 means that there is no response yet, and the
// format leaves out all other zeros.
func (e *encoder) httpNumber(name string, key []byte) {
	begin := e.at
	if b := e.peek(); b == '-' || isDigit(b) {
		if i, ok := e.number().integer(); ok {
			if i != 0 {
				size := 1 + protowire.SizeVarint(uint64(i))
				e.rec = putVarint(putPair(e.rec, recordAttributes, name, size), anyInt, uint64(i))
			}
			return
		}
		e.rewind(begin)
	}
	e.put(prefixHTTP, key)
}

// putMethod appends the method. The conventions allow only known methods as its value.
func (e *encoder) putMethod(method []byte) {
	if isKnownMethod(method) {
		e.putText(attrMethod, method)
		return
	}
	e.rec = putTextPair(e.rec, recordAttributes, attrMethod, otherMethod)
	e.putText(attrMethodOriginal, method)
}

const otherMethod = "_OTHER"

func isKnownMethod(method []byte) bool {
	switch string(method) {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY":
		return true
	}
	return false
}

// protocols have the encoded attributes of the versions of HTTP. The version of HTTP/2.0 is 2
// in the conventions.
var protocols = func() (list [4]struct{ name, attributes string }) {
	for i, version := range []string{"1.1", "2", "3", "1.0"} {
		b := putTextPair(nil, recordAttributes, attrProtocolName, "http")
		b = putTextPair(b, recordAttributes, attrProtocolVersion, version)
		list[i].name = "HTTP/" + version
		if len(version) == 1 {
			list[i].name += ".0"
		}
		list[i].attributes = string(b)
	}
	return list
}()

func (e *encoder) putProtocol(protocol []byte) {
	for i := range protocols {
		if string(protocol) == protocols[i].name {
			e.rec = append(e.rec, protocols[i].attributes...)
			return
		}
	}
	e.putText(prefixHTTP+"protocol", protocol)
}

// putReferer appends the field Referer: the conventions have the fields of requests as arrays.
func (e *encoder) putReferer(referer []byte) {
	element := textSize(len(referer))
	list := textSize(element)
	e.rec = putPair(e.rec, recordAttributes, attrReferer, textSize(list))
	e.rec = putLength(e.rec, anyArray, list)
	e.rec = putTextValue(e.rec, listValues, referer)
}
