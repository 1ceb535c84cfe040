package serve

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/log/sink"
)

// An explainOptions describes the request of weir check --explain.
type explainOptions struct {
	Explain string   `placeholder:"REQUEST" help:"Explain which route gets a request, such as 'GET https://shop.example/a?b', and why."`
	Header  []string `short:"H" sep:"none" placeholder:"FIELD" help:"Add a header field to the request of --explain, such as 'X-Beta: 1'."`
	From    string   `placeholder:"ADDR" default:"127.0.0.1" help:"The address from which the request of --explain comes (default 127.0.0.1)."`
}

const explainHint = `write a method and a URL, as in --explain 'GET https://shop.example/a?b' -H 'X-Beta: 1'`

// explain returns the decision about the request.
func (o *explainOptions) explain(cfg *config.Config) (*front.Explanation, error) {
	from, err := netip.ParseAddr(o.From)
	if err != nil {
		return nil, cli.Misuse(fmt.Errorf("--from: %q is not an address", o.From), "write an address, as in --from 192.0.2.1")
	}
	head, err := o.head()
	if err != nil {
		return nil, cli.Misuse(err, explainHint)
	}
	d, err := engines.New(cfg, sink.NewDirect(io.Discard))
	if err != nil {
		return nil, err
	}
	e, err := d.Explain(o.scheme(), []byte(head), from)
	if err != nil {
		return nil, cli.Misuse(fmt.Errorf("--explain: %w", err), explainHint)
	}
	return e, nil
}

// scheme returns the scheme of the request: https unless its URL begins with http://.
func (o *explainOptions) scheme() string {
	_, url, found := strings.Cut(o.Explain, " ")
	if !found {
		url = o.Explain
	}
	if strings.HasPrefix(strings.ToLower(strings.TrimLeft(url, " ")), "http://") {
		return "http"
	}
	return "https"
}

// head returns the request as the head of a message.
func (o *explainOptions) head() (string, error) {
	method, url, found := strings.Cut(o.Explain, " ")
	if !found {
		method, url = "GET", o.Explain
	}
	host, target := splitURL(strings.TrimLeft(url, " "))
	fields := ""
	if strings.ContainsAny(o.Explain+strings.Join(o.Header, ""), "\r\n") {
		return "", errors.New("the request has a line break")
	}
	for _, f := range o.Header {
		switch name, value, found := strings.Cut(f, ":"); {
		case !found:
			return "", fmt.Errorf("-H: the field %q has no colon", f)
		case strings.EqualFold(name, "host"):
			host = strings.TrimSpace(value)
		default:
			fields += f + "\r\n"
		}
	}
	return method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + fields + "\r\n", nil
}

// splitURL returns the host and the target of the request for a URL. The scheme and the
// host may be missing.
func splitURL(url string) (host, target string) {
	if scheme, rest, found := strings.Cut(url, "://"); found && !strings.ContainsAny(scheme, "/?") {
		url = rest
	}
	if url == "*" {
		return "localhost", url
	}
	host, target = url, "/"
	if i := strings.IndexAny(url, "/?#"); i >= 0 {
		if host, target = url[:i], url[i:]; target[0] != '/' {
			target = "/" + target
		}
	}
	if host == "" {
		host = "localhost"
	}
	return host, target
}

// printExplanation writes an explanation as text.
func printExplanation(w io.Writer, e *front.Explanation) {
	fmt.Fprintf(w, "%s\n", e.Request)
	if len(e.Routes) > 0 {
		fmt.Fprint(w, "\nRoutes that match, in the order of precedence:\n")
	}
	var chosen *front.ExplainedRoute
	for i := range e.Routes {
		r := &e.Routes[i]
		mark := "  "
		if r.Chosen {
			chosen, mark = r, "->"
		}
		fmt.Fprintf(w, "%s %s  %s\n", mark, r.Position, r.Pattern)
		for i, p := range r.Parameters {
			separator := ", "
			if i == 0 {
				separator = "     "
			}
			fmt.Fprintf(w, "%s%s = %q", separator, p.Name, p.Value)
		}
		if len(r.Parameters) > 0 {
			fmt.Fprintln(w)
		}
		for _, c := range r.Conditions {
			verdict := "yes"
			if !c.Holds {
				verdict = "no"
			}
			fmt.Fprintf(w, "     when %s: %s\n", c.Condition, verdict)
		}
		if r.Why != "" && len(r.Conditions) == 0 {
			fmt.Fprintf(w, "     %s\n", r.Why)
		}
	}
	switch {
	case chosen != nil:
		printChosen(w, chosen)
	case e.Allow != "":
		fmt.Fprintf(w, "\nThe front door responds with %d: %s; Allow: %s\n", e.Status, e.Reason, e.Allow)
	default:
		fmt.Fprintf(w, "\nThe front door responds with %d: %s\n", e.Status, e.Reason)
	}
}

func printChosen(w io.Writer, r *front.ExplainedRoute) {
	if len(r.Settings) > 0 {
		fmt.Fprintf(w, "\nThe route of %s:\n", r.Position)
	}
	for _, s := range r.Settings {
		fmt.Fprintf(w, "   %s: %s", s.Key, s.Value)
		if s.From != config.FromRoute {
			fmt.Fprintf(w, "   (%s, %s)", s.Position, s.From)
		}
		fmt.Fprintln(w)
	}
	if len(r.Steps) > 0 {
		fmt.Fprint(w, "\nThe front door\n")
	}
	for _, step := range r.Steps {
		fmt.Fprintf(w, "   %s\n", step)
	}
}
