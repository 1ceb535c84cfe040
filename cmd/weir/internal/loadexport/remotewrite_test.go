package loadexport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/snappy"

	"github.com/weirhq/weir/load"
	"github.com/weirhq/weir/log/stream"
)

func namesOf(all []metric) (names []string) {
	for _, m := range all {
		names = append(names, m.name)
	}
	return names
}

// A second without a request has connections and no quantiles.
func TestASecondWithoutRequestsHasNoQuantiles(t *testing.T) {
	for _, c := range []struct {
		second load.Second
		want   bool
	}{{load.Second{Requests: 1}, true}, {load.Second{Errors: 1}, true}, {load.Second{Connections: 3}, false}} {
		all, err := metrics(&load.Result{Series: []load.Second{c.second}})
		if err != nil {
			t.Fatal(err)
		}
		names := namesOf(all)
		if slices.Contains(names, "weir.load.latency.quantile") != c.want || !slices.Contains(names, "weir.load.connections") {
			t.Errorf("the metrics of %+v are %v, want quantiles %v", c.second, names, c.want)
		}
	}
}

// staleAt returns how many series end at a time.
func staleAt(t *testing.T, r request, at time.Time) int {
	t.Helper()
	message, err := snappy.Decode(nil, r.message)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(message, appendSample(nil, staleMarker, at))
}

// The quantiles end at a second without a request, once, and all gauges with the run.
func TestGaugesEnd(t *testing.T) {
	w, err := openRemoteWrite("prometheus+http://server", nil)
	if err != nil {
		t.Fatal(err)
	}
	start := time.UnixMilli(1_800_000_000_000)
	busy, idle := load.Second{Requests: 1}, load.Second{}
	for i, c := range []struct {
		second      load.Second
		last        bool
		stale, over int // at the time of the interval, and after it
	}{{busy, false, 0, 0}, {idle, false, 4, 0}, {idle, false, 0, 0}, {busy, false, 0, 0}, {busy, true, 0, 5}} {
		at := start.Add(time.Duration(i) * time.Second)
		r, err := w.encode(interval{at, &load.Result{Started: start, Series: []load.Second{c.second}}, c.last})
		if err != nil {
			t.Fatal(err)
		}
		if stale, over := staleAt(t, r, at), staleAt(t, r, at.Add(time.Millisecond)); stale != c.stale || over != c.over {
			t.Errorf("%d and %d series end at interval %d, want %d and %d", stale, over, i, c.stale, c.over)
		}
	}
}

// Responses with a body do not cost a connection. Those with an error say whether the request is to be sent again.
func TestRemoteWriteReadsResponses(t *testing.T) {
	var addresses []string
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		addresses = append(addresses, r.RemoteAddr)
		rw.WriteHeader(status)
		io.WriteString(rw, strings.Repeat("x", 10_000))
	}))
	defer s.Close()
	w, err := openRemoteWrite("prometheus+"+s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, c := range []struct {
		status, rejected int
		again            bool
	}{
		{http.StatusOK, 0, false}, {http.StatusNoContent, 0, false}, {http.StatusTooManyRequests, 0, true},
		{http.StatusInternalServerError, 0, true}, {http.StatusBadRequest, 7, false}, {http.StatusRequestTimeout, 7, false},
	} {
		status = c.status
		err := w.Send(context.Background(), request{nil, 7})
		rejected := new(stream.RejectedError)
		errors.As(err, &rejected)
		if again := errors.As(err, new(*stream.UnavailableError)); again != c.again || rejected.Lines != c.rejected ||
			(err == nil) != (c.status/100 == 2) {
			t.Errorf("status %d: %v, want %d rejected, or again %v", c.status, err, c.rejected, c.again)
		}
	}
	if slices.Sort(addresses); len(slices.Compact(addresses)) != 1 {
		t.Errorf("the requests came from %v, want one connection", addresses)
	}
}
