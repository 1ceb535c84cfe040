package livepage

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// LocalNames refuses requests whose Host is neither an IP address, nor localhost, nor the host of addr. Otherwise a
// website could point a name of its own at this address (DNS rebinding), and read the pages through the browser of a
// visitor. A request without a Host, such as the check of a load balancer over HTTP/1.0, is from no browser.
func LocalNames(addr string, next http.Handler) http.Handler {
	own := hostName(addr)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := hostName(r.Host)
		_, err := netip.ParseAddr(name)
		if r.Host != "" && err != nil && !strings.EqualFold(name, "localhost") && (own == "" || !strings.EqualFold(name, own)) {
			http.Error(w, "no such host here; use the address", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostName returns a host without its port and its brackets.
func hostName(hostPort string) string {
	if name, _, err := net.SplitHostPort(hostPort); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(hostPort, "["), "]")
}

// OwnOrigin refuses requests with the Origin of another page. A browser does not let that page read the response, but
// the events would cost something.
func OwnOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" {
			if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
				http.Error(w, "a page of another origin may not read this", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
