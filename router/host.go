package router

import "strings"

// canonicalHost returns a Host header's value as patterns name it: in lower
// case, without port, brackets or the dot of the root. It allocates only for
// a host in upper case.
func canonicalHost(host string) string {
	if strings.HasPrefix(host, "[") {
		if end := strings.IndexByte(host, ']'); end > 0 {
			return strings.ToLower(host[1:end])
		}
	}
	if colon := strings.IndexByte(host, ':'); colon >= 0 && strings.IndexByte(host[colon+1:], ':') < 0 {
		host = host[:colon]
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
