package template

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weirhq/weir/internal/yamlfile"
)

// nginxVariables maps variables of nginx, which would be plain text, to what to write.
var nginxVariables = map[string]string{
	"args":                      "write {request.query}",
	"host":                      "write {request.host}",
	"http_host":                 "write {request.host}",
	"is_args":                   "write ?{request.query}",
	"proxy_add_x_forwarded_for": "leave it out, because weir writes X-Forwarded-For",
	"query_string":              "write {request.query}",
	"remote_addr":               "write {client.address}",
	"request_id":                "write {request.id}",
	"request_method":            "write {request.method}",
	"request_uri":               "write {request.path}?{request.query}, or a parameter of the pattern in a path",
	"scheme":                    "write http or https",
	"server_name":               "write {request.host}",
	"uri":                       "write {request.path}, or a parameter of the pattern in a path",
}

// nginxFields begin the names of variables of nginx that are a field, a parameter or a cookie of the request.
var nginxFields = []string{"http", "arg", "cookie"}

// haproxyFetches maps expressions of HAProxy, which would be plain text, to what to write.
var haproxyFetches = map[string]string{
	"src":            "write {client.address}",
	"req.hdr(host)":  "write {request.host}",
	"req.fhdr(host)": "write {request.host}",
	"hdr(host)":      "write {request.host}",
	"method":         "write {request.method}",
	"path":           "write {request.path}",
	"query":          "write {request.query}",
	"unique-id":      "write {request.id}",
}

// refuseHAProxy refuses a text with an expression of HAProxy.
func refuseHAProxy(text string) *yamlfile.Refusal {
	at := strings.Index(text, "%[")
	end := strings.IndexByte(text[max(at, 0):], ']')
	if at < 0 || end < 0 {
		return nil
	}
	expression := text[at+2 : at+end]
	hint := cmp.Or(haproxyFetches[strings.ToLower(expression)], "see the values of the request in docs/configuration/edits.md")
	return yamlfile.Refuse(hint, "%%[%s] is text in weir, not an expression", expression).At(at)
}

// refuseNginx refuses a text with a variable of nginx. In a URL, it also refuses a group of a
// regular expression, such as $1.
func refuseNginx(text string, inURL bool) *yamlfile.Refusal {
	for at := strings.IndexByte(text, '$'); at >= 0; {
		rest := strings.TrimLeft(text[at+1:], "abcdefghijklmnopqrstuvwxyz_0123456789")
		name := text[at+1 : len(text)-len(rest)]
		hint := nginxVariables[name]
		if prefix, field, _ := strings.Cut(name, "_"); field != "" && hint == "" && slices.Contains(nginxFields, prefix) {
			hint = "leave it out: fields of the client are passed on unchanged, and weir has no value of one of them"
		}
		if inURL && name != "" && name[0] >= '0' && name[0] <= '9' {
			hint = "write {name} for a parameter of the pattern, and %24 for the character itself"
		}
		if hint != "" {
			return yamlfile.Refuse(hint, "$%s is text in weir, not a variable", name).At(at)
		}
		next := strings.IndexByte(text[at+1:], '$')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return nil
}
