package main

import (
	"cmp"
	"debug/buildinfo"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

const modulePath = "github.com/weirhq/weir"

// writeSBOM writes the modules that the go command has recorded in the binaries of any target, and the version of Go.
func (r *release) writeSBOM() error {
	modules, err := r.modules()
	if err != nil {
		return err
	}
	product := component(cdx.ComponentTypeApplication, modulePath, r.Version)
	product.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "MIT"}}}
	var components []cdx.Component
	refs := make([]string, 0, len(modules))
	for path, version := range modules {
		c := component(cdx.ComponentTypeLibrary, path, version)
		components = append(components, c)
		refs = append(refs, c.BOMRef)
	}
	slices.SortFunc(components, func(a, b cdx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })
	slices.Sort(refs)
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.Date.Format(time.RFC3339), Component: &product}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: product.BOMRef, Dependencies: &refs}}
	return writeFile(filepath.Join(r.out, "weir_"+r.number()+"_sbom.cdx.json"), func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	})
}

// modules returns the version of each module in the binaries. The modules of this repository have that of the release.
func (r *release) modules() (map[string]string, error) {
	all := map[string]string{}
	for _, t := range r.Targets {
		info, err := buildinfo.ReadFile(r.binary(t))
		if err != nil {
			return nil, err
		}
		all["std"] = strings.TrimPrefix(info.GoVersion, "go")
		for _, m := range info.Deps {
			all[m.Path] = m.Version
			if strings.HasPrefix(m.Path, modulePath+"/") {
				all[m.Path] = r.Version
			}
		}
	}
	return all, nil
}

// component describes a module by its package URL.
func component(kind cdx.ComponentType, path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cdx.Component{Type: kind, BOMRef: url, Name: path, Version: version, PackageURL: url}
}
