module github.com/weirhq/weir/log/logr

go 1.26.0

require (
	github.com/go-logr/logr v1.4.3
	github.com/weirhq/weir v0.0.0
)

replace github.com/weirhq/weir => ../..
