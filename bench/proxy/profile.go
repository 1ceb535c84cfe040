package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// profileMix is the work that Weir does while it is profiled, with the share of the time. Each GET writes three events
// to a file.
var profileMix = []struct {
	share float64
	args  []string
}{
	{0.40, []string{"-c", "64"}},
	{0.25, []string{"-c", "1000"}},
	{0.10, []string{"-c", "1"}},
	{0.15, []string{"-c", "64", "-r", "5000"}},
	{0.10, []string{"-c", "64", "--body", "{\"title\": \"Inflation and price indices\", \"release\": \"september2026\"}"}},
}

// Profile runs Weir with the load of profileMix for d in all, and writes its CPU profile to file. The bench must be
// open.
func (b *Bench) Profile(ctx context.Context, file string, d time.Duration) (err error) {
	door := Door{Name: Weir, level: "info", events: "all", command: weirDoor}
	s, err := b.site(door, Work{Connections: 64, Log: ToFile})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	c, err := weirDoor(b.Tools, s)
	if err != nil {
		return err
	}
	p, err := launch(ctx, "door", c, s, Work{})
	if err != nil {
		return err
	}
	defer p.stop()
	fetched := make(chan error, 1)
	go func() {
		fetched <- fetch(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%.0f", local(s.figures), d.Seconds()), file)
	}()
	for _, part := range profileMix {
		took := time.Duration(part.share * float64(d)).String()
		args := append([]string{"load", "--json", "--quiet", "--pid=-1", "-d", took}, part.args...)
		out, err := output(ctx, b.Tools.Weir, append(args, "http://"+local(s.port)+Work{}.path())...)
		if err == nil {
			_, err = parseOpenLoad(out)
		}
		if err != nil {
			return errors.Join(err, ctx.Err())
		}
	}
	return <-fetched
}

// fetch writes the response to file, which appears whole or not at all.
func fetch(ctx context.Context, url, file string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s responds %s: %.300s", url, res.Status, body)
	}
	temp := filepath.Join(filepath.Dir(file), ".profile")
	if err := os.WriteFile(temp, body, 0o644); err != nil {
		return err
	}
	return os.Rename(temp, file)
}
