module github.com/weirhq/weir/router

go 1.23.0
