package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/front/upstreams"
	"github.com/weirhq/weir/internal/backend"
	"github.com/weirhq/weir/log"
)

// load reads the configuration, or makes that of the flags or one for a demo backend that it starts.
// stop stops the backend.
func (c *Command) load() (cfg *config.Config, stop func(), err error) {
	stop = func() {}
	switch {
	case c.given():
		cfg, err = c.config()
	case c.Config == "":
		cfg, stop, err = demo()
	default:
		cfg, err = readConfig(c.Config)
	}
	if err != nil {
		return nil, nil, err
	}
	c.override(cfg)
	return cfg, stop, nil
}

// override applies the settings of flags and the environment, which have
// precedence over the file.
func (c *Command) override(cfg *config.Config) {
	// Servers of logs read only JSON.
	if human, _ := strconv.ParseBool(os.Getenv("HUMAN_LOG")); human && cfg.Log.Servers() == 0 {
		cfg.Log.Format = log.FormatHuman.String()
	}
	if c.Listen != "" {
		cfg.Listen = []string{c.Listen}
	}
	if c.Admin != "" {
		cfg.Admin = c.Admin
	}
}

// maxReads is how often a configuration is read at most because its files change meanwhile.
const maxReads = 5

// readConfig is readAll with an error that lists the first mistakes.
func readConfig(file string) (*config.Config, error) {
	cfg, err := readAll(file)
	var mistakes config.Mistakes
	if errors.As(err, &mistakes) {
		err = cli.WithHint(mistakesError(file, mistakes), "weir check "+file)
	}
	return cfg, err
}

// readAll reads and checks a file, and the files that it names. If one of them changes
// meanwhile, it reads all again: a configuration has never files from before and after a change
// of several files. A pipe can be read only once.
func readAll(file string) (*config.Config, error) {
	for range maxReads {
		before, _ := os.Stat(file)
		cfg, err := readOnce(file)
		w := sourceWatch{sources: []string{file}, applied: map[string]os.FileInfo{file: before}}
		if err == nil {
			cfg.States[file] = before
			w.use(cfg)
		}
		if before != nil && !before.Mode().IsRegular() || sameStates(w.states(), w.applied) {
			return cfg, err
		}
	}
	return nil, cli.WithHint(fmt.Errorf("%s: the files change while they are read", file), "weir check "+file)
}

// readOnce reads and checks a file.
func readOnce(file string) (*config.Config, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		hint := "it must be a file that the user who runs weir can read"
		if errors.Is(err, fs.ErrNotExist) {
			hint = "weir serve --to http://127.0.0.1:3000 --print writes one to begin with"
		}
		return nil, cli.Misuse(err, hint)
	}
	return config.Parse(file, src, os.LookupEnv)
}

// maxMistakes limits the mistakes and the warnings printed at a start or a reload: a file of
// redirects can have thousands.
const maxMistakes = 20

// warn prints the first warnings about a file.
func warn(stderr io.Writer, file string, all config.Mistakes) {
	printWarnings(stderr, "weir: ", all[:min(len(all), maxMistakes)])
	if len(all) > maxMistakes {
		fmt.Fprintf(stderr, "weir: %d more warnings: weir check %s\n", len(all)-maxMistakes, file)
	}
}

// mistakesError returns the error for a file with mistakes.
func mistakesError(file string, mistakes config.Mistakes) error {
	if len(mistakes) > maxMistakes {
		return fmt.Errorf("%s has %d mistakes; the first %d are:\n%w",
			file, len(mistakes), maxMistakes, mistakes[:maxMistakes])
	}
	return fmt.Errorf("%s has mistakes:\n%w", file, mistakes)
}

// demo starts a backend on a free loopback port and returns a configuration
// that sends all requests to it.
func demo() (cfg *config.Config, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("demo backend: %w", err)
	}
	server := &http.Server{Handler: backend.Handler(backend.Options{})}
	go server.Serve(l) // ends when stop closes the server
	cfg = config.Default()
	cfg.Listen = []string{"127.0.0.1:20000"}
	cfg.Upstreams = []upstreams.Upstream{{Name: "demo", Servers: []upstreams.Server{{URL: "http://" + l.Addr().String()}}}}
	cfg.Routes = []config.Route{config.DefaultRoute("/{path...}", "demo")}
	return cfg, func() { server.Close() }, nil
}
