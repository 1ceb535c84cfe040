package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/weirhq/weir/front"
	"github.com/weirhq/weir/front/config"
	"github.com/weirhq/weir/internal/peer"
)

const deployFolder = "../../deploy"

// A manifest is an object of Kubernetes, or a compose file.
type manifest map[string]any

// at returns the value at a path of keys, and of indices of lists.
func (m manifest) at(t *testing.T, path ...any) any {
	t.Helper()
	var value any = map[string]any(m)
	for _, key := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[key.(string)]
		case []any:
			value = v[key.(int)]
		default:
			t.Fatalf("there is nothing at %v", path)
		}
	}
	return value
}

// manifests returns the objects in a file of deploy.
func manifests(t *testing.T, name string) (all []manifest) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(deployFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(src))
	for {
		var m manifest
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, m)
	}
}

// kubernetesFiles returns the files with objects: all, except for that of kustomize, which names them.
func kubernetesFiles(t *testing.T) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(deployFolder, "kubernetes", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		if filepath.Base(name) != "kustomization.yaml" {
			names = append(names, name)
		}
	}
	return names
}

// TestKubernetesManifestsAreValid checks the manifests with kubeconform, and that the schemas refuse a wrong
// key.
func TestKubernetesManifestsAreValid(t *testing.T) {
	t.Parallel()
	program := peer.Program(t, "github.com/yannh/kubeconform/cmd/kubeconform")
	check := func(files ...string) (string, error) {
		args := []string{"-strict", "-verbose", "-schema-location",
			filepath.Join(deployFolder, "kubernetes/schemas/{{.ResourceKind}}{{.KindSuffix}}.json")}
		out, err := exec.Command(program, append(args, files...)...).CombinedOutput()
		return string(out), err
	}
	files := kubernetesFiles(t)
	if out, err := check(files...); err != nil || strings.Count(out, " is valid") < len(files) {
		t.Errorf("%v:\n%s", err, out)
	}
	for _, c := range []struct{ file, before, after string }{
		{"deployment.yaml", "periodSeconds: 2", "periodSecond: 2"},
		{"servicemonitor.yaml", "interval:", "intervall:"},
		{"horizontalpodautoscaler.yaml", "maxReplicas: 12", "maxReplicas: many"},
	} {
		src, err := os.ReadFile(filepath.Join(deployFolder, "kubernetes", c.file))
		if err != nil {
			t.Fatal(err)
		}
		wrong := filepath.Join(t.TempDir(), c.file)
		changed := strings.Replace(string(src), c.before, c.after, 1)
		if err := os.WriteFile(wrong, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := check(wrong); err == nil {
			t.Errorf("%s with %s: %s", c.file, c.after, out)
		}
	}
	var named []string
	for _, name := range manifests(t, "kubernetes/kustomization.yaml")[0].at(t, "resources").([]any) {
		named = append(named, filepath.Join(deployFolder, "kubernetes", name.(string)))
	}
	if slices.Sort(named); !slices.Equal(named, files) {
		t.Errorf("kustomization.yaml names %v, want %v", named, files)
	}
}

// TestKubernetesConfigurationFitsItsManifests checks the configuration in the ConfigMap with weir check, and the parts
// of the manifests that belong to it.
func TestKubernetesConfigurationFitsItsManifests(t *testing.T) {
	t.Parallel()
	deployment := manifests(t, "kubernetes/deployment.yaml")[0]
	text := manifests(t, "kubernetes/configmap.yaml")[0].at(t, "data", "weir.yaml").(string)
	cfg := checkedConfig(t, text, nil)
	pod := manifest(deployment.at(t, "spec", "template", "spec").(map[string]any))
	grace := time.Duration(pod.at(t, "terminationGracePeriodSeconds").(uint64)) * time.Second
	if want := cfg.Drain.Delay + cfg.Drain.Timeout + 5*time.Second; grace != want {
		t.Errorf("terminationGracePeriodSeconds is %v, want drain.delay, drain.timeout and 5s: %v", grace, want)
	}
	checkMemory(t, cfg, pod.at(t, "containers", 0, "resources", "limits", "memory"),
		pod.at(t, "containers", 0, "env", 0, "value"))
	readiness := manifest(pod.at(t, "containers", 0, "readinessProbe").(map[string]any))
	period := time.Duration(readiness.at(t, "periodSeconds").(uint64)*readiness.at(t, "failureThreshold").(uint64)) * time.Second
	if 2*period > cfg.Drain.Delay {
		t.Errorf("the readiness probe needs %v, and drain.delay is %v", period, cfg.Drain.Delay)
	}
	ports := map[string]string{}
	for _, p := range pod.at(t, "containers", 0, "ports").([]any) {
		port := manifest(p.(map[string]any))
		ports[port.at(t, "name").(string)] = yamlText(t, port.at(t, "containerPort"))
	}
	if want := map[string]string{"http": strings.TrimPrefix(cfg.Listen[0], ":"),
		"admin": strings.TrimPrefix(cfg.Admin, ":")}; !maps.Equal(ports, want) {
		t.Errorf("the ports are %v, want %v", ports, want)
	}
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	metrics := regexp.MustCompile(`weir_\w+`)
	found := 0
	for _, name := range kubernetesFiles(t) {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range metrics.FindAllString(string(src), -1) {
			found++
			if !bytes.Contains(page, []byte("**`"+metric+"`** (gauge")) {
				t.Errorf("%s: docs/metrics.md has no gauge %s", name, metric)
			}
		}
	}
	if found == 0 {
		t.Error("no manifest has a metric")
	}
}

// checkedConfig returns a configuration that weir check has accepted, as weir.yaml in a folder with other
// files.
func checkedConfig(t *testing.T, text string, files map[string]string) *config.Config {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "weir.yaml")
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("weir", "check", file).CombinedOutput(); err != nil {
		t.Fatalf("weir check: %v\n%s", err, out)
	}
	cfg, err := config.Parse(file, []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// checkMemory compares the memory limit of a container with its GOMEMLIMIT, and that with limits.max_connections.
func checkMemory(t *testing.T, cfg *config.Config, limit, goMemLimit any) {
	t.Helper()
	mebibytes := func(text any) (n int64) {
		t.Helper()
		var unit string
		if _, err := fmt.Sscanf(text.(string), "%d%s", &n, &unit); err != nil || unit[0]|0x20 != 'm' {
			t.Fatalf("%q is not a number of mebibytes: %v", text, err)
		}
		return n
	}
	memory := mebibytes(goMemLimit)
	if want := mebibytes(limit) * 9 / 10; memory != want {
		t.Errorf("GOMEMLIMIT is %d MiB, want 90%% of the memory limit: %d", memory, want)
	}
	if want := front.FittingConnections(cfg, memory<<20); cfg.Limits.MaxConnections != want {
		t.Errorf("max_connections is %d, want %d for GOMEMLIMIT", cfg.Limits.MaxConnections, want)
	}
}

func yamlText(t *testing.T, value any) string {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// TestComposeFileIsValid checks the compose file with compose-go, and the configuration of its front doors with
// weir check.
func TestComposeFileIsValid(t *testing.T) {
	t.Parallel()
	program := peer.Program(t, "./compose-check")
	out, err := exec.Command(program, filepath.Join(deployFolder, "compose/compose.yaml")).CombinedOutput()
	if want := "[balancer collector door-1 door-2 door-3 nats site stream valkey]\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
	wrong := filepath.Join(t.TempDir(), "compose.yaml")
	if err := os.WriteFile(wrong, []byte("services: {door: {image: weir, replica: 3}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program, wrong).CombinedOutput(); err == nil {
		t.Errorf("a wrong key: %s", out)
	}
	text, err := os.ReadFile(filepath.Join(deployFolder, "compose/config/weir.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := checkedConfig(t, string(text), nil)
	compose := manifests(t, "compose/compose.yaml")[0]
	for _, door := range []string{"door-1", "door-2", "door-3"} {
		grace, err := time.ParseDuration(compose.at(t, "services", door, "stop_grace_period").(string))
		if want := cfg.Drain.Delay + cfg.Drain.Timeout + 5*time.Second; err != nil || grace != want {
			t.Errorf("stop_grace_period of %s is %v, want drain.delay, drain.timeout and 5s: %v", door, grace, want)
		}
		checkMemory(t, cfg, compose.at(t, "services", door, "mem_limit"),
			compose.at(t, "services", door, "environment", "GOMEMLIMIT"))
	}
}

// TestSystemdUnitIsRatedSafe checks the rating of the service by systemd-analyze, the time until systemd kills it, and
// its configuration.
func TestSystemdUnitIsRatedSafe(t *testing.T) {
	t.Parallel()
	unit := filepath.Join(deployFolder, "systemd/weir.service")
	rate := exec.Command("systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=19", unit) // 1.9
	if out, err := rate.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Fatalf("%v: install systemd", err)
	} else if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
	service, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(deployFolder, "systemd/weir.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := checkedConfig(t, strings.Replace(string(text), "/var/log/weir", t.TempDir(), 1), nil)
	stop := regexp.MustCompile(`(?m)^TimeoutStopSec=(\d+)$`).FindSubmatch(service)
	if stop == nil {
		t.Fatalf("no TimeoutStopSec in:\n%s", service)
	}
	if d, err := time.ParseDuration(string(stop[1]) + "s"); err != nil || d < cfg.Drain.Delay+cfg.Drain.Timeout+5*time.Second {
		t.Errorf("TimeoutStopSec is %v, want at least drain.delay, drain.timeout and 5s", d)
	}
}

// TestDockerfileHasTheGoVersionOfTheModule compares the version of Go with that of the module. The files that the
// Dockerfile names exist.
func TestDockerfileHasTheGoVersionOfTheModule(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(deployFolder, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	image := regexp.MustCompile(`(?m)^FROM golang:(\S+) AS build$`).FindSubmatch(text)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if image == nil || string(image[1]) != string(version[1]) {
		t.Errorf("the Dockerfile has Go %q, go.mod has %q", image, version)
	}
	for _, file := range regexp.MustCompile(`(?:-pgo=|\./)([a-z][\w./]+)`).FindAllSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join("../..", string(file[1]))); err != nil {
			t.Errorf("the Dockerfile names a file that does not exist: %v", err)
		}
	}
}

// TestDockerfileBuildsProgramWithVersion runs the build command of the Dockerfile without the files that the context
// lacks, and without the profile, whose use takes minutes. The program of a clone has a version, and that of an archive
// the version of the arguments.
func TestDockerfileBuildsProgramWithVersion(t *testing.T) {
	t.Parallel()
	if os.Getenv("WEIR_LONG") == "" {
		t.Skip("compiles everything again; run with WEIR_LONG=1")
	}
	ignored, err := os.ReadFile(filepath.Join(deployFolder, "Dockerfile.dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	if out, err := exec.Command("git", "clone", "--quiet", "--shared", "../..", clone).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v: %s", err, out)
	}
	for name := range strings.FieldsSeq(string(ignored)) {
		if err := os.RemoveAll(filepath.Join(clone, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got := dockerfileVersion(t, clone); !regexp.MustCompile(`^weir v\d.*\ncommit    [0-9a-f]{40}\ndate      `).MatchString(got) {
		t.Errorf("weir version of a clone: %q", got)
	}
	if err := os.RemoveAll(filepath.Join(clone, ".git")); err != nil {
		t.Fatal(err)
	}
	got := dockerfileVersion(t, clone, "VERSION=v0.1.0", "COMMIT=c0ffee", "DATE=2026-11-28T16:31:04Z")
	if want := "weir v0.1.0\ncommit    c0ffee\ndate      2026-11-28T16:31:04Z\n"; !strings.HasPrefix(got, want) {
		t.Errorf("weir version of an archive: got %q, want %q", got, want)
	}
}

// dockerfileVersion builds the program in a folder as the Dockerfile does, and returns the output of weir version.
func dockerfileVersion(t *testing.T, folder string, arguments ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deployFolder, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?m)^RUN (.* go build .*)$`).FindSubmatch(text)
	if command == nil {
		t.Fatalf("no build command in:\n%s", text)
	}
	program := filepath.Join(folder, "program")
	build := exec.Command("sh", "-c", strings.NewReplacer("-pgo=cmd/weir/release.pgo", "", "-o /weir", "-o "+program).
		Replace(string(command[1])))
	build.Dir, build.Env = folder, append(append(os.Environ(), "GOFLAGS=-buildvcs=auto"), arguments...) // the default of go
	for _, argument := range regexp.MustCompile(`(?m)^ARG (\w+=.*)$`).FindAllSubmatch(text, -1) {
		build.Env = append(build.Env, string(argument[1]))
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	out, err := exec.Command(program, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
