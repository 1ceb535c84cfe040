package load_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/load/target"
)

func TestRequestsAreSentToAUnixSocket(t *testing.T) {
	folder, err := os.MkdirTemp("", "") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "app.example" {
			w.WriteHeader(http.StatusMisdirectedRequest)
		}
	})}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	go s.Serve(l) // until Close
	defer s.Close()
	for _, protocol := range []load.Protocol{load.HTTP1, load.HTTP2} {
		r := run(t, load.Plan{Targets: []target.Target{{URL: "http://app.example/a"}}, Unix: path, Protocol: protocol,
			Connections: 2, Requests: 100})
		if r.Status["2xx"] != 100 || r.Unix != path {
			t.Errorf("%v: %v of the socket %q, want 100 with 2xx", protocol, r.Status, r.Unix)
		}
	}
}
