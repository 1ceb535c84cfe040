package httplog

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/weirhq/weir/log"
)

// Request returns the http fields of a request, without the times and the
// fields of the response.
//
// Path and query are as the client sent them, still escaped, even if handlers
// have changed r.URL since. The client is the host of r.RemoteAddr: the address
// of the proxy if there is one. An outgoing request lacks the fields that only
// a server knows.
func Request(r *http.Request) log.HTTP {
	h := log.HTTP{Route: r.Pattern}
	describeTarget(&h, r)
	describeCaller(&h, r)
	return h
}

// describeTarget sets the fields of the request line and Host.
func describeTarget(h *log.HTTP, r *http.Request) {
	h.Method = r.Method
	h.Scheme = scheme(r)
	h.Path, h.Query = target(r)
	if r.Host != "" {
		h.Host, h.Port = splitHost(r.Host)
	} else {
		h.Host, h.Port = splitHost(r.URL.Host)
	}
}

// describeCaller sets the fields of the client and its headers.
func describeCaller(h *log.HTTP, r *http.Request) {
	h.Client, _ = splitHost(r.RemoteAddr)
	h.Protocol = r.Proto
	h.UserAgent = r.UserAgent()
	h.Referer = r.Referer()
	h.RequestContentLength = max(r.ContentLength, 0) // -1: unknown
}

func scheme(r *http.Request) string {
	switch {
	case r.TLS != nil:
		return "https"
	case r.URL.Scheme != "":
		return r.URL.Scheme
	}
	return "http"
}

// target returns path and query. If the request line has an absolute path, as
// nearly always, they are slices of it. Escaping r.URL.Path again would cost an
// allocation, and would lose escapes that the client has sent needlessly.
func target(r *http.Request) (path, query string) {
	if strings.HasPrefix(r.RequestURI, "/") {
		path, query, _ = strings.Cut(r.RequestURI, "?")
		return path, query
	}
	return r.URL.EscapedPath(), r.URL.RawQuery
}

// splitHost splits "name:80" and "[::1]:80"; port is 0 if there is none. It
// returns invalid input unchanged, so that the event shows it.
func splitHost(hostport string) (host string, port int) {
	colon := strings.LastIndexByte(hostport, ':')
	if colon < 0 || hostport[len(hostport)-1] == ']' {
		return unbracket(hostport), 0
	}
	host = hostport[:colon]
	if strings.IndexByte(host, ':') >= 0 && unbracket(host) == host {
		return hostport, 0 // an IPv6 address without brackets
	}
	if digits := hostport[colon+1:]; digits != "" {
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil {
			return hostport, 0
		}
		port = int(n)
	}
	return unbracket(host), port
}

// unbracket returns an address without brackets.
func unbracket(host string) string {
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		return host[1 : len(host)-1]
	}
	return host
}
