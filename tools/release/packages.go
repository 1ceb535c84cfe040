package main

import (
	"io"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// writePackages writes a deb and an rpm for each architecture of Linux.
func (r *release) writePackages(m manual) error {
	pages, err := r.compressPages(m)
	if err != nil {
		return err
	}
	for _, t := range r.Targets {
		if t.OS != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			if err := r.writePackage(format, t, m, pages); err != nil {
				return err
			}
		}
	}
	return nil
}

// compressPages returns compressed copies of the man pages.
func (r *release) compressPages(m manual) (pages []string, err error) {
	for _, page := range m.pages {
		text, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		err = writeFile(page+".gz", func(w io.Writer) error {
			return writeGzip(w, func(w io.Writer) error {
				_, err := w.Write(text)
				return err
			})
		})
		if err != nil {
			return nil, err
		}
		pages = append(pages, page+".gz")
	}
	return pages, nil
}

func (r *release) writePackage(format string, t target, m manual, pages []string) error {
	scripts := filepath.Join(r.Root, "tools", "release", "scripts")
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "weir", Arch: t.Arch, Platform: t.OS, Version: r.Version, Section: "httpd", Priority: "optional",
		Maintainer: "The Weir authors <https://github.com/weirhq/weir>", Homepage: "https://github.com/weirhq/weir",
		Description: "HTTP front door\nWeir routes, proxies, limits and logs every request, and measures what that costs.",
		License:     "MIT", DisableGlobbing: true, MTime: r.Date,
		Overridables: nfpm.Overridables{
			Recommends: []string{"ca-certificates", "logrotate"},
			Contents:   r.contents(format, t, m, pages),
			Scripts: nfpm.Scripts{
				PostInstall: filepath.Join(scripts, "postinstall.sh"),
				PreRemove:   filepath.Join(scripts, "preremove.sh"),
				PostRemove:  filepath.Join(scripts, "postremove.sh"),
			},
			RPM: nfpm.RPM{BuildHost: "localhost", Group: "System Environment/Daemons", Compression: "zstd"},
			Deb: nfpm.Deb{Compression: "zstd"},
		},
	})
	info.Depends = []string{"systemd"}
	if format == "deb" {
		info.Depends = []string{"systemd | systemd-standalone-sysusers"} // the scripts run systemd-sysusers
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(r.out, packager.ConventionalFileName(info)), func(w io.Writer) error {
		return packager.Package(info, w)
	})
}

// contents returns the files of a package.
func (r *release) contents(format string, t target, m manual, pages []string) (all files.Contents) {
	add := func(source, destination, kind string, mode os.FileMode) {
		all = append(all, &files.Content{Source: source, Destination: destination, Type: kind,
			FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.Date}})
	}
	repository := func(name string) string { return filepath.Join(r.Root, filepath.FromSlash(name)) }
	add(r.binary(t), "/usr/bin/weir", "", 0o755)
	add(repository("deploy/systemd/weir.yaml"), "/etc/weir/weir.yaml", files.TypeConfigNoReplace, 0o644)
	add(repository("deploy/systemd/weir.logrotate"), "/etc/logrotate.d/weir", files.TypeConfigNoReplace, 0o644)
	add(repository("deploy/systemd/weir.service"), "/usr/lib/systemd/system/weir.service", "", 0o644)
	add(repository("deploy/systemd/weir.socket"), "/usr/lib/systemd/system/weir.socket", "", 0o644)
	add(repository("deploy/systemd/weir.sysusers"), "/usr/lib/sysusers.d/weir.conf", "", 0o644)
	add(repository("README.md"), "/usr/share/doc/weir/README.md", "", 0o644)
	add(repository("CHANGELOG.md"), "/usr/share/doc/weir/CHANGELOG.md", "", 0o644)
	for _, name := range monitoring {
		add(repository("deploy/"+name), "/usr/share/doc/weir/"+name, "", 0o644)
	}
	license, zsh := "/usr/share/doc/weir/copyright", "/usr/share/zsh/vendor-completions/_weir"
	if format == "rpm" {
		license, zsh = "/usr/share/licenses/weir/LICENSE", "/usr/share/zsh/site-functions/_weir"
	}
	add(repository("LICENSE"), license, "", 0o644)
	add(filepath.Join(m.completions, "weir.bash"), "/usr/share/bash-completion/completions/weir", "", 0o644)
	add(filepath.Join(m.completions, "weir.zsh"), zsh, "", 0o644)
	add(filepath.Join(m.completions, "weir.fish"), "/usr/share/fish/vendor_completions.d/weir.fish", "", 0o644)
	for _, page := range pages {
		section := filepath.Ext(page[:len(page)-len(".gz")])[1:]
		add(page, "/usr/share/man/man"+section+"/"+filepath.Base(page), "", 0o644)
	}
	return all
}
