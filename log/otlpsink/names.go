package otlpsink

import "strings"

// The names of attributes. Those of the semantic conventions are at
// https://opentelemetry.io/docs/specs/semconv/.
const (
	attrServiceName = "service.name" // of the resource
	attrHostName    = "host.name"    // of the resource
	attrRecordUID   = "log.record.uid"

	attrMethod          = "http.request.method"
	attrMethodOriginal  = "http.request.method_original"
	attrStatusCode      = "http.response.status_code"
	attrScheme          = "url.scheme"
	attrHost            = "server.address"
	attrPort            = "server.port"
	attrPath            = "url.path"
	attrQuery           = "url.query"
	attrResponseSize    = "http.response.body.size"
	attrRequestSize     = "http.request.body.size"
	attrRoute           = "http.route"
	attrClient          = "client.address"
	attrProtocolName    = "network.protocol.name"
	attrProtocolVersion = "network.protocol.version"
	attrUserAgent       = "user_agent.original"
	attrReferer         = "http.request.header.referer"

	attrIdentity = "enduser.id"

	attrExceptionMessage = "exception.message"
	attrExceptionStack   = "exception.stacktrace"

	// Members without a name in the conventions.
	prefixEvent     = "weir."
	prefixDotted    = "weir.event." // of the event, if the key has a dot: weir.http.x is a member of http
	prefixHTTP      = "weir.http."
	prefixAuth      = "weir.auth."
	prefixException = "weir.exception."

	// Members of data whose keys are names of other attributes.
	prefixData = "data."
)

// isReserved reports whether a key of data is not the name of its attribute: because it is
// that of another one, or empty.
func isReserved(key string) bool {
	switch key {
	case "", attrRecordUID, attrMethod, attrMethodOriginal, attrStatusCode, attrScheme, attrHost, attrPort, attrPath,
		attrQuery, attrResponseSize, attrRequestSize, attrRoute, attrClient, attrProtocolName, attrProtocolVersion,
		attrUserAgent, attrReferer, attrIdentity, attrExceptionMessage, attrExceptionStack:
		return true
	}
	return strings.HasPrefix(key, prefixEvent) || strings.HasPrefix(key, prefixData)
}
