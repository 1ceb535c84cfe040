package otlpsink

import "github.com/weirhq/weir/log/record"

// http appends the attributes for a member of http.
func (e *encoder) http(m []record.Node) {
	text, isText := m[0].Text()
	if !isText {
		e.httpInteger(m)
		return
	}
	switch name := textName(m[0].Key); {
	case name == attrMethod && !isKnownMethod(text):
		e.putText("", attrMethod, "_OTHER")
		e.putText("", attrMethodOriginal, text)
	case name == attrProtocolVersion && versionOf(text) != "":
		e.putText("", attrProtocolName, "http")
		e.putText("", attrProtocolVersion, versionOf(text))
	case name == attrReferer:
		e.putArray("", attrReferer, m) // the conventions have the fields of requests as arrays
	case name == "" || name == attrProtocolVersion:
		e.put(prefixHTTP, m)
	default:
		e.putText("", name, text)
	}
}

// httpInteger is http for a member that is not a text. A status of 0 means that there is no
// response yet, and the format leaves out all other zeros.
func (e *encoder) httpInteger(m []record.Node) {
	name := integerName(m[0].Key)
	i, ok := integerOf(m[0].Value)
	switch {
	case name == "" || !ok:
		e.put(prefixHTTP, m)
	case i != 0:
		e.buf = appendIntPair(e.buf, e.signal.attributes, name, i)
	}
}

// textName returns the name of the attribute for a text in http, or "" if the conventions have none.
func textName(key string) string {
	switch key {
	case "method":
		return attrMethod
	case "scheme":
		return attrScheme
	case "host":
		return attrHost
	case "path":
		return attrPath
	case "query":
		return attrQuery
	case "route":
		return attrRoute
	case "client":
		return attrClient
	case "protocol":
		return attrProtocolVersion
	case "user_agent":
		return attrUserAgent
	case "referer":
		return attrReferer
	}
	return ""
}

// integerName is textName for an integer.
func integerName(key string) string {
	switch key {
	case "status_code":
		return attrStatusCode
	case "port":
		return attrPort
	case "response_content_length":
		return attrResponseSize
	case "request_content_length":
		return attrRequestSize
	}
	return ""
}

// isKnownMethod reports whether the conventions have the method.
func isKnownMethod(method string) bool {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY":
		return true
	}
	return false
}

// versionOf returns the version of a protocol in the conventions, or "" if they do not have it.
func versionOf(protocol string) string {
	switch protocol {
	case "HTTP/1.0":
		return "1.0"
	case "HTTP/1.1":
		return "1.1"
	case "HTTP/2.0":
		return "2"
	case "HTTP/3.0":
		return "3"
	}
	return ""
}
