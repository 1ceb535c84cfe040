package stage

import "github.com/weirhq/weir/internal/proxying"

// Field is a header field. Names are case-insensitive.
type Field = proxying.Field

// Client receives the response of an exchange. A [Filter] is one that passes the response on.
type Client = proxying.Client
