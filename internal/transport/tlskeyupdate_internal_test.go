package transport

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/weirhq/weir/internal/testkit"
)

// A recordWriter makes the records of a client with TLS_AES_128_GCM_SHA256 (RFC 8446,
// sections 5.2 and 7.3).
type recordWriter struct {
	t      *testing.T
	secret []byte
	seq    uint64
}

// expand is HKDF-Expand-Label with an empty context (RFC 8446, section 7.1).
func (w *recordWriter) expand(label string, length int) []byte {
	info := binary.BigEndian.AppendUint16(nil, uint16(length))
	info = append(append(info, byte(len("tls13 "+label))), "tls13 "+label+"\x00"...)
	b, err := hkdf.Expand(sha256.New, w.secret, string(info), length)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// record encrypts one record.
func (w *recordWriter) record(kind byte, content []byte) []byte {
	block, err := aes.NewCipher(w.expand("key", 16))
	if err != nil {
		w.t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		w.t.Fatal(err)
	}
	nonce := w.expand("iv", 12)
	for i, b := range binary.BigEndian.AppendUint64(nil, w.seq) {
		nonce[4+i] ^= b
	}
	w.seq++
	plain := append(bytes.Clone(content), kind)
	header := []byte{23, 3, 3, byte((len(plain) + 16) >> 8), byte(len(plain) + 16)}
	return append(header, aead.Seal(nil, nonce, plain, header)...)
}

// keyUpdate returns a record that asks for a key update in return, and updates the key.
func (w *recordWriter) keyUpdate() []byte {
	b := w.record(22, []byte{24, 0, 0, 1, 1})
	w.secret, w.seq = w.expand("traffic upd", 32), 0
	return b
}

// TestKeyUpdateFloodIsRefused sends key updates, which a server must respond to before its next write: a
// few, too many in a row, and too many in all although there is data between them.
func TestKeyUpdateFloodIsRefused(t *testing.T) {
	for _, c := range []struct {
		name          string
		rounds, inRow int
		ok            bool
	}{
		{"a few", 3, 4, true},
		{"too many in a row", 1, 40, false},
		{"too many without a write", 200, 16, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			accepted, nc := testkit.Pair(t)
			carrier, err := NewConn(accepted)
			if err != nil {
				t.Fatal(err)
			}
			var keys bytes.Buffer
			config := clientConfig()
			config.KeyLogWriter = &keys
			client := tls.Client(nc, config)
			failed := make(chan error, 1)
			go func() { failed <- client.Handshake() }()
			server := NewTLSServer(carrier, nil, serverConfig())
			defer server.Close()
			if err := server.Handshake(Goroutines.Block); err != nil {
				t.Fatal(err)
			}
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
			w := &recordWriter{t: t}
			for line := range strings.Lines(keys.String()) {
				if f := strings.Fields(line); f[0] == "CLIENT_TRAFFIC_SECRET_0" {
					w.secret, _ = hex.DecodeString(f[2])
				}
			}
			var sent []byte
			for range c.rounds {
				for range c.inRow {
					sent = append(sent, w.keyUpdate()...)
				}
				sent = append(sent, w.record(23, []byte("x"))...)
			}
			go func() {
				nc.Write(sent)
				nc.CloseWrite()
			}()
			got := 0
			for err = nil; err == nil; {
				var n int
				n, err = server.Read(make([]byte, 100))
				got += n
			}
			if (got == c.rounds) != c.ok {
				t.Errorf("read %d of %d bytes, %v", got, c.rounds, err)
			}
			if n := len(server.out.unsent); n > blockSize+maxReplies {
				t.Errorf("%d bytes wait to be sent", n)
			}
			if _, err := server.Write([]byte("y")); (err == nil) != c.ok {
				t.Errorf("Write = %v", err)
			}
			if c.ok {
				if n, err := client.Read(make([]byte, 10)); n != 1 || err != nil {
					t.Errorf("the client reads %d bytes, %v", n, err)
				}
			}
		})
	}
}
