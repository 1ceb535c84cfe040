package proxy

import (
	"net/netip"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// A HashKey is the part of a request that determines its server with the policy [Hash].
type HashKey struct {
	By   HashBy
	Name string // of the field or cookie
}

// HashBy is the kind of a [HashKey].
type HashBy uint8

// The kinds. A request without the field or the cookie, or with an empty one, has the key
// ByClient.
const (
	ByClient HashBy = iota // the address of the client, as trusted proxies report it, or its IPv6 /64
	ByPath                 // the path of the target, without the query
	ByHeader               // the value of the first header field with the name
	ByCookie               // the value of the first cookie with the name
)

// String returns a description of the key, as in "cookie session".
func (k HashKey) String() string {
	switch k.By {
	case ByPath:
		return "path"
	case ByHeader:
		return "header " + k.Name
	case ByCookie:
		return "cookie " + k.Name
	default:
		return "client"
	}
}

// hash returns the hash of the key of a request. It is the same in all processes.
func (k *HashKey) hash(header []Field, target string, client netip.Addr) uint64 {
	text := ""
	switch k.By {
	case ByPath:
		text, _, _ = strings.Cut(target, "?")
	case ByHeader:
		for i := range header {
			if httpsyntax.EqualFold(header[i].Name, k.Name) {
				text = header[i].Value
				break
			}
		}
	case ByCookie:
		FindCookie(header, func(name, value string) bool {
			if name == k.Name {
				text = value
			}
			return text != ""
		})
	}
	if text != "" {
		return xxhash.Sum64String(text)
	}
	if client.Is6() {
		network, _ := client.Prefix(clientBits)
		client = network.Addr()
	}
	address := client.As16()
	return xxhash.Sum64(address[:])
}

// clientBits is the length of an IPv6 prefix that is one client.
const clientBits = 64

// scramble returns a number above 0 and below 1 that looks random. Its function is the
// finalizer of SplitMix64.
func scramble(n uint64) float64 {
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return (float64((n^n>>31)>>11) + 0.5) / (1 << 53)
}
