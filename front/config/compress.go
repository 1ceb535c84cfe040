package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/yamlfile"
)

// DefaultCompress returns the defaults of the keys below compress. The caller owns the result.
func DefaultCompress() *Compress {
	return &Compress{
		Encodings: slices.Clone(encodings),
		Level:     3,
		MinLength: 1 << 10,
		Types: []string{
			"text/*", "*+json", "*+xml",
			"application/json", "application/x-ndjson", "application/xml", "application/javascript",
			"application/x-javascript", "application/graphql-response+json", "application/wasm",
			"font/ttf", "font/otf", "application/vnd.ms-fontobject", "image/x-icon", "image/bmp",
		},
	}
}

// encodings are the content codings, the default of [Compress.Encodings].
var encodings = []string{"zstd", "br", "gzip"}

// compressKeys returns the keys of [Compress] below a path.
func compressKeys(path string) []key {
	return []key{
		{Path: path, Read: readCompress},
		{Path: path + ".encodings", Read: yamlfile.Some(yamlfile.Word(encodings),
			func(f filling) *[]string { return &(*f.compress()).Encodings })},
		{Path: path + ".level", Read: yamlfile.One(parseLevel, func(f filling) *int { return &(*f.compress()).Level })},
		{Path: path + ".min_length",
			Read: yamlfile.One(yamlfile.Size, func(f filling) *int64 { return &(*f.compress()).MinLength })},
		{Path: path + ".types",
			Read: yamlfile.Some(parseContentType, func(f filling) *[]string { return &(*f.compress()).Types })},
		{Path: path + ".with_credentials",
			Read: yamlfile.One(yamlfile.Switch, func(f filling) *bool { return &(*f.compress()).WithCredentials })},
	}
}

// compress returns where the compression that is being read is kept.
func (f filling) compress() **Compress {
	if f.route != nil {
		return &f.route.Compress
	}
	return &f.config.Compress
}

// readCompress reads a mapping, true for all defaults, or false.
func readCompress(r *fileReader, p place, n *yamlfile.Node) {
	c := DefaultCompress()
	*p.To.compress() = c
	if n.Kind != yamlfile.Single {
		r.Fields(p, n)
		return
	}
	if on, ok := yamlfile.ReadOne(r, p, n, parseCompress); ok && !on {
		*c = Compress{}
	}
}

func parseCompress(s yamlfile.Scalar) (bool, *yamlfile.Refusal) {
	if slices.Contains(encodings, s.Text) {
		return false, yamlfile.Refuse("write compress: {encodings: ["+s.Text+"]}", "%s is neither true nor false",
			yamlfile.Quote(s.Text))
	}
	return yamlfile.Switch(s)
}

func parseLevel(s yamlfile.Scalar) (int, *yamlfile.Refusal) {
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
	name := strings.ToLower(s.Text)
	if suffix, ok := strings.CutPrefix(name, "*+"); ok && httpsyntax.IsToken([]byte(suffix)) {
		return name, nil
	}
	kind, sub, _ := strings.Cut(name, "/")
	if !httpsyntax.IsToken([]byte(kind)) || !httpsyntax.IsToken([]byte(sub)) || strings.Contains(kind, "*") ||
		strings.Contains(sub, "*") && sub != "*" {
		return "", yamlfile.Refuse("write a type as in text/html, text/* or *+json", "%s is not a content type",
			yamlfile.Quote(s.Text))
	}
	return name, nil
}
