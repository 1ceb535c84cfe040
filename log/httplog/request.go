package httplog

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/weirhq/weir/log"
)

// Request returns what an event says about a request: all but the times and
// what belongs to the answer.
//
// Path and query are as the client has sent them, still escaped, whatever
// handlers have made of r.URL since. The client is the address that r.RemoteAddr
// names, without the port: behind a proxy it is the proxy's. A request that is
// for a client to send has what it knows of these.
func Request(r *http.Request) log.HTTP {
	h := log.HTTP{Route: r.Pattern}
	describeTarget(&h, r)
	describeCaller(&h, r)
	return h
}

// describeTarget fills in what is asked for.
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

// describeCaller fills in who asks, and how.
func describeCaller(h *log.HTTP, r *http.Request) {
	h.Client, _ = splitHost(r.RemoteAddr)
	h.Protocol = r.Proto
	h.UserAgent = r.UserAgent()
	h.Referer = r.Referer()
	h.RequestContentLength = max(r.ContentLength, 0) // -1: not known
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

// target returns path and query. Where the client sent just these, as nearly
// always, they are cut out of what it sent: to escape r.URL.Path again costs an
// allocation, and the client may have escaped more.
func target(r *http.Request) (path, query string) {
	if strings.HasPrefix(r.RequestURI, "/") {
		path, query, _ = strings.Cut(r.RequestURI, "?")
		return path, query
	}
	return r.URL.EscapedPath(), r.URL.RawQuery
}

// splitHost splits "name:80" and "[::1]:80"; port is 0 without one. What it
// cannot split it returns whole: an event shows what came, right or wrong.
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

// unbracket returns an address without the brackets around it.
func unbracket(host string) string {
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		return host[1 : len(host)-1]
	}
	return host
}
