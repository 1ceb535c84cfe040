// Package compress compresses the responses of a route: the key compress.
package compress

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weirhq/weir/front/internal/coding"
	"github.com/weirhq/weir/front/stage"
	"github.com/weirhq/weir/internal/httpsyntax"
	"github.com/weirhq/weir/internal/machine"
)

// encoderMemory is the maximum memory of the encoders in use, in bytes. A response that finds
// none is not compressed.
const encoderMemory = 128 << 20

// A compression is a stage that compresses the responses of a route.
type compression struct {
	sources         []*coding.Source // in order of preference
	types           []string
	minLength       int64
	withCredentials bool
	skipped         prometheus.Counter // responses that found no encoder
	slots           chan struct{}      // of the feature
}

// A Feature holds the state that the compressions of all routes share.
type Feature struct {
	encoders *coding.Encoders
	skipped  prometheus.Counter

	// slots has a place for each processor, which an encoder takes outside of the loops. More encoders at one time
	// evict each other's tables from the caches, and no response ends earlier.
	slots chan struct{}
}

// New returns the feature of a front door.
func New(d *stage.Door) *Feature {
	f := &Feature{
		encoders: coding.NewEncoders(encoderMemory),
		skipped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "weir_responses_not_compressed_total",
			Help: "Responses that were not compressed because the memory of encoders was in use.",
		}),
		slots: make(chan struct{}, machine.Processors()),
	}
	d.Metrics.MustRegister(f.skipped)
	return f
}

// Stage returns the stage of a route, or nil if it compresses nothing. noSecrets says that the responses
// of the route contain no secrets of a client.
func (f *Feature) Stage(c *Config, noSecrets bool) (stage.Stage, error) {
	if c == nil || len(c.Encodings) == 0 {
		return nil, nil
	}
	s := &compression{
		types: c.Types, minLength: c.MinLength, withCredentials: c.WithCredentials || noSecrets,
		skipped: f.skipped, slots: f.slots,
	}
	for _, name := range c.Encodings {
		s.sources = append(s.sources, f.encoders.Source(coding.Coding(name), c.Level))
	}
	return s, nil
}

func (s *compression) Apply(x *stage.Exchange) (responded bool) {
	f := compressors.Get().(*compressor)
	f.rules, f.x, f.Client = s, x, x.Client
	f.readRequest()
	x.AddFilter(f)
	return false
}

// Explain implements stage.Explainer.
func (s *compression) Explain(x *stage.Exchange) (steps []string, ends bool) {
	c := compressor{rules: s, x: x}
	c.readRequest()
	step := "does not compress the response, because of "
	switch {
	case c.source == nil:
		step += "Accept-Encoding"
	case c.mayNotChange:
		step += "Cache-Control: no-transform"
	case c.credentials && !s.withCredentials:
		step = "compresses a response with Cache-Control: public by " + string(c.source.Coding)
	default:
		step = "compresses the response by " + string(c.source.Coding)
	}
	return []string{step}, false
}

// choose returns the source of the coding that the client accepts with the highest weight, and
// of several the first. It returns nil if there is none, or if the client prefers a body that
// is not compressed.
func (s *compression) choose(acceptEncoding string) (chosen *coding.Source) {
	best := 0
	for _, source := range s.sources {
		if q := httpsyntax.CodingQuality(acceptEncoding, string(source.Coding)); q > best {
			best, chosen = q, source
		}
	}
	if httpsyntax.CodingQuality(acceptEncoding, "identity") > best {
		return nil
	}
	return chosen
}

// A compressor is a filter that compresses the body of a response.
type compressor struct {
	stage.Client
	rules *compression
	x     *stage.Exchange

	source       *coding.Source // of the coding that the client accepts; nil for none
	credentials  bool           // the request has some
	mayNotChange bool           // the request forbids a change

	encoder *coding.Encoder // nil if the response is not compressed
	flushes bool            // the length of the body is unknown: no part of it must wait for the next
	batch   []byte          // bytes of the body that the encoder did not get yet
	held    int             // bytes that the encoder got since its last Flush
	sent    int64           // compressed bytes
	err     error           // of the encoder or of the client
}

var compressors = sync.Pool{New: func() any { return new(compressor) }}

// readRequest reads the fields of the request, before another stage changes them.
func (c *compressor) readRequest() {
	for i := range c.x.Header {
		switch f := &c.x.Header[i]; len(f.Name) {
		case len("Cookie"):
			c.credentials = c.credentials || httpsyntax.EqualFold(f.Name, "Cookie")
		case len("Authorization"): // and of Cache-Control
			c.credentials = c.credentials || httpsyntax.EqualFold(f.Name, "Authorization")
			c.mayNotChange = c.mayNotChange || httpsyntax.EqualFold(f.Name, "Cache-Control") &&
				hasDirective(f.Value, "no-transform")
		}
	}
	if !c.x.HTTP10 {
		c.source = c.rules.choose(stage.Joined(c.x.Header, "Accept-Encoding"))
	}
}

