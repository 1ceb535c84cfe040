module github.com/weirhq/weir/log/logr

go 1.26.0

require (
	github.com/go-logr/logr v1.4.3
	github.com/weirhq/weir/log v0.1.0
)

