package template

import (
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

// refuseNginx refuses a text with a variable of nginx. In a URL, it also refuses a group of a
// regular expression, such as $1.
func refuseNginx(text string, inURL bool) *yamlfile.Refusal {
	for at := strings.IndexByte(text, '$'); at >= 0; {
		rest := strings.TrimLeft(text[at+1:], "abcdefghijklmnopqrstuvwxyz_0123456789")
		name := text[at+1 : len(text)-len(rest)]
		hint := nginxVariables[name]
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
