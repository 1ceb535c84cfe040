package coding_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/weirhq/weir/front/internal/coding"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var all = []coding.Coding{coding.Zstd, coding.Brotli, coding.Gzip}

// decode decodes with a library of Go. It returns what could be decoded and the error.
func decode(c coding.Coding, encoded []byte) ([]byte, error) {
	var r io.Reader
	switch c {
	case coding.Zstd:
		d, err := zstd.NewReader(bytes.NewReader(encoded), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer d.Close()
		r = d
	case coding.Brotli:
		r = brotli.NewReader(bytes.NewReader(encoded))
	default:
		d, err := gzip.NewReader(bytes.NewReader(encoded))
		if err != nil {
			return nil, err
		}
		r = d
	}
	return io.ReadAll(r)
}

// encode encodes a body in parts, with a flush after each part for which flush returns true.
// After each flush, the decoder must return all bytes so far.
func encode(t *testing.T, s *coding.Source, c coding.Coding, body []byte, part func() int, flush func() bool) []byte {
	t.Helper()
	e := s.Get()
	if e == nil {
		t.Fatal("no encoder")
	}
	defer s.Put(e, true)
	for n := 0; n < len(body); {
		p := min(part(), len(body)-n)
		if err := e.Write(body[n : n+p]); err != nil {
			t.Fatal(err)
		}
		if n += p; flush() {
			if err := e.Flush(); err != nil {
				t.Fatal(err)
			}
			if got, err := decode(c, e.Out); err == nil || !bytes.Equal(got, body[:n]) {
				t.Fatalf("%s: after a flush at %d, %d bytes are decoded, %v", c, n, len(got), err)
			}
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(e.Out)
}

// FuzzEncoders encodes bodies in random parts with random flushes, by encoders that are used
// again.
func FuzzEncoders(f *testing.F) {
	f.Add([]byte(""), uint64(1), 3)
	f.Add([]byte("hello, hello, hello"), uint64(2), 1)
	f.Add(bytes.Repeat([]byte("weir "), 50_000), uint64(3), 6)
	f.Add(noise(300_000), uint64(4), 2)
	sources := coding.NewEncoders(1 << 30)
	f.Fuzz(func(t *testing.T, body []byte, seed uint64, level int) {
		level = 1 + int(uint(level)%coding.MaxLevel)
		for _, c := range all {
			random := rand.New(rand.NewPCG(seed, 0))
			encoded := encode(t, sources.Source(c, level), c, body,
				func() int { return 1 + random.IntN(40_000) }, func() bool { return random.IntN(4) == 0 })
			if got, err := decode(c, encoded); err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%s, level %d: %d bytes are decoded to %d, %v", c, level, len(body), len(got), err)
			}
			if len(body) > 0 {
				if got, err := decode(c, encoded[:len(encoded)-1]); err == nil {
					t.Fatalf("%s: a body without its end is decoded to %d bytes", c, len(got))
				}
			}
		}
		if n := sources.InUse(); n != 0 {
			t.Fatalf("%d bytes of encoders are in use after the last was returned", n)
		}
	})
}

func noise(n int) []byte {
	random := rand.New(rand.NewPCG(7, 7))
	var b []byte
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, random.Uint64())
	}
	return b
}

// decoders are programs that decode their input, each written independently of the encoder.
var decoders = map[coding.Coding][]string{
	coding.Gzip: {"gzip", "-dc"},
	coding.Zstd: {"zstd", "-dc"},
	coding.Brotli: {"node", "-e",
		`process.stdout.write(require("zlib").brotliDecompressSync(require("fs").readFileSync(0)))`},
}

func TestOtherProgramsDecodeEachCoding(t *testing.T) {
	sources := coding.NewEncoders(1 << 30)
	body := append(bytes.Repeat([]byte(`{"name": "weir", "id": 17},`), 20_000), noise(100_000)...)
	for _, c := range all {
		t.Run(string(c), func(t *testing.T) {
			command := decoders[c]
			if _, err := exec.LookPath(command[0]); err != nil {
				t.Skipf("%s is not installed", command[0])
			}
			for level := 1; level <= coding.MaxLevel; level++ {
				flushes := 0
				encoded := encode(t, sources.Source(c, level), c, body, func() int { return 30_011 },
					func() bool { flushes++; return flushes%5 == 0 })
				cmd := exec.Command(command[0], command[1:]...)
				cmd.Stdin = bytes.NewReader(encoded)
				if got, err := cmd.Output(); err != nil || !bytes.Equal(got, body) {
					t.Errorf("level %d: %d bytes are decoded to %d, %v", level, len(body), len(got), err)
				}
			}
		})
	}
}

// TestEncoderMemoryStaysWithinItsCount checks that no encoder takes more memory than is counted for it, and that the
// limit applies.
func TestEncoderMemoryStaysWithinItsCount(t *testing.T) {
	const n = 8
	body := bytes.Repeat([]byte(`{"name": "weir", "id": 17},`), 20_000)
	for _, c := range all {
		for level := 1; level <= coding.MaxLevel; level++ {
			sources := coding.NewEncoders(1 << 30)
			source := sources.Source(c, level)
			before := heap()
			var used []*coding.Encoder
			for range n {
				e := source.Get()
				for p := body; len(p) > 0; p = p[min(len(p), 32<<10):] {
					e.Out = e.Out[:0]
					if err := e.Write(p[:min(len(p), 32<<10)]); err != nil {
						t.Fatal(err)
					}
				}
				used = append(used, e)
			}
			taken, counted := int64(heap()-before)/n, sources.InUse()/n
			if taken > counted || taken < counted/4 {
				t.Errorf("%s, level %d: an encoder takes %d KiB, and %d KiB are counted", c, level, taken>>10, counted>>10)
			}
			limited := coding.NewEncoders(2*counted+counted/2).Source(c, level)
			first, second := limited.Get(), limited.Get()
			if first == nil || second == nil || limited.Get() != nil {
				t.Errorf("%s, level %d: a limit of 2.5 encoders does not allow 2", c, level)
			}
			if limited.Put(first, true); limited.Get() == nil {
				t.Errorf("%s, level %d: the place of a returned encoder is not free", c, level)
			}
			runtime.KeepAlive(used)
		}
	}
}

// heap returns the bytes of the heap that are in use.
func heap() uint64 {
	var m runtime.MemStats
	for range 3 { // pools are emptied by the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
