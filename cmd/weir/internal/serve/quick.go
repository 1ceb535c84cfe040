package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/weirhq/weir/cmd/weir/internal/cli"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/yamlfile"
)

// quickOptions describe a front door for one service or one folder, without a file.
type quickOptions struct {
	To    []string `sep:"none" placeholder:"URL" help:"Forward all requests to the server URL, without a file. It may be repeated: the servers share the requests."`
	Files string   `type:"nonempty" placeholder:"DIR" help:"Serve the files of the folder DIR, without a file."`
	TLS   []string `name:"tls" sep:"none" placeholder:"DOMAIN" help:"With --to or --files: serve https for DOMAIN on port 443, with a certificate of Let's Encrypt, and redirect port 80. It may be repeated."`
	Print bool     `help:"With --to or --files: print the configuration that the flags stand for, and exit."`
}

// given reports whether the flags describe a front door.
func (o *quickOptions) given() bool { return len(o.To) > 0 || o.Files != "" }

// check reports flags that contradict each other, or the file of a configuration.
func (o *quickOptions) check(file string) error {
	switch {
	case len(o.To) > 0 && o.Files != "":
		return cli.Misuse(errors.New("--to and --files cannot be used together"),
			"write a configuration with a route for each of them; --print prints one to begin with")
	case o.given() && file != "":
		return cli.Misuse(fmt.Errorf("--to and --files replace a configuration, but %s is given, too", file),
			"leave out one of them")
	case !o.given() && len(o.TLS) > 0:
		return cli.Misuse(errors.New("--tls needs --to or --files"), "with a configuration, write tls into it")
	case !o.given() && o.Print:
		return cli.Misuse(errors.New("--print needs --to or --files"), "weir serve --to http://127.0.0.1:3000 --print")
	}
	return nil
}

// file returns the configuration that the flags stand for.
func (o *quickOptions) file() ([]byte, error) {
	root := &yamlfile.Node{Kind: yamlfile.Mapping}
	if len(o.TLS) > 0 {
		storage, err := quickStorage()
		if err != nil {
			return nil, err
		}
		root.Add("listen", yamlfile.Of(":80"))
		root.Add("tls", yamlfile.Of(map[string]any{
			"listen": ":443",
			"acme":   map[string]any{"domains": literals(o.TLS), "storage": literal(storage)},
		}))
	}
	route := &yamlfile.Node{Kind: yamlfile.Mapping}
	if o.Files != "" {
		folder, err := filepath.Abs(o.Files)
		if err == nil {
			_, err = os.ReadDir(folder)
		}
		if err != nil {
			return nil, cli.Misuse(fmt.Errorf("--files: %w", err), "name a folder that the user who runs weir can read")
		}
		route.Add("match", yamlfile.Of("GET /{path...}"))
		route.Add("files", yamlfile.Of(map[string]any{"root": literal(folder)}))
	} else {
		route.Add("match", yamlfile.Of("/{path...}"))
		route.Add("to", yamlfile.Of("service"))
		root.Add("upstreams", yamlfile.Of(map[string]any{"service": map[string]any{"servers": literals(o.To)}}))
	}
	root.Add("routes", yamlfile.Of([]any{route}))
	return root.Format(), nil
}

// literal returns a text in which a configuration replaces no variable.
func literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }

func literals(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = literal(text)
	}
	return all
}

// quickStorage returns the folder for the certificates: that of systemd's StateDirectory, or one of the user.
func quickStorage() (string, error) {
	folder, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	if folder == "" {
		user, err := os.UserConfigDir()
		if err != nil {
			return "", noStorage(err)
		}
		folder = filepath.Join(user, "weir")
	}
	return filepath.Join(folder, "acme"), nil
}

// noStorage returns the error for a folder for certificates that cannot be made.
func noStorage(err error) error {
	return cli.WithHint(fmt.Errorf("--tls: no folder for certificates: %w", err),
		"set HOME or STATE_DIRECTORY to a folder that the user who runs weir can write")
}

// config returns the checked configuration. It makes the folder for the certificates, which the check needs.
func (o *quickOptions) config() (*config.Config, error) {
	if len(o.TLS) > 0 {
		storage, err := quickStorage()
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(storage, 0o700); err != nil {
			return nil, noStorage(err)
		}
	}
	src, err := o.file()
	if err != nil {
		return nil, err
	}
	return o.parse(src)
}

// parse checks the configuration that the flags stand for. If it is only printed, the folder for the certificates may be
// missing: another machine has it.
func (o *quickOptions) parse(src []byte) (*config.Config, error) {
	cfg, err := config.Parse("the flags", src, nil)
	var mistakes config.Mistakes
	if !errors.As(err, &mistakes) {
		return cfg, err
	}
	lines := strings.Split(string(src), "\n")
	for _, m := range mistakes {
		key, _, _ := strings.Cut(strings.TrimSpace(lines[m.Line-1]), ":")
		if o.Print && key == "storage" {
			continue
		}
		return nil, cli.Misuse(fmt.Errorf("%s: %s", flagOf(key), m.What), m.Hint)
	}
	return cfg, nil
}

// flagOf returns the flag that a key of the configuration is from.
func flagOf(key string) string {
	switch key {
	case "servers":
		return "--to"
	case "domains", "storage", "acme":
		return "--tls"
	default:
		return "the flags"
	}
}