// Head implements stage.Client.
func (c *compressor) Head(status int, fields []stage.Field, length int64) error {
	if status == http.StatusNotModified {
		return c.Client.Head(status, c.notModifiedFields(fields), length)
	}
	r := readResponse(fields, length)
	if c.mayNotChange || !c.rules.compresses(status, &r) {
		return c.Client.Head(status, fields, length)
	}
	if c.source != nil && !c.hasSecrets(&r) && c.begin(length) {
		fields, length = c.encodedFields(fields), -1
	}
	if !r.varies {
		fields = slices.Concat(fields, varyByEncoding)
	}
	return c.Client.Head(status, fields, length)
}

var varyByEncoding = []stage.Field{{Name: "Vary", Value: "Accept-Encoding"}}

// begin takes an encoder for a body, if there is one, of a length or -1. It reports whether
// the response is compressed.
func (c *compressor) begin(length int64) bool {
	if c.x.Method == http.MethodHead {
		return true
	}
	if c.encoder = c.source.Get(); c.encoder == nil {
		c.rules.skipped.Inc()
		return false
	}
	c.flushes = length < 0
	return true
}

// hasSecrets reports whether the body could contain a secret of the client next to text that
// an attacker chooses. The length of a compressed body then reveals the secret (BREACH).
func (c *compressor) hasSecrets(r *responseFacts) bool {
	if c.rules.withCredentials {
		return false
	}
	return r.setsCookie || r.private || c.credentials && !r.public
}

// responseFacts are the fields of a response that decide whether it is compressed.
type responseFacts struct {
	contentType  string
	length       int64 // of the body; -1 if it is unknown
	unchangeable bool  // encoded already, a part, signed by a digest, or with no-transform
	private      bool
	public       bool
	setsCookie   bool
	varies       bool // Vary contains Accept-Encoding
}

// readResponse returns the facts about a response. length is that of its body, or -1.
func readResponse(fields []stage.Field, length int64) (r responseFacts) {
	r.length = length
	for i := range fields {
		f := &fields[i]
		switch len(f.Name) {
		case len("Vary"):
			r.varies = r.varies || httpsyntax.EqualFold(f.Name, "Vary") &&
				(hasDirective(f.Value, "Accept-Encoding") || hasDirective(f.Value, "*"))
		case len("Set-Cookie"):
			r.setsCookie = r.setsCookie || httpsyntax.EqualFold(f.Name, "Set-Cookie")
		case len("Content-Type"):
			if httpsyntax.EqualFold(f.Name, "Content-Type") {
				r.contentType = f.Value
			}
		case len("Cache-Control"): // and of Content-Range
			switch {
			case httpsyntax.EqualFold(f.Name, "Cache-Control"):
				r.private = r.private || hasDirective(f.Value, "private")
				r.public = r.public || hasDirective(f.Value, "public")
				r.unchangeable = r.unchangeable || hasDirective(f.Value, "no-transform")
			case httpsyntax.EqualFold(f.Name, "Content-Range"):
				r.unchangeable = true
			}
		case len("Content-Length"):
			// Without a body, as in a response to HEAD, only the field has the length.
			if n, err := strconv.ParseInt(f.Value, 10, 64); err == nil && httpsyntax.EqualFold(f.Name, "Content-Length") {
				r.length = n
			}
		}
		r.unchangeable = r.unchangeable || fixesBody(f.Name)
	}
	return r
}

// fixesBody reports whether a field of this name forbids to compress a body: it is encoded
// already, or the field is a digest of it (RFC 9530).
func fixesBody(name string) bool {
	for _, fixed := range [...]string{"Content-Encoding", "Content-Digest", "Repr-Digest", "Digest", "Content-MD5"} {
		if httpsyntax.EqualFold(name, fixed) {
			return true
		}
	}
	return false
}

// hasDirective reports whether a list has an element of a name, with a value or without.
func hasDirective(list, name string) bool {
	for element := range strings.SplitSeq(list, ",") {
		element, _, _ = strings.Cut(element, "=")
		if strings.EqualFold(strings.Trim(element, " \t"), name) {
			return true
		}
	}
	return false
}

// compresses reports whether the body of a response is of a kind that is compressed for a
// client that accepts it.
func (s *compression) compresses(status int, r *responseFacts) bool {
	switch status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusPartialContent, http.StatusNotModified:
		return false
	}
	least := max(s.minLength, 1) // an empty body would become longer
	return !r.unchangeable && (r.length < 0 || r.length >= least) && s.hasType(r.contentType)
}

// hasType reports whether a Content-Type is one of those that are compressed.
func (s *compression) hasType(contentType string) bool {
	name, _, _ := strings.Cut(contentType, ";")
	name = strings.TrimRight(name, " \t")
	if name == "" {
		return false
	}
	for _, pattern := range s.types {
		switch {
		case strings.HasSuffix(pattern, "/*"):
			prefix := pattern[:len(pattern)-1]
			if len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) &&
				!strings.EqualFold(name, eventStream) {
				return true
			}
		case pattern[0] == '*':
			suffix := pattern[1:]
			if len(name) > len(suffix) && strings.EqualFold(name[len(name)-len(suffix):], suffix) {
				return true
			}
		case strings.EqualFold(name, pattern):
			return true
		}
	}
	return false
}

