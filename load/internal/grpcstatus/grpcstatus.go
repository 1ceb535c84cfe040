// Package grpcstatus names the statuses of gRPC.
package grpcstatus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// names are by number (https://github.com/grpc/grpc/blob/master/doc/statuscodes.md).
var names = []string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL",
	"UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// Parse reads a status, as NOT_FOUND, NotFound or 5. It returns its number, as the field grpc-status has it.
func Parse(text string) (number string, err error) {
	plain := func(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "_", "")) }
	code, err := strconv.Atoi(text)
	if err != nil {
		code = slices.IndexFunc(names, func(name string) bool { return plain(name) == plain(text) })
	}
	if code < 0 || code >= len(names) {
		return "", fmt.Errorf("%q is not a status of gRPC; write %s or %s, with a comma between several", text,
			strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
	}
	return strconv.Itoa(code), nil
}

// Name returns the name of a status. An unknown one stays a number.
func Name(number string) string {
	if code, err := strconv.Atoi(number); err == nil && code >= 0 && code < len(names) {
		return names[code]
	}
	return number
}
