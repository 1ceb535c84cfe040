package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// describeMachine writes what a reader must know to judge the numbers below it.
func describeMachine(w io.Writer) {
	fmt.Fprintf(w, "%s, %s/%s, %s, %d CPUs of %s\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"),
		runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU(), processor())
	if peers := versions(); len(peers) > 0 {
		fmt.Fprintf(w, "peers: %s\n", strings.Join(peers, ", "))
	}
	fmt.Fprintln(w)
}

// processor returns the processor's name where the system tells it.
func processor() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "an unknown kind"
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "model name"); ok {
			return strings.TrimLeft(name, "\t :")
		}
	}
	return "an unknown kind"
}

// compared are the modules whose versions belong to a result.
var compared = []string{
	"github.com/ONSdigital/log.go/v2", "github.com/go-chi/chi/v5", "github.com/julienschmidt/httprouter", "github.com/phuslu/log",
	"github.com/rs/zerolog", "github.com/uptrace/bunrouter", "go.uber.org/zap",
}

// versions returns the peers that were built into this program, as "name version".
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
