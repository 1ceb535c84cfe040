package otlpsink_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weirhq/weir/log/otlpsink"
	"github.com/weirhq/weir/log/stream"
)

// A Client sends the bytes of its caller with the credentials of its URL. Its error tells whether the request may be
// sent again.
func TestClientSendsEncodedRequests(t *testing.T) {
	partial := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 3)
	for _, c := range []struct {
		status   int
		response []byte
		rejected int
		again    bool
	}{
		{http.StatusOK, nil, 0, false},
		{http.StatusOK, protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial), 3, false},
		{http.StatusServiceUnavailable, nil, 0, true},
		{http.StatusBadRequest, []byte("bad"), 5, false},
	} {
		var path, user, body string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path = r.URL.Path
			user, _, _ = r.BasicAuth()
			if content, err := gzip.NewReader(r.Body); err == nil {
				text, _ := io.ReadAll(content)
				body = string(text)
			}
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(c.status)
			io.Copy(w, bytes.NewReader(c.response))
		}))
		client, err := otlpsink.NewClient(strings.Replace("otlp+"+s.URL, "//", "//weir:secret@", 1), "/v1/metrics")
		if err != nil {
			t.Fatal(err)
		}
		err = client.Send(context.Background(), []byte("encoded"), 5)
		client.Close()
		s.Close()
		if path != "/v1/metrics" || user != "weir" || body != "encoded" {
			t.Errorf("the request to %s of %q is %q", path, user, body)
		}
		rejected, unavailable := new(stream.RejectedError), new(stream.UnavailableError)
		if errors.As(err, &rejected) != (c.rejected > 0) || rejected.Lines != c.rejected ||
			errors.As(err, &unavailable) != c.again || c.again && unavailable.After != 7*time.Second {
			t.Errorf("status %d: %v, want %d rejected, or again %v", c.status, err, c.rejected, c.again)
		}
	}
}
