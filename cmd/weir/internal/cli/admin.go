package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
)

// CheckAdmin checks the admin address of a front door that a verb is to connect to.
func CheckAdmin(addr, verb string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return Misuse(err, fmt.Sprintf("write host:port, as in weir %s 127.0.0.1:20001", verb))
	}
	return nil
}

// GetAdmin requests a path of the admin listener of a front door. Without a host, addr is a port of this machine, and
// needs no resolver. The caller closes the body.
func GetAdmin(ctx context.Context, addr, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return nil, err
	}
	req.Host = "localhost" // the name of another container is none that the admin listener admits
	return (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
}
