package main

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// writeImages writes an image for each architecture of Linux.
func (r *release) writeImages() error {
	for _, t := range r.Targets {
		if t.OS != "linux" {
			continue
		}
		image, err := r.image(t)
		if err != nil {
			return err
		}
		if err := r.writeImage(t, image); err != nil {
			return err
		}
	}
	return nil
}

// image returns the image for an architecture: the binary, certificates, and a user without privileges.
func (r *release) image(t target) (v1.Image, error) {
	tree, err := r.imageFiles(t)
	if err != nil {
		return nil, err
	}
	compressed := filepath.Join(r.work, t.String()+"_layer.tar.gz")
	err = writeFile(compressed, func(w io.Writer) error {
		return writeGzip(w, func(w io.Writer) error { return writeTar(w, tree, r.Date) })
	})
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromFile(compressed, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: r.Date}, CreatedBy: "make release VERSION=" + r.Version}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config.OS, config.Architecture, config.Created, config.Config = t.OS, t.Arch, v1.Time{Time: r.Date}, r.imageConfig()
	return mutate.ConfigFile(image, config)
}

func (r *release) imageConfig() v1.Config {
	return v1.Config{
		User:       imageUser + ":" + imageUser,
		WorkingDir: "/",
		Env:        []string{"PATH=/usr/local/bin"},
		Entrypoint: []string{"/usr/local/bin/weir"},
		Cmd:        []string{"serve", "--config", "/etc/weir/weir.yaml"},
		Healthcheck: &v1.HealthConfig{
			Test:     []string{"CMD", "/usr/local/bin/weir", "health"},
			Interval: 10 * time.Second, Timeout: 5 * time.Second, Retries: 3,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "weir",
			"org.opencontainers.image.version":  r.number(),
			"org.opencontainers.image.revision": r.Commit,
			"org.opencontainers.image.created":  r.Date.Format(time.RFC3339),
			"org.opencontainers.image.source":   "https://github.com/weirhq/weir",
			"org.opencontainers.image.licenses": "MIT",
		},
	}
}

// imageUser is the number of the user in the image, as in the images of distroless.
const imageUser = "65532"

// imageFiles returns the file system of the image.
func (r *release) imageFiles(t target) ([]file, error) {
	folder := filepath.Join(r.work, t.String()+"_image")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	var roots []byte
	for root := range bundle.Roots() {
		if root.Constraint == nil { // PEM cannot express a constraint
			roots = append(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	texts := map[string][]byte{
		"passwd": []byte("root:x:0:0:root:/:/sbin/nologin\n" +
			"weir:x:" + imageUser + ":" + imageUser + ":weir:/:/sbin/nologin\n"),
		"group": []byte("root:x:0:\nweir:x:" + imageUser + ":\n"),
		"roots": roots,
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return nil, err
		}
	}
	return []file{
		{"etc", 0o755, ""},
		{"etc/group", 0o644, filepath.Join(folder, "group")},
		{"etc/passwd", 0o644, filepath.Join(folder, "passwd")},
		{"etc/ssl", 0o755, ""},
		{"etc/ssl/certs", 0o755, ""},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, filepath.Join(folder, "roots")},
		{"etc/weir", 0o755, ""},
		{"tmp", 0o1777, ""},
		{"usr", 0o755, ""},
		{"usr/local", 0o755, ""},
		{"usr/local/bin", 0o755, ""},
		{"usr/local/bin/weir", 0o755, r.binary(t)},
	}, nil
}

// writeImage writes an archive with an OCI layout. Docker without containerd's image store loads manifest.json, as
// docker save writes it, instead of index.json.
func (r *release) writeImage(t target, image v1.Image) error {
	tag := "weir:" + r.number()
	folder := filepath.Join(r.work, t.String()+"_layout")
	oci, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	err = oci.AppendImage(image, layout.WithPlatform(v1.Platform{OS: t.OS, Architecture: t.Arch}),
		layout.WithAnnotations(map[string]string{
			"org.opencontainers.image.ref.name": r.number(),
			"io.containerd.image.name":          "docker.io/library/" + tag,
		}))
	if err != nil {
		return err
	}
	manifest, err := image.Manifest()
	if err != nil {
		return err
	}
	blob := func(d v1.Descriptor) string { return "blobs/" + d.Digest.Algorithm + "/" + d.Digest.Hex }
	saved := tarball.Manifest{{Config: blob(manifest.Config), RepoTags: []string{tag}}}
	for _, l := range manifest.Layers {
		saved[0].Layers = append(saved[0].Layers, blob(l))
	}
	text, err := json.Marshal(saved)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "manifest.json"), text, 0o644); err != nil {
		return err
	}
	files, err := tree(folder)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(r.out, "weir_"+r.number()+"_"+t.String()+"_image.tar"), func(w io.Writer) error {
		return writeTar(w, files, r.Date)
	})
}

// tree returns the files and folders in a folder, in lexical order.
func tree(folder string) (files []file, err error) {
	err = filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == folder {
			return err
		}
		rel, err := filepath.Rel(folder, name)
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			files = append(files, file{filepath.ToSlash(rel), 0o755, ""})
		default:
			files = append(files, file{filepath.ToSlash(rel), 0o644, name})
		}
		return nil
	})
	return files, err
}
