package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestReleaseIsUsableAndRepeatable builds a release of the work tree for one target, without the profile, and uses each
// of its files as its users do. A second build, in another folder, is equal.
func TestReleaseIsUsableAndRepeatable(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	for out, root := range map[string]string{first: root, second: copyTree(t, root)} {
		if err := testRelease(t, root, "v0.1.0").build(out); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("reproducible", func(t *testing.T) { sameFiles(t, first, second) })
	t.Run("checksums", func(t *testing.T) { command(t, first, "sha256sum", "--check", "--strict", "checksums.txt") })
	unpacked := t.TempDir()
	t.Run("archive", func(t *testing.T) {
		checkArchive(t, filepath.Join(first, "weir_0.1.0_linux_amd64.tar.gz"), unpacked)
	})
	t.Run("deb", func(t *testing.T) { checkDeb(t, root, filepath.Join(first, "weir_0.1.0_amd64.deb")) })
	t.Run("rpm", func(t *testing.T) { checkRPM(t, filepath.Join(first, "weir-0.1.0-1.x86_64.rpm")) })
	t.Run("image", func(t *testing.T) { checkImage(t, filepath.Join(first, "weir_0.1.0_linux_amd64_image.tar")) })
	t.Run("node", func(t *testing.T) { checkNode(t, filepath.Join(first, "weir-log-0.1.0.tgz")) })
	t.Run("sbom", func(t *testing.T) {
		checkSBOM(t, filepath.Join(first, "weir_0.1.0_sbom.cdx.json"),
			filepath.Join(unpacked, "weir_0.1.0_linux_amd64", "weir"))
	})
}

func testRelease(t *testing.T, root, version string) *release {
	t.Helper()
	r := &release{Version: version, Root: root, Targets: targets[:1], Log: t.Output()}
	from := &release{Root: filepath.Join("..", "..")}
	if err := from.readCommit(); err != nil {
		t.Fatal(err)
	}
	r.Commit, r.Date = from.Commit, from.Date
	return r
}

// copyTree copies the files of the repository that git does not ignore.
func copyTree(t *testing.T, root string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "another", "folder")
	names := command(t, root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for name := range strings.SplitSeq(names, "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if name == "" || errors.Is(err, os.ErrNotExist) { // removed and not committed
			continue
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// command runs a program in a folder and returns its output. It fails the test if the program does.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	out, err := output(dir, nil, name, args...)
	if errors.Is(err, exec.ErrNotFound) {
		t.Fatalf("%v: .ci/run has the package that installs it", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return out
}

// sameFiles checks that two folders have the same files with the same content, and that none is missing.
func sameFiles(t *testing.T, first, second string) {
	files, err := tree(first)
	if err != nil {
		t.Fatal(err)
	}
	others, err := tree(second)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 7 || len(others) != len(files) {
		t.Errorf("the releases have %d and %d files, want 7: %v", len(files), len(others), files)
	}
	for _, f := range files {
		a, err := os.ReadFile(f.source)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(second, f.name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(a, b) {
			t.Errorf("%s differs between two builds", f.name)
		}
	}
}

// checkArchive unpacks an archive into dir and runs its binary.
func checkArchive(t *testing.T, name, dir string) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	extract(t, z, dir)
	top := filepath.Join(dir, "weir_0.1.0_linux_amd64")
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "completions/weir.bash", "completions/weir.zsh",
		"completions/weir.fish", "man/weir.1", "systemd/weir.service", "systemd/weir.socket", "systemd/weir.sysusers",
		"systemd/weir.logrotate", "systemd/weir.yaml", "prometheus/weir-rules.yaml", "prometheus/weir-rules-test.yaml",
		"grafana/weir.json"} {
		if info, err := os.Stat(filepath.Join(top, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	var version struct{ Version, Commit, Date string }
	if err := json.Unmarshal([]byte(command(t, top, "./weir", "version", "--json")), &version); err != nil {
		t.Fatal(err)
	}
	want := testRelease(t, "", "v0.1.0")
	if version.Version != want.Version || version.Commit != want.Commit ||
		version.Date != want.Date.Format(time.RFC3339) {
		t.Errorf("weir version: %v", version)
	}
}

// extract unpacks an archive into a folder, with the modes of its entries.
func extract(t *testing.T, archive io.Reader, dir string) {
	t.Helper()
	for r := tar.NewReader(archive); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(name), 0o755)
		}
		if err == nil && h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(name, 0o755)
		} else if err == nil {
			err = writeFile(name, func(w io.Writer) error { _, err := io.Copy(w, r); return err })
		}
		if err == nil {
			err = os.Chmod(name, h.FileInfo().Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkRPM reads what rpm would install and run.
func checkRPM(t *testing.T, name string) {
	command(t, ".", "rpm", "--checksig", "--nosignature", name)
	query := func(what ...string) string {
		return command(t, ".", "rpm", append([]string{"-qp"}, append(what, name)...)...)
	}
	files := strings.Fields(query("--list"))
	for _, want := range []string{
		"/usr/bin/weir",
		"/usr/lib/systemd/system/weir.service",
		"/usr/lib/systemd/system/weir.socket",
		"/usr/lib/sysusers.d/weir.conf",
		"/usr/share/bash-completion/completions/weir",
		"/usr/share/doc/weir/grafana/weir.json",
		"/usr/share/doc/weir/prometheus/weir-rules.yaml",
		"/usr/share/fish/vendor_completions.d/weir.fish",
		"/usr/share/licenses/weir/LICENSE",
		"/usr/share/man/man1/weir.1.gz",
		"/usr/share/zsh/site-functions/_weir",
	} {
		if !slices.Contains(files, want) {
			t.Errorf("no file %s", want)
		}
	}
	if got, want := query("--configfiles"), "/etc/logrotate.d/weir\n/etc/weir/weir.yaml\n"; got != want {
		t.Errorf("configuration files: %q, want %q", got, want)
	}
	scripts := query("--scripts")
	for _, want := range []string{"systemd-sysusers weir.conf", "systemctl disable --now weir.service",
		"weir upgrade --config"} {
		if !strings.Contains(scripts, want) {
			t.Errorf("the scripts lack %q:\n%s", want, scripts)
		}
	}
	if got, want := query("--queryformat", "%{NAME} %{VERSION} %{ARCH} %{LICENSE}"), "weir 0.1.0 x86_64 MIT"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !strings.Contains(query("--requires"), "systemd\n") {
		t.Errorf("the package requires %q, want systemd", query("--requires"))
	}
}

// checkNode installs the package for Node into an empty project, and logs a line by each kind of import.
func checkNode(t *testing.T, name string) {
	dir := t.TempDir()
	command(t, dir, "npm", "install", "--offline", "--no-audit", "--no-fund", "--prefix", dir, name)
	for _, program := range []string{
		"require('weir-log')({ namespace: 'shop' }).info('installed')",
		"import('weir-log').then(weir => weir.default({ namespace: 'shop' }).info('installed'))",
	} {
		var event struct{ Namespace, Event string }
		out := command(t, dir, "node", "-e", program)
		if err := json.Unmarshal([]byte(out), &event); err != nil || event.Namespace != "shop" || event.Event != "installed" {
			t.Errorf("%s: %q, %v", program, out, err)
		}
	}
	if got := command(t, dir, "node", "-p", "require('./node_modules/weir-log/package.json').version"); got != "0.1.0\n" {
		t.Errorf("the version is %q", got)
	}
}

// checkSBOM validates the bill of materials with the schema of CycloneDX, and compares it with what the go command has
// recorded in a binary.
func checkSBOM(t *testing.T, name, binary string) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := bomSchema(t).Validate(document); err != nil {
		t.Error(err)
	}
	bom := cdx.NewBOM()
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(bom); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"std": strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		want[m.Path] = m.Version
		if strings.HasPrefix(m.Path, modulePath) {
			want[m.Path] = "v0.1.0"
		}
	}
	got := map[string]string{}
	for _, c := range *bom.Components {
		got[c.Name] = c.Version
	}
	if !maps.Equal(got, want) {
		t.Errorf("the components are %v, want %v", got, want)
	}
}

// bomSchema returns the schema of CycloneDX 1.6, which is in the module of the library.
func bomSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	folder := strings.TrimSpace(command(t, ".", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go"))
	compiler := jsonschema.NewCompiler()
	for file, url := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json",
		"jsf-0.82.schemax.json": "jsf-0.82.schema.json",
	} {
		text, err := os.ReadFile(filepath.Join(folder, "schema", file))
		if err != nil {
			t.Fatal(err)
		}
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = compiler.AddResource("http://cyclonedx.org/schema/"+url, schema)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