// eventStream is the type of streams that often stay open for hours, each with an encoder.
const eventStream = "text/event-stream"

// encodedFields returns the fields of the compressed response. Its ETag is weak, because the
// bytes are not those of the upstream's ETag.
func (c *compressor) encodedFields(fields []stage.Field) []stage.Field {
	own := make([]stage.Field, 0, len(fields)+2)
	for _, f := range fields {
		switch len(f.Name) {
		case len("Content-Length"):
			if httpsyntax.EqualFold(f.Name, "Content-Length") {
				continue
			}
		case len("Accept-Ranges"):
			if httpsyntax.EqualFold(f.Name, "Accept-Ranges") {
				continue
			}
		case len("ETag"):
			if httpsyntax.EqualFold(f.Name, "ETag") && !strings.HasPrefix(f.Value, "W/") {
				f.Value = "W/" + f.Value
			}
		}
		own = append(own, f)
	}
	return append(own, stage.Field{Name: "Content-Encoding", Value: string(c.source.Coding)})
}

// notModifiedFields returns the fields of a response 304, with which a cache updates those of
// the response that it has stored: they must be those of the compressed response if the cache
// validates one. The type of its content is usually not known.
func (c *compressor) notModifiedFields(fields []stage.Field) []stage.Field {
	r := readResponse(fields, -1)
	if c.mayNotChange || r.unchangeable || r.contentType != "" && !c.rules.hasType(r.contentType) {
		return fields
	}
	own := make([]stage.Field, 0, len(fields)+1)
	for _, f := range fields {
		if httpsyntax.EqualFold(f.Name, "ETag") && !strings.HasPrefix(f.Value, "W/") {
			if weak := "W/" + f.Value; strings.Contains(stage.Joined(c.x.Header, "If-None-Match"), weak) {
				f.Value = weak
			}
		}
		own = append(own, f)
	}
	if !r.varies {
		own = append(own, varyByEncoding...)
	}
	return own
}

// encodedBatch is the number of bytes that are compressed at once, unless the client has to
// get fewer. The tables of an encoder take a MiB or more: it is slow as long as they are not
// in the caches of its processor. Most bodies are one batch.
const encodedBatch = 256 << 10

// Write implements stage.Client.
func (c *compressor) Write(p []byte) (n int, err error) {
	if c.encoder == nil {
		return c.Client.Write(p)
	}
	for n < len(p) && c.err == nil {
		part := p[n:min(n+encodedBatch-len(c.batch), len(p))]
		c.batch = append(c.batch, part...)
		if n += len(part); len(c.batch) == encodedBatch {
			c.encode(nil)
		}
	}
	return n, c.err
}

// Flush implements stage.Client. It is called before each wait for the rest of the body. If
// the length is known, the rest follows soon, and the body becomes shorter without a flush of
// the encoder.
func (c *compressor) Flush() error {
	if c.encoder != nil && c.flushes && len(c.batch)+c.held > 0 {
		c.encode(c.encoder.Flush)
		c.held = 0
	}
	if c.err != nil {
		return c.err
	}
	return c.Client.Flush()
}

// encode compresses the batch, calls a method of the encoder if it is not nil, and sends the
// compressed bytes. A loop does not wait for the compression of many bytes: its other
// connections continue.
func (c *compressor) encode(method func() error) {
	if c.err != nil {
		return
	}
	c.held += len(c.batch)
	c.err = errEncoder // if the encoder panics
	if c.held <= c.source.Quick {
		c.err = c.encodeBatch(method)
	} else {
		c.x.Block(func() {
			c.rules.slots <- struct{}{}
			defer func() { <-c.rules.slots }()
			c.err = c.encodeBatch(method)
		})
	}
	c.batch = c.batch[:0]
	if c.err != nil || len(c.encoder.Out) == 0 {
		return
	}
	var n int
	n, c.err = c.Client.Write(c.encoder.Out)
	c.sent += int64(n)
	c.encoder.Out = c.encoder.Out[:0]
}

// encodeBatch compresses the batch, and calls a method of the encoder if it is not nil.
func (c *compressor) encodeBatch(method func() error) error {
	if len(c.batch) > 0 {
		if err := c.encoder.Write(c.batch); err != nil {
			return err
		}
	}
	if method == nil {
		return nil
	}
	return method()
}

var errEncoder = errors.New("the encoder has failed")

// End implements stage.Filter. An incomplete body gets no end, so that it does not look complete.
func (c *compressor) End(complete bool) error {
	if c.encoder != nil {
		if complete {
			c.encode(c.encoder.Close)
		} else {
			c.flushes = true
			c.Flush()
		}
		c.x.BodySent = c.sent
		c.source.Put(c.encoder, c.err == nil)
	}
	err := c.err
	*c = compressor{batch: c.batch[:0]}
	compressors.Put(c)
	return err
}
