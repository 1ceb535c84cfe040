package main

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"github.com/weirhq/weir/bench/load"
	"github.com/weirhq/weir/bench/proxy"
	"github.com/weirhq/weir/internal/machine"
)

// describeMachine writes the facts needed to judge the numbers below it.
func describeMachine(w io.Writer) {
	d := machine.Describe()
	fmt.Fprintf(w, "%s, %s, %s, %d CPUs of %s\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"),
		d.System, d.Go, d.CPUs, cmp.Or(d.Processor, "an unknown kind"))
	if peers := versions(); len(peers) > 0 {
		fmt.Fprintf(w, "peers: %s\n", strings.Join(peers, ", "))
	}
	fmt.Fprintln(w)
}

// compared are the modules whose versions are part of a result.
var compared = []string{
	"github.com/ONSdigital/log.go", "github.com/ONSdigital/log.go/v2", "github.com/francoispqt/onelog",
	"github.com/gin-gonic/gin",
	"github.com/go-chi/chi/v5", "github.com/go-openapi/runtime", "github.com/gorilla/mux",
	"github.com/julienschmidt/httprouter", "github.com/labstack/echo/v4",
	"github.com/nbari/violetear", "github.com/phuslu/log", "github.com/rs/zerolog", "github.com/tigerwill90/fox",
	"github.com/uptrace/bunrouter", "go.uber.org/zap",
}

// versions returns the peers built into this program, as "name version".
func versions() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var out []string
	for _, dep := range info.Deps {
		for _, path := range compared {
			if dep.Path == path {
				out = append(out, strings.TrimPrefix(path, "github.com/")+" "+dep.Version)
			}
		}
	}
	return out
}

// programVersions returns the versions of installed programs. A program without one appears with its name only.
func programVersions(ctx context.Context, t proxy.Tools) []string {
	out := []string{toldVersion(ctx, "nginx", t.Nginx, "-v"), toldVersion(ctx, "wrk", "wrk", "-v")}
	if t.HAProxy != "" {
		out = append(out, toldVersion(ctx, "haproxy", t.HAProxy, "-v"))
	}
	if t.Pingora != "" {
		out = append(out, "pingora 0.9") // as in peers/pingora/Cargo.toml
	}
	if info, err := buildinfo.ReadFile(t.Caddy); err == nil {
		out = append(out, "caddy "+info.Main.Version)
	}
	return out
}

var version = regexp.MustCompile(`\d+\.\d+[\w.+-]*`)

// toldVersion returns the name with the first version in the program's output. wrk prints it and fails.
func toldVersion(ctx context.Context, name, program, flag string) string {
	said, _ := exec.CommandContext(ctx, program, flag).CombinedOutput()
	return strings.TrimSpace(name + " " + string(version.Find(said)))
}

// loadVersions returns the versions of the installed load generators.
func loadVersions(ctx context.Context, t load.Tools) []string {
	var out []string
	for _, g := range load.Generators {
		file, flag := g.Version(t)
		if info, err := buildinfo.ReadFile(file); err == nil && g.Kind == load.Peer {
			out = append(out, g.Name+" "+info.Main.Version)
		} else if flag != "" && file != "" {
			out = append(out, toldVersion(ctx, g.Name, file, flag))
		}
	}
	return out
}
