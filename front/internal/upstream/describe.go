package upstream

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/proxying"
)

// describe returns the name of an upstream and its servers, how one of them is chosen, and how
// their state is observed.
func describe(u *upstreams.Upstream, o *proxying.Options) string {
	list := make([]string, len(u.Servers))
	for i, s := range u.Servers {
		list[i] = s.URL
		if s.Weight > 1 {
			list[i] += fmt.Sprintf(" (weight %d)", s.Weight)
		}
		if s.Backup {
			list[i] += " (backup)"
		}
	}
	text := "upstream " + u.Name
	if u.List != (upstreams.List{}) {
		text += " of " + u.List.String()
	}
	if len(list) > 0 {
		text += ": " + strings.Join(list, ", ")
	}
	if u.HTTP2 {
		text += " over HTTP/2"
	}
	if len(list) > 1 {
		text += " " + describePolicy(o)
		if s := o.Sticky; s != nil {
			text += ", and then by the cookie " + s.Cookie
		}
	}
	if limit := o.Limit.Max; limit > 0 {
		text += fmt.Sprintf("; at most %d requests at a server", limit)
	}
	return text + describeRetry(&o.Retry) + describeHealth(u)
}

// describeHealth returns how the state of the servers is observed, or "" if it is not.
func describeHealth(u *upstreams.Upstream) (text string) {
	if h := u.Health; h != nil {
		text = fmt.Sprintf("; each server is checked with %s %s every %v", h.Method, h.Path, h.Interval)
	}
	if u.Outliers != nil && !reflect.DeepEqual(u.Outliers, upstreams.OutliersUnset()) {
		text += "; outliers are ejected"
	}
	return text
}

// describeRetry returns when requests are sent again, or "" for the defaults.
func describeRetry(r *proxying.Retry) string {
	switch {
	case r.Attempts == 1:
		return "; each request is sent once"
	case r.Attempts == 0 && r.Methods == nil && r.On == nil:
		return ""
	}
	methods, on := r.Methods, r.On
	if methods == nil {
		methods = []string{"GET", "HEAD", "OPTIONS"}
	}
	if on == nil {
		on = []proxying.RetryReason{proxying.RetryReset, proxying.RetryTimeout}
	}
	return fmt.Sprintf("; %s are sent again on %s, at most %d times in all", strings.Join(methods, ", "),
		strings.Trim(fmt.Sprint(on), "[]"), cmp.Or(r.Attempts, proxying.DefaultAttempts))
}

// describePolicy returns how an upstream chooses one of several servers.
func describePolicy(o *proxying.Options) string {
	switch o.Balance {
	case proxying.LeastConnections:
		return "by the fewest requests in flight"
	case proxying.TwoChoices:
		return "by the fewer requests in flight of two random ones"
	case proxying.Hash:
		return "by a hash of the " + o.HashKey.String()
	default:
		return "in turn"
	}
}
