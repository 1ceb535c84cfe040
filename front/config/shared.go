package config

import (
	"slices"

	"github.com/weirhq/weir/front/internal/certs"
	"github.com/weirhq/weir/front/internal/namedfile"
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/redisurl"
	"github.com/weirhq/weir/internal/yamlfile"
)

// parseStore reads the URL of a store.
func parseStore(s yamlfile.Scalar) (yamlfile.Scalar, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "redis URL", Pattern: "rediss?://.+"})
	return scalar.Secret(s) // it may have a password
}

// readShared returns a function that reads the URL of a store of shared limits into a field of
// the limits that are being read. It checks the files that the URL names.
func readShared(field func(*RequestLimits) *string) readFunc {
	return func(r *fileReader, p place, n *yamlfile.Node) {
		text, ok := yamlfile.ReadOne(r, p, n, parseStore)
		if !ok {
			return
		}
		u, err := redisurl.Parse(text.Text)
		if err != nil {
			r.Mistakef(text.Pos, "it is redis://host:port, or rediss:// with TLS; several hosts are nodes of a cluster",
				"the URL of the store is not valid: %s", err)
			return
		}
		if checkStoreFiles(r, p, text.Pos, u) {
			*field(p.To.limits()) = u.String()
		}
	}
}

// checkStoreFiles checks the files that a URL names, and makes their paths absolute or relative
// to the working directory.
func checkStoreFiles(r *fileReader, p place, at yamlfile.Pos, u *redisurl.URL) bool {
	read := certs.Reader(p.To.readNamed)
	named := func(file string) yamlfile.Scalar { return yamlfile.Scalar{Text: file, Pos: at} }
	ok := (u.CA == "" || read.Chain(r.File, named(u.CA), "the ca") != nil) &&
		(u.Cert == "" || read.Client(r.File, named(u.Cert), named(u.Key)) != nil)
	for _, file := range []*string{&u.CA, &u.Cert, &u.Key} {
		if *file != "" {
			*file = namedfile.Resolve(r.Name(), *file)
		}
	}
	return ok
}

// SharedStores returns the URLs of the stores of shared limits, without duplicates.
func (c *Config) SharedStores() (urls []string) {
	add := func(l *RequestLimits) {
		for _, url := range []string{l.Rate.Shared, l.InFlightShared} {
			if url != "" && !slices.Contains(urls, url) {
				urls = append(urls, url)
			}
		}
	}
	add(&c.Limits.RequestLimits)
	for i := range c.Groups {
		add(&c.Groups[i].Limits)
	}
	for i := range c.Routes {
		add(&c.Routes[i].Limits)
	}
	return urls
}
