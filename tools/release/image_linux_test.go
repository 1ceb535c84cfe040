package main

import (
	"bytes"
	"crypto/x509"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// checkImage reads an image as Docker and as OCI tools do, and runs its file system and its health check.
func checkImage(t *testing.T, name string) {
	image := ociImage(t, name)
	if err := validate.Image(image); err != nil {
		t.Error(err)
	}
	saved, err := tarball.ImageFromPath(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := rawConfig(t, image), rawConfig(t, saved); !bytes.Equal(a, b) {
		t.Errorf("manifest.json leads to the configuration %s, index.json to %s", b, a)
	}
	root := t.TempDir()
	files := mutate.Extract(image)
	defer files.Close()
	extract(t, files, root)
	roots := read(t, filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	n := strings.Count(roots, "-----BEGIN CERTIFICATE-----")
	if n < 100 || !x509.NewCertPool().AppendCertsFromPEM([]byte(roots)) {
		t.Errorf("the image has %d certificates", n)
	}
	if passwd := read(t, filepath.Join(root, "etc/passwd")); !strings.Contains(passwd, "\nweir:x:65532:65532:") {
		t.Errorf("/etc/passwd is %q", passwd)
	}
	text := "listen: \":8080\"\nroutes: [{match: \"/{path...}\", respond: {status: 200, text: hello}}]\n"
	if err := os.WriteFile(filepath.Join(root, "etc/weir/weir.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	view := t.TempDir()
	t.Run("container", func(t *testing.T) { runImage(t, root, view, config.Config) })
}

// runImage runs the program of an image in a chroot as the image's user.
func runImage(t *testing.T, root, view string, c v1.Config) {
	enterNamespaces(t)
	mountSystem(t, root, view, nil)
	user, group, _ := strings.Cut(c.User, ":")
	uid, err := strconv.ParseUint(user, 10, 32)
	if err != nil || group != user || uid == 0 {
		t.Fatalf("the user is %q: %v", c.User, err)
	}
	credential := &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	healthy := func() bool {
		health := inRoot(view, c.Env, c.Healthcheck.Test[1], c.Healthcheck.Test[2:]...)
		health.SysProcAttr.Credential = credential
		return health.Run() == nil
	}
	if c.Healthcheck.Test[0] != "CMD" || healthy() {
		t.Errorf("%q succeeds without a front door", c.Healthcheck.Test)
	}
	door := inRoot(view, c.Env, c.Entrypoint[0], append(c.Entrypoint[1:], c.Cmd...)...)
	door.SysProcAttr.Credential = credential
	door.Stderr = t.Output()
	if err := door.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "health", healthy)
	if got := status(t, "127.0.0.1:8080", "/"); got != 200 {
		t.Errorf("the status is %d", got)
	}
	if err := door.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := door.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// ociImage returns the image of an archive with an OCI layout.
func ociImage(t *testing.T, name string) v1.Image {
	t.Helper()
	folder := t.TempDir()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	extract(t, f, folder)
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("the index is %v: %v", manifest, err)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func rawConfig(t *testing.T, image v1.Image) []byte {
	t.Helper()
	text, err := image.RawConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
