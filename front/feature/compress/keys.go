package compress

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// Config is the key compress: it configures the compression of responses.
type Config struct {
	// Encodings are content codings in order of preference: "zstd", "br" and "gzip". The default
	// is all of them in this order. Without one, no response is compressed.
	Encodings []string

	// Level is from 1, the fastest, to 6. Default 3.
	Level int

	// MinLength is the least length, in bytes, of a body that is compressed. It does not apply to
	// a body of unknown length. Default 1024.
	MinLength int64

	// Types are the content types that are compressed: "text/html", "text/*" for all of a type,
	// "*+json" for all with a suffix. "text/event-stream" is compressed only if it is listed
	// itself.
	Types []string

	// WithCredentials also compresses responses that could contain secrets.
	WithCredentials bool
}

// Default returns the defaults of the keys below compress. The caller owns the result.
func Default() *Config {
	return &Config{
		Encodings: slices.Clone(encodings),
		Level:     3,
		MinLength: 1 << 10,
		Types: []string{
			"text/*", "*+json", "*+xml",
			"application/json", "application/x-ndjson", "application/xml", "application/javascript",
			"application/x-javascript", "application/graphql-response+json", "application/wasm",
			"font/ttf", "font/otf", "font/opentype", "font/collection", "font/sfnt", "application/x-font-ttf",
			"application/vnd.ms-fontobject", "image/x-icon", "image/vnd.microsoft.icon", "image/bmp", "image/x-ms-bmp",
		},
	}
}

// encodings are the content codings, the default of [Config.Encodings].
var encodings = []string{"zstd", "br", "gzip"}

// Keys returns the keys of a [Config] at a path. at returns where it is kept.
func Keys[T any](path string, at func(T) **Config) []yamlfile.Key[T] {
	return []yamlfile.Key[T]{
		{Path: path, Off: func(t T) { *at(t) = new(Config) },
			Read: func(r *yamlfile.Reader[T], p yamlfile.Place[T], n *yamlfile.Node) {
				*at(p.To) = Default()
				r.Fields(p, n)
			}},
		{Path: path + ".encodings", Doc: "the content codings of responses",
			Read: yamlfile.Some(yamlfile.Word(encodings), func(t T) *[]string { return &(*at(t)).Encodings })},
		{Path: path + ".level", Doc: "the level of compression",
			Read: yamlfile.One(parseLevel, func(t T) *int { return &(*at(t)).Level })},
		{Path: path + ".min_length", Doc: "the length below which a body is not compressed",
			Off:  func(t T) { (*at(t)).MinLength = 0 },
			Read: yamlfile.One(yamlfile.NotZero(yamlfile.Size), func(t T) *int64 { return &(*at(t)).MinLength })},
		{Path: path + ".types", Doc: "the content types that are compressed",
			Read: yamlfile.Some(parseContentType, func(t T) *[]string { return &(*at(t)).Types })},
		{Path: path + ".with_credentials", Doc: "compress responses that could contain secrets",
			Read: yamlfile.One(yamlfile.Switch, func(t T) *bool { return &(*at(t)).WithCredentials })},
	}
}

func parseLevel(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "number", Pattern: "[0-9]+", Number: true})
	const slowest = 6
	level, err := strconv.Atoi(s.Text)
	if err != nil || level < 1 || level > slowest {
		return 0, yamlfile.Refuse("write 1 (fastest) to 6; higher levels would take several times the CPU time",
			"%s is not a level", yamlfile.Quote(s.Text))
	}
	return level, nil
}

// parseContentType reads a content type without parameters, in lower case. Its type or the part
// before its suffix may be a "*".
func parseContentType(s yamlfile.Scalar) (string, *yamlfile.Refusal) {
	s.Describe(yamlfile.Form{Name: "content type", Pattern: `[^ /]+/[^ ;]+|\*\+[^ /]+`})
	name := strings.ToLower(s.Text)
	if suffix, ok := strings.CutPrefix(name, "*+"); ok && httpsyntax.IsToken(suffix) {
		return name, nil
	}
	kind, sub, _ := strings.Cut(name, "/")
	if !httpsyntax.IsToken(kind) || !httpsyntax.IsToken(sub) || strings.Contains(kind, "*") ||
		strings.Contains(sub, "*") && sub != "*" {
		return "", yamlfile.Refuse("write a type as in text/html, text/* or *+json", "%s is not a content type",
			yamlfile.Quote(s.Text))
	}
	return name, nil
}
