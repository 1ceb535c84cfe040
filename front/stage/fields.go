package stage

import (
	"slices"

	"github.com/weirhq/weir/internal/httpsyntax"
)

// Joined returns the values of a header field, separated by ", ".
func Joined(fields []Field, name string) string {
	value := ""
	for i := range fields {
		f := &fields[i]
		if !Named(f, name) {
			continue
		}
		if value != "" {
			value += ", "
		}
		value += f.Value
	}
	return value
}

// Only returns the value of a field that occurs once, or else "".
func Only(fields []Field, name string) (value string) {
	found := false
	for i := range fields {
		if Named(&fields[i], name) {
			if found {
				return ""
			}
			found, value = true, fields[i].Value
		}
	}
	return value
}

// Named reports whether a field has a name, in any case.
func Named(f *Field, name string) bool {
	return httpsyntax.EqualFold(f.Name, name)
}

// HasName reports whether a list has a name, in any case.
func HasName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return httpsyntax.EqualFold(n, name) })
}

// JoinNames joins lists of names for an exchange, without changing one. It allocates only if both
// have names.
func JoinNames(a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return slices.Concat(a, b)
}

// IsGRPC reports whether the fields belong to a call of gRPC.
func IsGRPC(fields []Field) bool {
	const prefix = "application/grpc"
	for i := range fields {
		if f := &fields[i]; Named(f, "content-type") {
			return len(f.Value) >= len(prefix) && httpsyntax.EqualFold(f.Value[:len(prefix)], prefix)
		}
	}
	return false
}
