module github.com/weirhq/weir/log

go 1.23.0
