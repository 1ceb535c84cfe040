package otlpsink

import (
	"bytes"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// compressions are the values of the parameter compression.
var compressions = []string{"gzip", "zstd", "none"}

// A compressor compresses requests. It keeps its memory from request to request.
type compressor struct {
	coding string // one of compressions
	gzip   *gzip.Writer
	zstd   *zstd.Encoder
	out    bytes.Buffer // of gzip
	room   []byte       // of zstd
}

func newCompressor(coding string) (c *compressor, err error) {
	c = &compressor{coding: coding}
	switch coding {
	case "gzip":
		c.gzip, err = gzip.NewWriterLevel(nil, gzip.BestSpeed)
	case "zstd":
		c.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(128<<10), zstd.WithEncoderCRC(false))
	}
	return c, err
}

// compress returns the compressed text, which is valid until the next call, or text itself.
func (c *compressor) compress(text []byte) ([]byte, error) {
	switch c.coding {
	case "gzip":
		c.out.Reset()
		c.gzip.Reset(&c.out)
		if _, err := c.gzip.Write(text); err != nil {
			return nil, err
		}
		err := c.gzip.Close()
		return c.out.Bytes(), err
	case "zstd":
		c.room = c.zstd.EncodeAll(text, c.room[:0])
		return c.room, nil
	}
	return text, nil
}
