package log

import "github.com/weirhq/weir/log/onslog/internal/wire"

// What kind of account an identity is of.
const (
	SERVICE identityType = "service"
	USER    identityType = "user"
)

type identityType = wire.IdentityType

type eventAuth = wire.EventAuth

// Auth returns an option that says on whose behalf something happens.
func Auth(identityType identityType, identity string) option {
	return &eventAuth{Identity: identity, IdentityType: identityType}
}
