// Logvet reports events of package log that are never sent, or used after they
// were sent:
//
//	go run github.com/weirhq/weir/log/logvet@latest ./...
//
// It accepts the flags of go vet, and can run inside it:
//
//	go vet -vettool=$(which logvet) ./...
//
// It exits with 3 if it reports anything. Package send documents the rules; its
// Analyzer is for your own drivers.
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/weirhq/weir/log/logvet/send"
)

func main() { singlechecker.Main(send.Analyzer) }
