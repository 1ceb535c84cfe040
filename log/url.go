package log

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/weirhq/weir/log/internal/jsonscan"
	"github.com/weirhq/weir/log/internal/text"
)

// addQuery appends a label and the value of http.query, and in JSON the closing
// quote.
func (e *openEvent) addQuery(label, query string) {
	if e.out.redact == nil {
		e.addLabeled(label, label, query)
		return
	}
	e.buf = e.appendParameters(append(e.buf, label...), query)
	e.quote()
}

// addURL appends a label and the value of http.referer, and in JSON the closing
// quote.
func (e *openEvent) addURL(label, url string) {
	if e.out.redact == nil {
		e.addLabeled(label, label, url)
		return
	}
	e.buf = e.appendURLContent(append(e.buf, label...), url)
	e.quote()
}

// appendURLContent appends a URL without user and password, and with the
// secrets of its query replaced.
func (e *openEvent) appendURLContent(b []byte, url string) []byte {
	query := len(url)
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		query = i
	}
	b = e.appendAddress(b, url[:query], query >= e.maxBytes)
	if query == len(url) {
		return b
	}
	return e.appendParameters(append(b, url[query]), url[query+1:])
}

// appendAddress appends the part of a URL before its query. If the URL was
// clipped, the @ after user and password may be missing. So a host without an
// end is treated as user and password.
func (e *openEvent) appendAddress(b []byte, url string, clipped bool) []byte {
	scheme, rest, ok := strings.Cut(url, "//")
	if !ok {
		return e.appendContent(b, url)
	}
	host := rest
	if end := strings.IndexByte(rest, '/'); end >= 0 {
		host, clipped = rest[:end], false
	}
	b = append(e.appendContent(b, scheme), "//"...)
	at := strings.LastIndexByte(host, '@')
	if clipped {
		at = len(host)
	}
	if at >= 0 {
		b, rest = append(b, redacted...), rest[at:]
	}
	return e.appendContent(b, rest)
}

// appendParameters appends the parameters of a query. It splits at ASCII
// characters only, so the pieces are escaped like the whole.
func (e *openEvent) appendParameters(b []byte, query string) []byte {
	for {
		end := indexAny(query, "&;?#")
		name, _, ok := strings.Cut(query[:end], "=")
		if ok && e.out.redact.redactsEncoded(name) {
			b = append(append(e.appendContent(b, name), '='), redacted...)
			end = indexAny(query, "&#") // many servers treat the others as part of the value
		} else {
			b = e.appendContent(b, query[:end])
		}
		if end == len(query) {
			return b
		}
		b = append(b, query[end])
		query = query[end+1:]
	}
}

// appendTextMember appends the text of a member of an object. It replaces the
// secrets in the members of a url.URL, whose user encoding/json leaves out, in the
// URL of a url.Error, and in the query and referer of an HTTP. JSON does not have
// the types, so members of other types with these names are treated in the same
// way. A common name counts only after the member that precedes it in its type.
func (e *openEvent) appendTextMember(dst []byte, before, name string, quoted []byte) []byte {
	switch {
	case name == "RawQuery", name == "Fragment", name == "RawFragment", name == "Query" && before == `"Path"`:
		dst = e.appendParameters(append(dst, '"'), unquoted(quoted))
	case name == "Opaque", name == "URL" && before == `"Op"`, name == "Referer" && before == `"UserAgent"`:
		dst = e.appendURLContent(append(dst, '"'), unquoted(quoted))
	default:
		return append(dst, quoted...)
	}
	return append(dst, '"')
}

func unquoted(quoted []byte) string { return string(jsonscan.AppendUnquoted(nil, quoted)) }

// indexAny is strings.IndexAny, but returns len(s) if there is no match.
func indexAny(s, chars string) int {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return i
	}
	return len(s)
}

// appendContent appends a part of a text, without quotes.
func (e *openEvent) appendContent(b []byte, s string) []byte {
	if e.notation == notationLTSV {
		return text.AppendLTSV(b, s)
	}
	return text.AppendContent(b, s)
}

// errorText returns the message of an error, with the secrets hidden in the URL
// of each *url.Error in its chain, or the reason why there is no message.
func (e *openEvent) errorText(err error) (message, reason string) {
	message, reason = call(err, error.Error)
	if e.out.redact != nil && reason == "" {
		e.try(func(Event) error { // a method that panics ends the search
			left := maxChain
			message = e.hideURLs(message, err, &left)
			return nil
		})
	}
	return message, reason
}

// hideURLs examines at most left errors. The URL in the message of a *url.Error
// is quoted.
func (e *openEvent) hideURLs(message string, err error, left *int) string {
	for err != nil && *left > 0 {
		*left--
		if failed, ok := err.(*url.Error); ok && failed != nil && failed.URL != "" {
			if shown := string(e.appendURLContent(nil, failed.URL)); shown != failed.URL {
				message = strings.ReplaceAll(message, strconv.Quote(failed.URL), `"`+shown+`"`)
				message = strings.ReplaceAll(message, failed.URL, shown)
			}
		}
		switch u := err.(type) {
		case interface{ Unwrap() error }:
			err = u.Unwrap()
		case interface{ Unwrap() []error }:
			for _, one := range u.Unwrap() {
				message = e.hideURLs(message, one, left)
			}
			return message
		default:
			return message
		}
	}
	return message
}
