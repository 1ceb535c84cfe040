package config

import (
	"github.com/weirhq/weir/front/internal/scalar"
	"github.com/weirhq/weir/internal/yamlfile"
)

// adminKeys are the keys of the admin listener.
var adminKeys = []key{
	{Path: "admin", Short: "address", Off: adminOff, Read: readAdmin},
	{Path: "admin.address", Doc: "the address for health checks, metrics and profiles", Off: adminOff,
		Read: one(parseListen, func(c *Config) *string { return &c.Admin })},
	{Path: "admin.token", Doc: "the secret with which operators drain servers",
		Read: yamlfile.One(scalar.Secret, func(f filling) *yamlfile.Scalar { return &f.adminToken.Text })},
	{Path: "admin.token_file", Doc: "a file with that secret",
		Read: yamlfile.One(scalar.Path, func(f filling) *yamlfile.Scalar { return &f.adminToken.File })},
}

func adminOff(f filling) { f.config.Admin = AdminOff }

// readAdmin reads the mapping admin, and the file of its token.
func readAdmin(r *fileReader, p place, n *yamlfile.Node) {
	r.Fields(p, n)
	if token := &p.To.adminToken; token.IsGiven() {
		p.To.config.AdminToken = token.Read(r.File, "admin", "token", p.To.readNamed)
	}
}
