package scalar

import (
	"slices"

	"github.com/weirhq/weir/internal/nearest"
	"github.com/weirhq/weir/internal/yamlfile"
)

// methods are those of the IANA registry, and PURGE, which caches have. Others are valid too.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "ACL",
	"BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "COPY", "LABEL", "LINK", "LOCK", "MERGE", "MKACTIVITY",
	"MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE", "ORDERPATCH", "PRI", "PROPFIND", "PROPPATCH", "QUERY",
	"REBIND", "REPORT", "SEARCH", "UNBIND", "UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF",
	"VERSION-CONTROL", "PURGE"}

// WarnOfMethod warns of a method that is probably a spelling mistake.
func WarnOfMethod(f *yamlfile.File, at yamlfile.Pos, method string) {
	if slices.Contains(methods, method) {
		return
	}
	hint := "methods are case-sensitive, as in GET"
	if near := nearest.Word(method, methods); near != "" {
		hint = yamlfile.DidYouMean(near)
	}
	f.Warnf(at, hint, "%s is not a known method", yamlfile.Quote(method))
}
