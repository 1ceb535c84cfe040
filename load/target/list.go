package target

import "strings"

// A List is the content of a file of targets.
type List struct {
	Targets  []Target
	Recorded bool // the file is HAR, with the requests of a page to several origins
	Insecure bool // a command of curl has -k: the server's certificate is not verified

	Described bool // the file is a description in OpenAPI: no one has chosen the methods
	NoServer  bool // OpenAPI or a collection names no server for a request; its URL has the origin http://127.0.0.1

	// Skipped describes the requests of HAR, Postman and OpenAPI that cannot be sent, for example because
	// the recorder left their bodies out.
	Skipped []string
}

// OfOwnHost returns the targets with the host and port of the first one, and the number of the others. A recorded page
// also requests the hosts of others, which do not expect a load and whose paths another server does not have.
func (l *List) OfOwnHost() (own []Target, others int) {
	first := hostOf(l.Targets[0].URL)
	for _, t := range l.Targets {
		if hostOf(t.URL) == first {
			own = append(own, t)
		}
	}
	return own, len(l.Targets) - len(own)
}

// hostOf returns the host and port of a URL that was parsed before, without the default ports.
func hostOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	rest = strings.ToLower(rest[strings.LastIndexByte(rest, '@')+1:])
	if strings.EqualFold(scheme, "https") {
		return strings.TrimSuffix(rest, ":443")
	}
	return strings.TrimSuffix(rest, ":80")
}
